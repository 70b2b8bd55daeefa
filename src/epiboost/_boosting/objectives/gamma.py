"""Positive amounts: a Gamma with mean and shape per row; its variance is mean² / shape.

Scores are the logarithm of the mean, in units of the mean of the target, and the logarithm of the coefficient of
variation, −½ log shape. The two are orthogonal: the Fisher matrix is diagonal.

>>> import numpy as np
>>> objective = Gamma(log_mean=np.log(10.0), log_variation=0.0)
>>> objective.parameters(np.array([[np.log(2.0), np.log(0.5)]]))
array([[20.,  4.]])
"""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import digamma, gammainc, gammaincc, gammaincinv, gammaln, logsumexp, polygamma

from epiboost._boosting.objectives.digamma import log_minus_digamma
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._typing import Family, Floats

_MIN_LOG_VARIATION, _MAX_LOG_VARIATION = -10.0, 4.0  # as in the native core
_MAX_LOG_RATIO = 80.0  # as in the native core
_MAX_DEVIANCE = 1e18  # as in the native core
_LARGE_SHAPE = 1e4  # series of the differences of special functions are exact beyond
_MAX_LOG = 700.0  # its exponential is finite
_MAX_TARGET = 1e100  # a mean may be predicted that is exp(80) times as large, and has a finite square
_TINY = float(np.finfo(np.float64).tiny)


