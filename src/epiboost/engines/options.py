"""Options of a library: which of them a user may set through ``engine_params``, under any of their names.

An option either takes effect or is refused. The error for an option that a parameter of the estimators already sets
names that parameter; the error for an unknown name suggests similar ones that users may set.

>>> options = Options("Steam", reserved={"fire": "learning_rate"}, allowed=("whistle",), aliases={"toot": "whistle"})
>>> options.check({"toot": 3})
{'whistle': 3}
>>> options.check({"wistle": 3})
Traceback (most recent call last):
    ...
ValueError: engine_params must not hold 'wistle': Steam does not know it; did you mean 'whistle'?
"""

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

SAMPLE_WEIGHT = "sample_weight, which fit takes and which can balance classes"
"""What sets the options that weigh classes."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a library.

    Attributes
    ----------
    library : str
        Name of the library, for error texts.
    reserved : mapping
        Options that users may not set, each with what sets it.
    allowed : collection of str, optional
        Options that users may set; None for all others, in which case the library refuses unknown ones.
    no_effect : collection of str
        Options that have no effect here.
    aliases : mapping
        From other names of an option to its main name.
    """

    library: str
    reserved: Mapping[str, str]
    allowed: Collection[str] | None = None
    no_effect: Collection[str] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given options under their main names; a ValueError names one that is refused."""
        checked: dict[str, Any] = {}
        for name, value in given.items():
            option = self.aliases.get(name, name)
            reason = self._refusal(name, option) or (f"it is the same as {option!r}" if option in checked else None)
            if reason is not None:
                message = f"engine_params must not hold {name!r}: {reason}"
                raise ValueError(message)
            checked[option] = value
        return checked

    def _refusal(self, name: str, option: str) -> str | None:
        """Return why an option is refused, or None."""
        if option in self.reserved:
            return f"it is set by {self.reserved[option]}"
        if option in self.no_effect:
            return f"it has no effect here, where {self.library} only grows the trees"
        if self.allowed is None or option in self.allowed:
            return None
        return f"{self.library} does not know it{self._hint(name)}"

    def _hint(self, name: str) -> str:
        """Return what sets the most similar option; if users may set it, those of the similar ones that they may."""
        mains = {option: option for option in [*(self.allowed or ()), *self.reserved]} | dict(self.aliases)
        nearest = difflib.get_close_matches(name, mains, n=1)
        if nearest and mains[nearest[0]] in self.reserved:
            return f"; {nearest[0]!r} is set by {self.reserved[mains[nearest[0]]]}"
        allowed = set(self.allowed or ()) - {*self.reserved, *self.no_effect}
        similar = difflib.get_close_matches(name, [option for option, main in mains.items() if main in allowed], n=3)
        return f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""
