"""Counts: a Poisson whose logarithm of the mean is the score.

>>> import numpy as np
>>> Poisson(0.0).parameters(np.array([[np.log(2.0)]]))
array([[2.]])
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln, pdtr, pdtrc, xlogy

from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._typing import Family, Floats

_MAX_LOG_MEAN = 30.0  # as in the native core


class PoissonDistribution(Distribution):
    """The mean."""

    __slots__ = ()
    name: ClassVar[str] = "poisson"
    parameter_names: ClassVar[tuple[str, ...]] = ("mean",)
    is_discrete: ClassVar[bool] = True

    def check(self, parameters: Floats) -> None:
        """Means must be positive."""
        if parameters.size and not parameters.min() > 0.0:
            message = "means must be above 0"
            raise ValueError(message)

    def mean(self, parameters: Floats) -> Floats:
        """Return the mean."""
        return parameters[..., 0]

    def variance(self, parameters: Floats) -> Floats:
        """Return the mean, which is the variance."""
        return parameters[..., 0]

    def entropy(self, parameters: Floats) -> Floats:
        """Return the entropy: a sum for means below 100, beyond a series that is exact to six digits."""
        raise NotImplementedError

    def logpdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the log probability; minus infinity unless y is a whole number of at least 0."""
        mean = parameters[..., 0]
        with np.errstate(invalid="ignore"):
            found = xlogy(y, mean) - mean - gammaln(y + 1.0)
        return np.where((y >= 0.0) & (y == np.floor(y)), found, -np.inf)

    def cdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the probability of at most y."""
        return np.where(y >= 0.0, pdtr(np.floor(np.maximum(y, 0.0)), parameters[..., 0]), 0.0)

    def sf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the probability of more than y."""
        return np.where(y >= 0.0, pdtrc(np.floor(np.maximum(y, 0.0)), parameters[..., 0]), 1.0)

    def quantile(self, parameters: Floats, q: Floats) -> Floats:
        """Return the smallest count at which the distribution function is at least q."""
        raise NotImplementedError

    def sample(self, parameters: Floats, rng: np.random.Generator) -> Floats:
        """Return one draw per distribution."""
        return rng.poisson(parameters[..., 0]).astype(np.float64)

    def link(self, parameters: Floats) -> Floats:
        """Return the log mean."""
        return np.log(parameters[..., :1])

    def from_link(self, link: Floats, like: Floats) -> Floats:  # noqa: ARG002 (there is nothing else)
        """Return the mean."""
        mean: Floats = np.exp(link[..., :1])
        return mean


@dataclass(frozen=True, slots=True)
class Poisson(NumberObjective):
    """A Poisson; the one score is the logarithm of its mean.

    Attributes
    ----------
    log_mean : float
        Logarithm of the mean of the target.
    """

    log_mean: float

    name: ClassVar[str] = "poisson"
    family: ClassVar[Family] = "poisson"
    distribution_type: ClassVar[type[Distribution]] = PoissonDistribution
    support: ClassVar[str] = "counts: whole numbers of at least 0"

    @classmethod
    def is_possible(cls, y: Floats) -> Floats:
        """Return whether numbers are counts."""
        return np.asarray((y >= 0.0) & (y == np.floor(y)))

    @classmethod
    def of(
        cls,
        y: Floats,
        weight: Floats,
        n_classes: int = 0,  # noqa: ARG003 (of other families)
        settings: tuple[float, ...] = (),  # noqa: ARG003 (of other families)
    ) -> Self:
        """Return the objective that starts at the weighted mean."""
        mean = float(np.average(y, weights=weight))
        return cls(float(np.log(max(mean, 0.5 / float(weight.sum())))))

    @property
    def start(self) -> Floats:
        """Logarithm of the mean."""
        return np.array([self.log_mean])

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:  # noqa: ARG002
        """Return the natural gradient 1 − y / mean, shape (n, 1)."""
        gradient: Floats = 1.0 - y[:, np.newaxis] * np.exp(-_log_mean(scores))
        return gradient

    def noise_scale(self, scores: Floats) -> Floats:
        """Return the root of the inverse of the mean, shape (n, 1)."""
        scale: Floats = np.exp(-0.5 * _log_mean(scores))
        return scale

    def parameters(self, scores: Floats) -> Floats:
        """Return the mean, shape (n, 1)."""
        mean: Floats = np.exp(_log_mean(scores))
        return mean

    def to_header(self) -> dict[str, Any]:
        """Return name and log mean."""
        return {"name": self.name, "log_mean": self.log_mean}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the objective that `to_header` described."""
        return cls(float(header["log_mean"]))


def _log_mean(scores: Floats) -> Floats:
    return np.clip(scores, -_MAX_LOG_MEAN, _MAX_LOG_MEAN)
