"""Options that only a library knows: which of them a user may set, under any of their names.

An option must act or be refused. One that a parameter of the estimators sets already is refused with that parameter,
one that has no effect here as such, and a name that nobody knows with those that are spelled alike.

>>> rules = Options("Steam", own={"fire": "learning_rate"}, free=("whistle",), aliases={"toot": "whistle"})
>>> rules.checked({"toot": 3})
{'whistle': 3}
>>> rules.checked({"wistle": 3})
Traceback (most recent call last):
    ...
ValueError: engine_params must not hold 'wistle': Steam does not know it; did you mean 'whistle'?
"""

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

WEIGHTS = "sample_weight, which fit takes and which can balance classes"
"""What sets the options that weigh classes."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a library.

    Attributes
    ----------
    library : str
        As users call it.
    own : mapping
        Options that are not the user's to set, and what sets them.
    free : collection of str, optional
        Those that are; None: all others, and the library says which it does not know.
    idle : collection of str
        Options that have no effect here.
    aliases : mapping
        From other names of an option to its own.
    """

    library: str
    own: Mapping[str, str]
    free: Collection[str] | None = None
    idle: Collection[str] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the user asked for under the options' own names, or say which of it cannot be had."""
        checked: dict[str, Any] = {}
        for name, value in given.items():
            option = self.aliases.get(name, name)
            fault = self._fault(name, option) or (f"it is the same as {option!r}" if option in checked else None)
            if fault is not None:
                message = f"engine_params must not hold {name!r}: {fault}"
                raise ValueError(message)
            checked[option] = value
        return checked

    def _fault(self, name: str, option: str) -> str | None:
        if option in self.own:
            return f"it is set by {self.own[option]}"
        if option in self.idle:
            return f"it has no effect here, where {self.library} grows the trees alone"
        if self.free is None or option in self.free:
            return None
        near = difflib.get_close_matches(name, [*self.free, *self.own, *self.aliases], n=3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        return f"{self.library} does not know it{hint}"
