"""Durations: a Weibull with scale and shape per row.

The logarithm of a Weibull number with scale λ and shape k is a Gumbel of minima with location log λ and scale 1 / k.
The scores are log λ + c / k, c = 1 − Euler's constant, and log(1 / k): in these coordinates the Fisher matrix is
diagonal, diag(k², π² / 6).

>>> import numpy as np
>>> objective = Weibull(log_location=np.log(10.0), log_inverse_shape=0.0)
>>> objective.parameters(np.array([[0.5 * _SHIFT, np.log(0.5)]]))
array([[10.,  2.]])
"""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import gammaln, zeta

from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.normal import Normal
from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._typing import Family, Floats

_MIN_LOG_INVERSE_SHAPE, _MAX_LOG_INVERSE_SHAPE = -10.0, 4.0  # as in the native core
_LOWEST, _HIGHEST = -1e9, 2.5  # deviations, as in the native core, which says why
_SHIFT = 1.0 - float(np.euler_gamma)
_INVERSE_TRIGAMMA = 6.0 / np.pi**2
_SMALL = 1e-3  # inverse shape, for a series of the variance
_TINY = float(np.finfo(np.float64).tiny)
_LOG_MAX_SPREADS = float(np.log(2.0))  # inverse shape of a row, in those of all rows
_MAX_LOG = 700.0  # its exponential is finite


