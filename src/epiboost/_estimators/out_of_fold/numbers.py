"""Recalibration of any family of distributions of numbers, on the scale of its link (location, log dispersion).

A number is added to the location, since a mean that is fitted on a logarithmic scale errs to one side at rows that
were not seen. The log dispersion of a chain is replaced by
``reference + shift + power * (log dispersion - reference)``. Both are fitted by likelihood to rows that the chain has
not seen, and a number of the family that all rows share (degrees of freedom) is chosen in the same way. As for a
Normal, the excess error of a single chain is taken off, and the differences between members are multiplied so that
their variance is that between models on other rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from epiboost._boosting.objectives import Distribution, distribution_named
from epiboost._estimators.out_of_fold.recalibration import Recalibration
from epiboost._files.requirements import require_facts
from epiboost._posterior.uncertainty import Uncertainty, decompose_variance
from epiboost._typing import Floats, LibraryObject


@dataclass(frozen=True, slots=True)
class NumberRecalibration(Recalibration):
    """Changes the parameters of the members.

    Attributes
    ----------
    family : str
    settings : tuple of float
        Numbers of the family, see `NumberObjective.settings_for`.
    reference, shift, power : float
        See the module.
    move : float
        Added to the location.
    shape : float or None
        The number of the family that all rows share; None for families without one.
    knowledge : float
        Factor on the variance between members, as long as that is far below the limit.
    limit : float
        Variance of the target on the scale of the link.

    Examples
    --------
    >>> recalibration = NumberRecalibration("poisson", (), 0.0, 0.0, 1.0, 0.0, None, 4.0, 1e9)
    >>> np.log(recalibration.apply(np.exp([[[1.0]], [[3.0]]]))).round(3).ravel()
    array([0., 4.])
    """

    family: str
    settings: tuple[float, ...]
    reference: float
    shift: float
    power: float
    move: float
    shape: float | None
    knowledge: float
    limit: float

    @property
    def distribution(self) -> Distribution:
        """The family, with its settings."""
        return distribution_named(self.family, self.settings)

    def apply(self, parameters: Floats, *, threads: int = 1) -> Floats:  # noqa: ARG002 (NumPy has its own)
        """Return the recalibrated parameters, shape (members, n, outputs)."""
        distribution = self.distribution
        shaped = self._with_shape(parameters)
        link = distribution.link(shaped)
        if link.shape[-1] == 0:  # nothing else to change
            return shaped
        center = link[..., 0].mean(axis=0)
        apart = link[..., 0] - center
        variance = np.square(apart).mean(axis=0)
        link[..., 0] = (
            center + self.move + apart * np.sqrt(self.knowledge / (1.0 + self.knowledge * variance / self.limit))
        )
        return self._with_dispersion(link, parameters)

    def of_chain(self, parameters: Floats, shift: float) -> Floats:
        """Return the parameters of one chain, shape (n, outputs), with another shift and the same power and shape."""
        link = self.distribution.link(self._with_shape(parameters))
        if link.shape[-1]:
            link[..., 0] += self.move
        return self._with_dispersion(link, parameters, shift)

    def uncertainty(self, parameters: Floats, *, index: LibraryObject = None, threads: int = 1) -> Uncertainty:
        """Return the uncertainty of the recalibrated parameters."""
        distribution, changed = self.distribution, self.apply(parameters, threads=threads)
        return decompose_variance(distribution.mean(changed), distribution.variance(changed), index)

    def requirements(self) -> dict[str, bool]:
        """Return what must hold."""
        return {
            "power, knowledge and limit must be possible": self.power >= 0.0
            and self.knowledge >= 0.0
            and self.limit > 0.0,
            "the shape must be one of the family": self.shape is None or self.shape in self.distribution.shapes,
        }

    def to_header(self) -> dict[str, Any]:
        """Return the family and the numbers for a JSON header."""
        numbers = ("reference", "shift", "power", "move", "knowledge", "limit")
        header: dict[str, Any] = {name: float(getattr(self, name)) for name in numbers}
        return {**header, "family": self.family, "settings": list(self.settings), "shape": self.shape}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return what `to_header` described; a ValueError if the numbers are not possible."""
        numbers = {name: float(header[name]) for name in ("reference", "shift", "power", "move", "knowledge", "limit")}
        settings = tuple(float(value) for value in header["settings"])
        shape = None if header["shape"] is None else float(header["shape"])
        require_facts({"the recalibration must be finite": bool(np.isfinite([*numbers.values(), *settings]).all())})
        made = cls(family=str(header["family"]), settings=settings, shape=shape, **numbers)
        require_facts(made.requirements())
        return made

    def _with_shape(self, parameters: Floats) -> Floats:
        return parameters if self.shape is None else self.distribution.with_shape(parameters, self.shape)

    def _with_dispersion(self, link: Floats, parameters: Floats, shift: float | None = None) -> Floats:
        if link.shape[-1] > 1:
            moved = self.reference + self.power * (link[..., 1] - self.reference)
            link[..., 1] = moved + (self.shift if shift is None else shift)
        return self.distribution.from_link(link, self._with_shape(parameters))
