"""Errors in absolute value: a Laplace with median and scale per row.

Scores are the location and the log scale of the standardised target. The gradient of the location is the sign of the
residual in scales, as for the absolute error, so the location is a median.

>>> import numpy as np
>>> objective = Laplace(location=10.0, scale=2.0)
>>> objective.parameters(np.array([[0.5, 0.0]]))
array([[11.,  2.]])
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._boosting.objectives.quantiles import median_and_spread
from epiboost._typing import Family, Floats

_MIN_LOG_SCALE, _MAX_LOG_SCALE = -10.0, 8.0  # as in the native core
_MAX_DISTANCE = 1e9  # in scales, as in the native core


class LaplaceDistribution(Distribution):
    """Location and scale.

    >>> LaplaceDistribution().variance(np.array([[1.0, 2.0]]))
    array([8.])
    """

    __slots__ = ()
    name: ClassVar[str] = "laplace"
    parameter_names: ClassVar[tuple[str, ...]] = ("location", "scale")

    def check(self, parameters: Floats) -> None:
        """Scales must be positive."""
        if parameters.size and not parameters[..., 1].min() > 0.0:
            message = f"scales must be above 0, got {parameters[..., 1].min()}"
            raise ValueError(message)

    def mean(self, parameters: Floats) -> Floats:
        """Return the location."""
        return parameters[..., 0]

    def variance(self, parameters: Floats) -> Floats:
        """Return 2 scale²."""
        variance: Floats = 2.0 * np.square(parameters[..., 1])
        return variance

    def entropy(self, parameters: Floats) -> Floats:
        """Return 1 + log(2 scale)."""
        entropy: Floats = 1.0 + np.log(2.0) + np.log(parameters[..., 1])
        return entropy

    def logpdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the log density."""
        scale = parameters[..., 1]
        density: Floats = -np.abs(y - parameters[..., 0]) / scale - np.log(2.0) - np.log(scale)
        return density

    def cdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the distribution function."""
        return _lower_tail((y - parameters[..., 0]) / parameters[..., 1])

    def sf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the distribution function of the mirrored value."""
        return _lower_tail((parameters[..., 0] - y) / parameters[..., 1])

    def quantile(self, parameters: Floats, q: Floats) -> Floats:
        """Return the quantile."""
        tail = np.log(2.0 * np.minimum(q, 1.0 - np.asarray(q)))
        return np.asarray(parameters[..., 0] + parameters[..., 1] * np.where(np.less(q, 0.5), tail, -tail))

    def sample(self, parameters: Floats, rng: np.random.Generator) -> Floats:
        """Return one draw per distribution."""
        return np.asarray(rng.laplace(parameters[..., 0], parameters[..., 1]))

    def link(self, parameters: Floats) -> Floats:
        """Return location and log scale."""
        return np.stack([parameters[..., 0], np.log(parameters[..., 1])], axis=-1)

    def from_link(self, link: Floats, like: Floats) -> Floats:
        """Return location and scale."""
        return np.stack([link[..., 0], np.exp(link[..., 1])], axis=-1)


@dataclass(frozen=True, slots=True)
class Laplace(NumberObjective):
    """A Laplace on the standardised target; scores are its location and its log scale.

    Attributes
    ----------
    location, scale : float
        Median and robust spread of the target.
    """

    location: float
    scale: float

    name: ClassVar[str] = "laplace"
    family: ClassVar[Family] = "laplace"
    distribution_type: ClassVar[type[Distribution]] = LaplaceDistribution

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective with the median and the interquartile range of a weighted target."""
        return cls(*median_and_spread(y, weight))

    @property
    def start(self) -> Floats:
        """Location and log scale of the standardised target."""
        return np.zeros(2)

    @property
    def units(self) -> tuple[float, float]:
        """Location and scale of the target."""
        return self.location, self.scale

    def encode(self, y: Floats) -> Floats:
        """Return the standardised target."""
        return (y - self.location) / self.scale

    def decode(self, encoded: Floats) -> Floats:
        """Return targets in their own units."""
        return self.location + self.scale * encoded

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return the natural gradient (−scale sign(y − location), 1 − |y − location| / scale), shape (n, 2)."""
        residual, log_scale = y - scores[:, 0], _log_scale(scores)
        distance = np.minimum(np.abs(residual + correction) * np.exp(-log_scale), _MAX_DISTANCE)
        return np.stack([-np.exp(log_scale) * np.sign(residual), 1.0 - distance], axis=1)

    def noise_scale(self, scores: Floats) -> Floats:
        """Return (scale, 1), as the Fisher information is diag(1 / scale², 1); shape (n, 2)."""
        scale = np.exp(_log_scale(scores))
        return np.stack([scale, np.ones_like(scale)], axis=1)

    def parameters(self, scores: Floats) -> Floats:
        """Return location and scale in the units of the target, shape (n, 2)."""
        return np.stack([self.location + self.scale * scores[:, 0], self.scale * np.exp(_log_scale(scores))], axis=1)

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the objective that `to_header` described."""
        if not header["scale"] > 0:
            message = f"the scale must be above 0, got {header['scale']}"
            raise ValueError(message)
        return cls(float(header["location"]), float(header["scale"]))


def _lower_tail(z: Floats) -> Floats:
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z < 0.0, tail, 1.0 - tail)


def _log_scale(scores: Floats) -> Floats:
    return np.clip(scores[:, 1], _MIN_LOG_SCALE, _MAX_LOG_SCALE)