class GammaDistribution(Distribution):
    """Mean and shape.

    >>> GammaDistribution().variance(np.array([[2.0, 4.0]]))
    array([1.])
    """

    __slots__ = ()
    name: ClassVar[str] = "gamma"
    parameter_names: ClassVar[tuple[str, ...]] = ("mean", "shape")

    def check(self, parameters: Floats) -> None:
        """Means and shapes must be positive."""
        if parameters.size and not parameters.min() > 0.0:
            message = f"means and shapes must be above 0, got {parameters.min()}"
            raise ValueError(message)

    def mean(self, parameters: Floats) -> Floats:
        """Return the mean."""
        return parameters[..., 0]

    def variance(self, parameters: Floats) -> Floats:
        """Return mean² / shape."""
        variance: Floats = np.square(parameters[..., 0]) / parameters[..., 1]
        return variance

    def entropy(self, parameters: Floats) -> Floats:
        """Return the differential entropy."""
        shape = parameters[..., 1]
        usual = np.minimum(shape, _LARGE_SHAPE)
        exact = usual - np.log(usual) + gammaln(usual) + (1.0 - usual) * digamma(usual)
        series = 0.5 + 0.5 * np.log(2.0 * np.pi / shape) - 1.0 / (3.0 * shape) - 1.0 / (12.0 * shape**2)
        entropy: Floats = np.log(parameters[..., 0]) + np.where(shape < _LARGE_SHAPE, exact, series)
        return entropy

    def logpdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the log density; minus infinity unless y is positive."""
        shape, log_y = parameters[..., 1], np.log(np.maximum(y, _TINY))
        log_ratio = log_y - np.log(parameters[..., 0])
        with np.errstate(over="ignore"):
            density = _peak(shape) - shape * (np.expm1(log_ratio) - log_ratio) - log_y
        return np.where(np.greater(y, 0.0), density, -np.inf)

    def cdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the distribution function."""
        shape = parameters[..., 1]
        return np.asarray(gammainc(shape, shape * (np.maximum(y, 0.0) / parameters[..., 0])))

    def sf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the probability of more than y."""
        shape = parameters[..., 1]
        return np.asarray(gammaincc(shape, shape * (np.maximum(y, 0.0) / parameters[..., 0])))

    def quantile(self, parameters: Floats, q: Floats) -> Floats:
        """Return the quantile; the smallest positive number where it is less than that."""
        shape = parameters[..., 1]
        return np.asarray(np.maximum(parameters[..., 0] * (gammaincinv(shape, q) / shape), _TINY))

    def sample(self, parameters: Floats, rng: np.random.Generator) -> Floats:
        """Return one draw per distribution."""
        shape = parameters[..., 1]
        return np.maximum(parameters[..., 0] * (rng.standard_gamma(shape) / shape), _TINY)

    def link(self, parameters: Floats) -> Floats:
        """Return the log mean and the log coefficient of variation."""
        return np.stack([np.log(parameters[..., 0]), -0.5 * np.log(parameters[..., 1])], axis=-1)

    def from_link(self, link: Floats, like: Floats) -> Floats:
        """Return mean and shape."""
        parameters: Floats = np.exp(link * np.array([1.0, -2.0]))
        return parameters


@dataclass(frozen=True, slots=True)
class Gamma(NumberObjective):
    """A Gamma; scores are the logarithms of its mean, in units of that of the target, and of its variation.

    Attributes
    ----------
    log_mean : float
        Logarithm of the mean of the target.
    log_variation : float
        Start value of the second score.
    """

    log_mean: float
    log_variation: float

    name: ClassVar[str] = "gamma"
    family: ClassVar[Family] = "gamma"
    distribution_type: ClassVar[type[Distribution]] = GammaDistribution
    support: ClassVar[str] = "numbers above 0 and at most 1e+100"

    @classmethod
    def is_possible(cls, y: Floats) -> Floats:
        """Return whether numbers are positive, and not too large."""
        return np.asarray((y > 0.0) & (y <= _MAX_TARGET))

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective that starts at the mean and, nearly, at the likeliest shape of a weighted target."""
        log_y, shares = np.log(y), weight / weight.sum()
        log_mean = float(logsumexp(log_y, b=shares))
        gap = max(log_mean - float((shares * log_y).sum()), 0.5 * np.exp(2.0 * _MIN_LOG_VARIATION))
        shape = (3.0 - gap + np.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (
            12.0 * gap
        )  # log − digamma is the gap, to 1.5 %
        return cls(log_mean, float(-0.5 * np.log(shape)))

    @property
    def start(self) -> Floats:
        """Log mean in units of the mean, and log coefficient of variation."""
        return np.array([0.0, self.log_variation])

    @property
    def units(self) -> tuple[float, float]:
        """Zero, and the mean of the target."""
        return 0.0, float(np.exp(self.log_mean))

    def encode(self, y: Floats) -> Floats:
        """Return the logarithm of targets in units of their mean."""
        return np.log(y) - self.log_mean

    def decode(self, encoded: Floats) -> Floats:
        """Return targets in their own units."""
        return np.exp(encoded + self.log_mean)

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return the natural gradient (1 − r, 2 k (log k − digamma(k) − (r − 1 − log r)) / information), shape (n, 2).

        The ratio r is that of the target to the mean, k the shape.
        """
        shape, log_ratio = _shape(scores), y - scores[:, 0]
        bounded, left_out = (
            np.clip(one, -_MAX_LOG_RATIO, _MAX_LOG_RATIO) for one in (log_ratio, log_ratio + correction)
        )
        deviance = np.minimum(shape * (np.expm1(left_out) - left_out), _MAX_DEVIANCE)
        dispersion = 2.0 * (shape * log_minus_digamma(shape) - deviance) / _information(shape)
        return np.stack([-np.expm1(bounded), dispersion], axis=1)

    def noise_scale(self, scores: Floats) -> Floats:
        """Return the root of the inverse Fisher information, shape (n, 2)."""
        shape = _shape(scores)
        return np.stack([1.0 / np.sqrt(shape), 1.0 / np.sqrt(_information(shape))], axis=1)

    def parameters(self, scores: Floats) -> Floats:
        """Return mean and shape in the units of the target, shape (n, 2)."""
        return np.stack([np.exp(np.clip(self.log_mean + scores[:, 0], -_MAX_LOG, _MAX_LOG)), _shape(scores)], axis=1)


def _shape(scores: Floats) -> Floats:
    return np.exp(-2.0 * np.clip(scores[:, 1], _MIN_LOG_VARIATION, _MAX_LOG_VARIATION))


def _information(shape: Floats) -> Floats:
    """Return the Fisher information of the log coefficient of variation, 4 k² (trigamma(k) − 1 / k): from 2 to 4."""
    usual = np.minimum(shape, _LARGE_SHAPE)
    exact = 4.0 * usual * (usual * polygamma(1, usual) - 1.0)
    return np.where(shape < _LARGE_SHAPE, exact, 2.0 + 2.0 / (3.0 * shape))


def _peak(shape: Floats) -> Floats:
    """Return k log k − k − log Γ(k), the log density of log(y / mean) at 0."""
    usual = np.minimum(shape, _LARGE_SHAPE)
    exact = usual * np.log(usual) - usual - gammaln(usual)
    series = 0.5 * np.log(shape / (2.0 * np.pi)) - 1.0 / (12.0 * shape)
    return np.where(shape < _LARGE_SHAPE, exact, series)
