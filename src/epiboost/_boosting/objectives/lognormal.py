"""Positive amounts whose logarithm is a Normal: `Normal` on log y, exact by the change of variables.

The native core and the library engines train a Normal on the logarithm: same gradient, same trees, same variance guard.
Parameters are the mean and the variance of the logarithm.

>>> import numpy as np
>>> objective = LogNormal(location=0.0, scale=2.0)
>>> objective.parameters(np.array([[0.5, 0.0]]))
array([[1., 4.]])
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_ndtr

from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.normal import Normal, NormalDistribution
from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._typing import Family, Floats

_LOGARITHM = NormalDistribution()
_MAX_SPREADS = 2.0  # standard deviation of a row, in those of all rows
_MAX_LOG = 700.0  # its exponential is finite
_TINY = float(np.finfo(np.float64).tiny)


class LogNormalDistribution(Distribution):
    """Mean and variance of the logarithm.

    >>> LogNormalDistribution().mean(np.array([[0.0, 2.0]])).round(6)
    array([2.718282])
    """

    __slots__ = ()
    name: ClassVar[str] = "lognormal"
    parameter_names: ClassVar[tuple[str, ...]] = ("mean of log", "variance of log")

    def check(self, parameters: Floats) -> None:
        """Variances must not be negative."""
        _LOGARITHM.check(parameters)

    def mean(self, parameters: Floats) -> Floats:
        """Return the mean, at most the exponential of 700."""
        return np.exp(np.minimum(parameters[..., 0] + 0.5 * parameters[..., 1], _MAX_LOG))

    def variance(self, parameters: Floats) -> Floats:
        """Return the variance, at most the exponential of 700."""
        square = parameters[..., 1]
        with np.errstate(divide="ignore"):
            log_variance = 2.0 * (parameters[..., 0] + square) + np.log(-np.expm1(-square))
        return np.exp(np.minimum(log_variance, _MAX_LOG))

    def entropy(self, parameters: Floats) -> Floats:
        """Return the differential entropy: that of the logarithm, and its mean."""
        return _LOGARITHM.entropy(parameters) + parameters[..., 0]

    def logpdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the log density; minus infinity unless y is positive."""
        log_y = np.log(np.maximum(y, _TINY))
        return np.where(np.greater(y, 0.0), _LOGARITHM.logpdf(parameters, log_y) - log_y, -np.inf)

    def cdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the distribution function."""
        return _LOGARITHM.cdf(parameters, _log(y))

    def sf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the probability of more than y."""
        return _LOGARITHM.sf(parameters, _log(y))

    def logsf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the logarithm of the probability of more than y, finite far beyond where that is zero."""
        return np.asarray(log_ndtr((parameters[..., 0] - _log(y)) / np.sqrt(parameters[..., 1])))

    def logcdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the logarithm of the probability of at most y."""
        return np.asarray(log_ndtr((_log(y) - parameters[..., 0]) / np.sqrt(parameters[..., 1])))

    def quantile(self, parameters: Floats, q: Floats) -> Floats:
        """Return the exponential of the quantile of the logarithm."""
        return np.exp(np.clip(_LOGARITHM.quantile(parameters, q), -_MAX_LOG, _MAX_LOG))

    def sample(self, parameters: Floats, rng: np.random.Generator) -> Floats:
        """Return one draw per distribution."""
        return np.exp(np.clip(_LOGARITHM.sample(parameters, rng), -_MAX_LOG, _MAX_LOG))

    def link(self, parameters: Floats) -> Floats:
        """Return mean and log standard deviation of the logarithm."""
        return _LOGARITHM.link(parameters)

    def from_link(self, link: Floats, like: Floats) -> Floats:
        """Return mean and variance of the logarithm."""
        return _LOGARITHM.from_link(link, like)

    def link_variance(self, parameters: Floats) -> Floats:
        """Return the variance of the logarithm."""
        return parameters[..., 1]


@dataclass(frozen=True, slots=True)
class LogNormal(NumberObjective):
    """A Normal on the standardised logarithm of the target; scores are its mean and its log standard deviation.

    Attributes
    ----------
    location, scale : float
        Mean and standard deviation of the logarithm of the target.
    """

    location: float
    scale: float

    name: ClassVar[str] = "lognormal"
    family: ClassVar[Family] = "lognormal"
    distribution_type: ClassVar[type[Distribution]] = LogNormalDistribution
    support: ClassVar[str] = "numbers above 0"

    @classmethod
    def is_possible(cls, y: Floats) -> Floats:
        """Return whether numbers are positive."""
        return np.asarray(y > 0.0)

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective whose location and scale are those of the logarithm of a weighted target."""
        normal = Normal.of(np.log(y), weight)
        return cls(normal.location, normal.scale)

    @property
    def code(self) -> int:
        """The number of the Normal in the native core."""
        return self._normal.code

    @property
    def start(self) -> Floats:
        """Mean and log standard deviation of the standardised logarithm."""
        return np.zeros(2)

    @property
    def units(self) -> tuple[float, float]:
        """Location and scale of the logarithm of the target."""
        return self.location, self.scale

    def encode(self, y: Floats) -> Floats:
        """Return the standardised logarithm of the target."""
        return self._normal.encode(np.log(y))

    def decode(self, encoded: Floats) -> Floats:
        """Return targets in their own units."""
        return np.exp(self.location + self.scale * encoded)

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return the natural gradient of the Normal, shape (n, 2)."""
        return self._normal.gradient(scores, y, correction)

    def noise_scale(self, scores: Floats) -> Floats:
        """Return the noise scale of the Normal, shape (n, 2)."""
        return self._normal.noise_scale(scores)

    def parameters(self, scores: Floats) -> Floats:
        """Return mean and variance of the logarithm, shape (n, 2)."""
        return self._normal.parameters(scores)

    def of_core(self, outputs: Floats) -> Floats:
        """Return what the native core predicts, which is mean and variance already."""
        return self.bounded(outputs)

    def bounded(self, parameters: Floats) -> Floats:
        """Return parameters of at most the variance that a row may have, with whose exponential the mean grows."""
        parameters[..., 1] = np.minimum(parameters[..., 1], (_MAX_SPREADS * self.scale) ** 2)
        return parameters

    def loss_shift(self, y: Floats, weight: Floats) -> float:
        """Return the log scale and the mean logarithm: the core measures the loss of the standardised logarithm."""
        return float(np.log(self.scale)) + self.location + self.scale * float(np.average(y, weights=weight))

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the objective that `to_header` described."""
        normal = Normal.from_header(header)
        return cls(normal.location, normal.scale)

    @property
    def _normal(self) -> Normal:
        return Normal(self.location, self.scale)


def _log(y: Floats) -> Floats:
    """Return the logarithm; minus infinity for numbers that are not positive."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(y, 0.0))