class WeibullDistribution(Distribution):
    """Scale and shape.

    >>> WeibullDistribution().mean(np.array([[2.0, 1.0]])).round(12)
    array([2.])
    """

    __slots__ = ()
    name: ClassVar[str] = "weibull"
    parameter_names: ClassVar[tuple[str, ...]] = ("scale", "shape")

    def check(self, parameters: Floats) -> None:
        """Scales and shapes must be positive."""
        if parameters.size and not parameters.min() > 0.0:
            message = f"scales and shapes must be above 0, got {parameters.min()}"
            raise ValueError(message)

    def mean(self, parameters: Floats) -> Floats:
        """Return scale Γ(1 + 1 / shape); at most the exponential of 700."""
        return np.asarray(
            np.exp(np.minimum(np.log(parameters[..., 0]) + gammaln(1.0 + 1.0 / parameters[..., 1]), _MAX_LOG))
        )

    def variance(self, parameters: Floats) -> Floats:
        """Return scale² (Γ(1 + 2 / shape) − Γ(1 + 1 / shape)²); at most the exponential of 700."""
        spread = 1.0 / parameters[..., 1]
        small = np.minimum(spread, _SMALL)
        series = small**2 * (zeta(2) - small * (2.0 * zeta(3) - small * (3.5 * zeta(4) - small * 6.0 * zeta(5))))
        exact = gammaln(1.0 + 2.0 * spread) - 2.0 * gammaln(1.0 + spread)
        excess = np.where(spread > _SMALL, exact, series)  # log of the mean square in squared means
        log_square = 2.0 * (np.log(parameters[..., 0]) + gammaln(1.0 + spread))
        return np.asarray(np.exp(np.minimum(log_square + excess + np.log(-np.expm1(-excess)), _MAX_LOG)))

    def entropy(self, parameters: Floats) -> Floats:
        """Return the differential entropy."""
        scale, shape = parameters[..., 0], parameters[..., 1]
        entropy: Floats = np.euler_gamma * (1.0 - 1.0 / shape) + np.log(scale) - np.log(shape) + 1.0
        return entropy

    def logpdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the log density; minus infinity unless y is positive."""
        shape, log_y = parameters[..., 1], np.log(np.maximum(y, _TINY))
        with np.errstate(over="ignore"):
            deviation = shape * (log_y - np.log(parameters[..., 0]))
            density = np.log(shape) + deviation - np.exp(deviation) - log_y
        return np.where(np.greater(y, 0.0), density, -np.inf)

    def cdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the distribution function."""
        return np.asarray(-np.expm1(-self._hazard(parameters, y)))

    def sf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the probability of more than y: the survival function."""
        return np.exp(-self._hazard(parameters, y))

    def logsf(self, parameters: Floats, y: Floats) -> Floats:
        """Return minus the cumulative hazard."""
        return -self._hazard(parameters, y)

    def quantile(self, parameters: Floats, q: Floats) -> Floats:
        """Return the quantile; the smallest positive number where it is less than that."""
        log_quantile = np.log(parameters[..., 0]) + np.log(-np.log1p(-np.asarray(q))) / parameters[..., 1]
        return np.maximum(np.exp(np.minimum(log_quantile, _MAX_LOG)), _TINY)

    def sample(self, parameters: Floats, rng: np.random.Generator) -> Floats:
        """Return one draw per distribution."""
        log_draw = (
            np.log(parameters[..., 0]) + np.log(rng.standard_exponential(parameters.shape[:-1])) / parameters[..., 1]
        )
        return np.maximum(np.exp(np.minimum(log_draw, _MAX_LOG)), _TINY)

    def link(self, parameters: Floats) -> Floats:
        """Return log scale + c / shape and log(1 / shape), the coordinates of the scores."""
        shape = parameters[..., 1]
        return np.stack([np.log(parameters[..., 0]) + _SHIFT / shape, -np.log(shape)], axis=-1)

    def from_link(self, link: Floats, like: Floats) -> Floats:
        """Return scale and shape."""
        log_scale = link[..., 0] - _SHIFT * np.exp(link[..., 1])
        return np.exp(np.clip(np.stack([log_scale, -link[..., 1]], axis=-1), -_MAX_LOG, _MAX_LOG))

    def link_variance(self, parameters: Floats) -> Floats:
        """Return the variance of the logarithm."""
        variance: Floats = np.pi**2 / 6.0 / np.square(parameters[..., 1])
        return variance

    @staticmethod
    def _hazard(parameters: Floats, y: Floats) -> Floats:
        """Return the cumulative hazard (y / scale)^shape."""
        with np.errstate(over="ignore"):
            return np.power(np.maximum(y, 0.0) / parameters[..., 0], parameters[..., 1])


@dataclass(frozen=True, slots=True)
class Weibull(NumberObjective):
    """A Weibull; see the head of this file for the scores.

    Attributes
    ----------
    log_location : float
        Start value of the first score, in which targets are measured.
    log_inverse_shape : float
        Start value of the second score.
    """

    log_location: float
    log_inverse_shape: float

    name: ClassVar[str] = "weibull"
    family: ClassVar[Family] = "weibull"
    distribution_type: ClassVar[type[Distribution]] = WeibullDistribution
    support: ClassVar[str] = "numbers above 0"

    @classmethod
    def is_possible(cls, y: Floats) -> Floats:
        """Return whether numbers are positive."""
        return np.asarray(y > 0.0)

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective that starts at the mean and the deviation of the logarithm of a weighted target."""
        normal = Normal.of(np.log(y), weight)
        spread = normal.scale * np.sqrt(_INVERSE_TRIGAMMA)
        bounded = np.clip(np.log(spread), _MIN_LOG_INVERSE_SHAPE, _MAX_LOG_INVERSE_SHAPE)
        return cls(
            float(normal.location + spread), float(bounded)
        )  # the mean deviation is − Euler's constant, this one c

    @property
    def start(self) -> Floats:
        """Scores before the first tree."""
        return np.array([0.0, self.log_inverse_shape])

    @property
    def units(self) -> tuple[float, float]:
        """Zero, and the exponential of the location."""
        return 0.0, float(np.exp(self.log_location))

    def encode(self, y: Floats) -> Floats:
        """Return logarithms of targets from their location."""
        return np.log(y) - self.log_location

    def decode(self, encoded: Floats) -> Floats:
        """Return targets in their own units."""
        return np.exp(encoded + self.log_location)

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return the natural gradient ((1 − exp(z)) / k, 6 / π² (1 + (z − c) (1 − exp(z)))), shape (n, 2).

        z = k (log y − log λ) is the deviation, of which large values count as 2.5.
        """
        log_scale = _log_inverse_shape(scores)
        residual, inverse = y - scores[:, 0], np.exp(-log_scale)
        deviation, left_out = (
            np.clip(one * inverse + _SHIFT, _LOWEST, _HIGHEST) for one in (residual, residual + correction)
        )
        dispersion = _INVERSE_TRIGAMMA * (1.0 - (left_out - _SHIFT) * np.expm1(left_out))
        return np.stack([-np.exp(log_scale) * np.expm1(deviation), dispersion], axis=1)

    def noise_scale(self, scores: Floats) -> Floats:
        """Return (1 / k, √6 / π), the root of the inverse Fisher information, shape (n, 2)."""
        scale = np.exp(_log_inverse_shape(scores))
        return np.stack([scale, np.full_like(scale, np.sqrt(_INVERSE_TRIGAMMA))], axis=1)

    def parameters(self, scores: Floats) -> Floats:
        """Return scale and shape in the units of the target, shape (n, 2)."""
        inverse_shape = np.exp(_log_inverse_shape(scores))
        log_scale = self.log_location + scores[:, 0] - _SHIFT * inverse_shape
        return np.stack([np.exp(np.clip(log_scale, -_MAX_LOG, _MAX_LOG)), 1.0 / inverse_shape], axis=1)

    def bounded(self, parameters: Floats) -> Floats:
        """Return parameters of at least the shape that a row may have; the mean grows as the factorial of 1 / shape."""
        parameters[..., 1] = np.maximum(parameters[..., 1], np.exp(-self.log_inverse_shape - _LOG_MAX_SPREADS))
        return parameters


def _log_inverse_shape(scores: Floats) -> Floats:
    return np.clip(scores[:, 1], _MIN_LOG_INVERSE_SHAPE, _MAX_LOG_INVERSE_SHAPE)
