"""The family of distributions that ``distribution="auto"`` has chosen, and what it was chosen from.

>>> losses, errors = {"normal": 1.5, "student": 1.1}, {"normal": 0.1, "student": 0.0}
>>> choice = FamilyChoice(losses, errors, {"normal": 2, "student": 3}, 900, 0.0)
>>> choice.name
'student'
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from epiboost._files.requirements import require_facts

AUTO_FAMILY = "auto"


@dataclass(frozen=True, slots=True, eq=False)
class FamilyChoice:
    """Out-of-fold losses of families of distributions.

    The family with the smallest loss is taken, or one of fewer parameters whose loss is within a standard error of it.

    Attributes
    ----------
    losses : dict from str to float
        Mean negative log-likelihood in the units of the target, by family; empty if there was nothing to compare.
    errors : dict from str to float
        Standard error of the difference to the smallest loss.
    sizes : dict from str to int
        Number of parameters.
    n_rows : int
        Rows on which the losses were measured.
    width : float
        Width of the interval around a target whose probability stands for the density of a continuous family, see
        `epiboost._estimators.out_of_fold.families`; 0 if densities were compared.
    """

    losses: Mapping[str, float]
    errors: Mapping[str, float]
    sizes: Mapping[str, int]
    n_rows: int
    width: float

    @property
    def name(self) -> str:
        """The family that is taken; "normal" if there was nothing to compare."""
        if not self.losses:
            return "normal"
        best = min(self.losses.values())
        close = [name for name, loss in self.losses.items() if loss <= best + self.errors[name]]
        return min(close, key=lambda name: (self.sizes[name], self.losses[name]))

    def __repr__(self) -> str:
        """Return the name and the losses."""
        losses = ", ".join(f"{name} {loss:.4g}" for name, loss in self._ascending())
        return f"FamilyChoice({self.name!r}; {losses or 'nothing to compare'})"

    def __str__(self) -> str:
        """Return a table."""
        if not self.losses:
            return f"distribution {self.name}: nothing to compare"
        head = f"distribution {self.name}, by the out-of-fold likelihood of {self.n_rows} rows:"
        best = min(self.losses.values())
        lines = [
            f"  {name:<18} {loss:10.5g}" + (f"  (+{loss - best:.2g} ± {self.errors[name]:.2g})" if loss > best else "")
            for name, loss in self._ascending()
        ]
        return "\n".join([head, *lines])

    def to_header(self) -> dict[str, Any]:
        """Return the numbers for a JSON header."""
        by_name = {"losses": dict(self.losses), "errors": dict(self.errors), "sizes": dict(self.sizes)}
        return {**by_name, "n_rows": self.n_rows, "width": self.width}

    @classmethod
    def from_header(cls, header: Mapping[str, Any] | None) -> Self | None:
        """Return what `to_header` described, None for nothing; a ValueError if the numbers are not possible."""
        if header is None:
            return None
        losses = {str(name): float(loss) for name, loss in header["losses"].items()}
        errors = {str(name): float(error) for name, error in header["errors"].items()}
        sizes = {str(name): int(size) for name, size in header["sizes"].items()}
        made = cls(losses, errors, sizes, int(header["n_rows"]), float(header["width"]))
        require_facts(
            {
                "there must be a loss, a standard error and a size of each family": (
                    losses.keys() == errors.keys() == sizes.keys()
                ),
                "the losses of families must be finite, and their standard errors at least 0": (
                    bool(np.isfinite([*losses.values(), *errors.values(), made.width]).all())
                    and min(errors.values(), default=0.0) >= 0.0
                ),
            }
        )
        return made

    def _ascending(self) -> list[tuple[str, float]]:
        return sorted(self.losses.items(), key=lambda entry: entry[1])
