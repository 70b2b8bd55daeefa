"""Heavy tails: Student's t with location and scale per row, and the same degrees of freedom for all rows.

Scores are the location and the log scale of the standardised target. The natural gradient is bounded, so an outlier
pulls no more than a row a few scales away.

>>> import numpy as np
>>> objective = Student(location=10.0, scale=2.0, freedom=5.0)
>>> objective.parameters(np.array([[0.5, 0.0]]))
array([[11.,  2.,  5.]])
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import betaln, digamma, stdtr, stdtrit

from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._boosting.objectives.quantiles import median_and_spread
from epiboost._typing import Family, Floats

_MIN_FREEDOM = 2.1  # the variance exists
_FREEDOM = 5.0
_MAX_DISTANCE = 1e9  # in scales, as in the native core
_FREEDOMS = (2.1, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0, 50.0)
_MIN_LOG_SCALE, _MAX_LOG_SCALE = -10.0, 8.0  # as in the native core


class StudentDistribution(Distribution):
    """Location, scale and degrees of freedom.

    >>> StudentDistribution().variance(np.array([[1.0, 2.0, 4.0]]))
    array([8.])
    """

    __slots__ = ()
    name: ClassVar[str] = "student"
    parameter_names: ClassVar[tuple[str, ...]] = ("location", "scale", "degrees of freedom")

    @property
    def shapes(self) -> tuple[float, ...]:
        """Degrees of freedom to choose among."""
        return _FREEDOMS

    def with_shape(self, parameters: Floats, shape: float) -> Floats:
        """Return the parameters with these degrees of freedom."""
        return np.concatenate([parameters[..., :2], np.full_like(parameters[..., :1], shape)], axis=-1)

    def check(self, parameters: Floats) -> None:
        """Scales must be positive, and degrees of freedom above 2."""
        if parameters.size and not (parameters[..., 1].min() > 0.0 and parameters[..., 2].min() > 2.0):  # noqa: PLR2004
            message = "scales must be above 0 and degrees of freedom above 2"
            raise ValueError(message)

    def mean(self, parameters: Floats) -> Floats:
        """Return the location."""
        return parameters[..., 0]

    def variance(self, parameters: Floats) -> Floats:
        """Return scale² ν / (ν − 2)."""
        scale, freedom = parameters[..., 1], parameters[..., 2]
        variance: Floats = np.square(scale) * freedom / (freedom - 2.0)
        return variance

    def entropy(self, parameters: Floats) -> Floats:
        """Return the differential entropy."""
        scale, freedom = parameters[..., 1], parameters[..., 2]
        half = 0.5 * (freedom + 1.0)
        entropy: Floats = (
            half * (digamma(half) - digamma(0.5 * freedom))
            + 0.5 * np.log(freedom)
            + betaln(0.5 * freedom, 0.5)
            + np.log(scale)
        )
        return entropy

    def logpdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the log density."""
        scale, freedom = parameters[..., 1], parameters[..., 2]
        constant = -betaln(0.5 * freedom, 0.5) - 0.5 * np.log(freedom) - np.log(scale)
        square = np.square((y - parameters[..., 0]) / scale)
        density: Floats = constant - 0.5 * (freedom + 1.0) * np.log1p(square / freedom)
        return density

    def cdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the distribution function."""
        return np.asarray(stdtr(parameters[..., 2], (y - parameters[..., 0]) / parameters[..., 1]))

    def sf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the distribution function of the mirrored value."""
        return np.asarray(stdtr(parameters[..., 2], (parameters[..., 0] - y) / parameters[..., 1]))

    def quantile(self, parameters: Floats, q: Floats) -> Floats:
        """Return the quantile."""
        return np.asarray(parameters[..., 0] + parameters[..., 1] * stdtrit(parameters[..., 2], q))

    def sample(self, parameters: Floats, rng: np.random.Generator) -> Floats:
        """Return one draw per distribution."""
        return np.asarray(parameters[..., 0] + parameters[..., 1] * rng.standard_t(parameters[..., 2]))

    def link(self, parameters: Floats) -> Floats:
        """Return location and log scale."""
        return np.stack([parameters[..., 0], np.log(parameters[..., 1])], axis=-1)

    def from_link(self, link: Floats, like: Floats) -> Floats:
        """Return the parameters with the same degrees of freedom."""
        freedom = np.broadcast_to(like[..., 2], link.shape[:-1])
        return np.stack([link[..., 0], np.exp(link[..., 1]), freedom], axis=-1)


@dataclass(frozen=True, slots=True)
class Student(NumberObjective):
    """Student's t on the standardised target; scores are its location and its log scale.

    Attributes
    ----------
    location, scale : float
        Median and robust spread of the target.
    freedom : float
        Degrees of freedom.
    """

    location: float
    scale: float
    freedom: float = _FREEDOM

    name: ClassVar[str] = "student"
    family: ClassVar[Family] = "student"
    distribution_type: ClassVar[type[Distribution]] = StudentDistribution

    @classmethod
    def settings_for(cls, y: Floats, weight: Floats) -> tuple[float, ...]:
        """Return the degrees of freedom with which members are trained."""
        return (_FREEDOM,)

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = (_FREEDOM,)) -> Self:
        """Return the objective with the median and the interquartile range of a weighted target."""
        return cls(*median_and_spread(y, weight), *settings)

    @property
    def constants(self) -> tuple[float, ...]:
        """Degrees of freedom."""
        return (self.freedom,)

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
        """Return the natural gradient, shape (n, 2)."""
        freedom, log_scale = self.freedom, _log_scale(scores)
        residual = y - scores[:, 0]
        square, left_out = (
            np.square(np.clip(one * np.exp(-log_scale), -_MAX_DISTANCE, _MAX_DISTANCE))
            for one in (residual, residual + correction)
        )
        return np.stack(
            [
                -(freedom + 3.0) * residual / (freedom + square),
                (freedom + 3.0) / (2.0 * freedom) * (1.0 - (freedom + 1.0) * left_out / (freedom + left_out)),
            ],
            axis=1,
        )

    def noise_scale(self, scores: Floats) -> Floats:
        """Return the root of the inverse Fisher information, shape (n, 2)."""
        scale = np.exp(_log_scale(scores)) * np.sqrt((self.freedom + 3.0) / (self.freedom + 1.0))
        return np.stack([scale, np.full_like(scale, np.sqrt((self.freedom + 3.0) / (2.0 * self.freedom)))], axis=1)

    def parameters(self, scores: Floats) -> Floats:
        """Return location, scale and degrees of freedom in the units of the target, shape (n, 3)."""
        scale = self.scale * np.exp(_log_scale(scores))
        return np.stack([self.location + self.scale * scores[:, 0], scale, np.full_like(scale, self.freedom)], axis=1)

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the objective that `to_header` described."""
        if not (header["scale"] > 0 and header["freedom"] >= _MIN_FREEDOM):
            message = f"scale must be above 0 and freedom at least {_MIN_FREEDOM}, got {dict(header)}"
            raise ValueError(message)
        return cls(float(header["location"]), float(header["scale"]), float(header["freedom"]))


def _log_scale(scores: Floats) -> Floats:
    return np.clip(scores[:, 1], _MIN_LOG_SCALE, _MAX_LOG_SCALE)
