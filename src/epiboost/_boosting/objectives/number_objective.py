"""What the objectives of numbers other than a Normal have in common: their distribution, and checks of the target."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np

from epiboost._boosting.objectives.base import Objective
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._native import family_code
from epiboost._typing import Floats


class NumberObjective(Objective):
    """An objective whose outputs are parameters of a `Distribution`.

    The gradient is in the Fisher metric: natural, or divided by the diagonal of the Fisher information, so that the
    learning rate, L2 regularisation and Langevin noise mean the same for every family, and `curvature` is one. Scores
    are (location, log dispersion) in the units of `encode`, or the location alone.

    Attributes
    ----------
    distribution_type : type of Distribution
    support : str
        What targets may be, for errors: "numbers of at least 0"; any finite numbers by default.
    is_censored : bool
        Whether targets are pairs of bounds, see `censored`.
    """

    __slots__ = ()

    distribution_type: ClassVar[type[Distribution]]
    support: ClassVar[str] = "any finite numbers"
    is_censored: ClassVar[bool] = False

    @property
    def distribution(self) -> Distribution:
        """The distribution whose parameters `parameters` returns."""
        return self.distribution_type()

    @property
    def code(self) -> int:
        """The number of the family of this name in the native core."""
        return family_code(self.name)

    @property
    def curvature(self) -> float:
        """One, because the gradient is in the Fisher metric."""
        return 1.0

    @classmethod
    def settings_for(cls, y: Floats, weight: Floats) -> tuple[float, ...]:
        """Return numbers that all chains of a model share, from the target of all its rows; most families have none."""
        return ()

    @classmethod
    def is_possible(cls, y: Floats) -> Floats:
        """Return whether each finite number can be a target, as booleans of the shape of y."""
        return np.ones(y.shape, dtype=bool)

    @classmethod
    def check_target(cls, y: Floats) -> None:
        """Raise a ValueError that says what was got and what is allowed."""
        possible = np.asarray(cls.is_possible(y), dtype=bool)
        if not possible.all():
            row = int(np.argmin(possible))
            count = int(np.count_nonzero(~possible))
            message = (
                f"distribution={cls.name!r} is for {cls.support}; y holds {y[row]:g} in row {row}"
                f"{f' and {count - 1} more such values' if count > 1 else ''}"
            )
            raise ValueError(message)

    def of_core(self, outputs: Floats) -> Floats:
        """Return the parameters for the scores that the native core predicts, shape (members, n, outputs)."""
        members, n, n_scores = outputs.shape
        parameters = self.bounded(self.parameters(outputs.reshape(members * n, n_scores)))
        return parameters.reshape(members, n, parameters.shape[1])

    def row_losses(self, scores: Floats, y: Floats) -> Floats:
        """Return the negative log-likelihood of each encoded target, in units of the scale in `units`; shape (n,)."""
        losses: Floats = -self.distribution.logpdf(self.parameters(scores), self.decode(y)) - np.log(self.units[1])
        return losses

    def decode(self, encoded: Floats) -> Floats:
        """Return targets in their own units; the inverse of `encode`."""
        return encoded

    def to_header(self) -> dict[str, Any]:
        """Return the name and the fields of the dataclass that a family is; they must be floats, unless overridden."""
        return {"name": self.name, **{field.name: getattr(self, field.name) for field in fields(self)}}  # type: ignore[arg-type]

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the objective that `to_header` described."""
        return cls(**{field.name: float(header[field.name]) for field in fields(cls)})  # type: ignore[arg-type]
