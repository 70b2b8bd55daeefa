"""Counts that vary more than a Poisson: a negative binomial with mean and dispersion α per row.

The variance is mean + α mean². Scores are the logarithm of the mean, in units of the mean of the target, and log α. The
Fisher matrix of the two is diagonal; the information of log α has no closed form. It is replaced by ½ (α mean / (1 + α
mean))² + 0.05: without the constant it is exact for small α and for large means, between them at most a quarter too
small, and too large where α is large. The constant bounds the steps of rows that say nothing of α. The information of
the log mean gets that of an average row added, as for `Poisson`.

>>> import numpy as np
>>> NegativeBinomial(np.log(10.0), 0.0).parameters(np.array([[np.log(2.0), np.log(0.5)]])).round(6)
array([[20. ,  0.5]])
"""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import betainc, betaln, ndtri

from epiboost._boosting.objectives.counts import CountObjective, is_count, log_mean_of, mean_ratio, smallest_count
from epiboost._boosting.objectives.digamma import log_minus_digamma
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._typing import Family, Floats

_MIN_LOG_ALPHA, _MAX_LOG_ALPHA = -10.0, 8.0  # as in the native core
_MAX_EXCESS = 1e18  # as in the native core
_LEAST_INFORMATION = 0.05  # as in the native core
_START_ALPHAS = (1e-2, 1e2)
_SUMMED = 256  # counts whose entropy is summed; beyond, it is integrated
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(160)


class NegativeBinomialDistribution(Distribution):
    """Mean and dispersion α.

    >>> float(NegativeBinomialDistribution().variance(np.array([10.0, 0.5])))
    60.0
    """

    __slots__ = ()
    name: ClassVar[str] = "negative_binomial"
    parameter_names: ClassVar[tuple[str, ...]] = ("mean", "dispersion")
    is_discrete: ClassVar[bool] = True

    def check(self, parameters: Floats) -> None:
        """Means and dispersions must be positive."""
        if parameters.size and not parameters.min() > 0.0:
            message = f"means and dispersions must be above 0, got {parameters.min()}"
            raise ValueError(message)

    def mean(self, parameters: Floats) -> Floats:
        """Return the mean."""
        return parameters[..., 0]

    def variance(self, parameters: Floats) -> Floats:
        """Return mean + α mean²."""
        mean, alpha = parameters[..., 0], parameters[..., 1]
        variance: Floats = mean * (1.0 + alpha * mean)
        return variance

    def entropy(self, parameters: Floats) -> Floats:
        """Return the entropy: a sum over the first counts and an integral over the others, to about 1e-6."""
        mean, std = parameters[..., 0], np.sqrt(self.variance(parameters))
        total = np.zeros_like(mean)
        for count in range(_SUMMED):
            last = self._surprise(parameters, np.asarray(float(count)))
            total += last
        total += (self._surprise(parameters, np.asarray(float(_SUMMED))) - last) / 24.0  # Euler and Maclaurin
        lower = np.maximum(_SUMMED - 0.5, mean - 14.0 * std)
        upper = np.maximum(lower, mean + 14.0 * std + 45.0 * parameters[..., 1] * mean)
        center, half = 0.5 * np.log(lower * upper), 0.5 * np.log(upper / lower)
        for node, weight in zip(_NODES, _NODE_WEIGHTS, strict=True):
            count = np.exp(center + half * node)
            total += weight * half * count * self._surprise(parameters, count)
        return total

    def logpdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the log probability; minus infinity unless y is a whole number of at least 0."""
        possible = is_count(y)
        return np.where(possible, self._log_probability(parameters, np.where(possible, y, 0.0)), -np.inf)

    def cdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the probability of at most y."""
        size, excess = _size_and_excess(parameters)
        count = np.floor(np.maximum(y, 0.0))
        return np.where(np.greater_equal(y, 0.0), betainc(size, count + 1.0, 1.0 / (1.0 + excess)), 0.0)

    def sf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the probability of more than y."""
        size, excess = _size_and_excess(parameters)
        count = np.floor(np.maximum(y, 0.0))
        return np.where(np.greater_equal(y, 0.0), betainc(count + 1.0, size, excess / (1.0 + excess)), 1.0)

    def quantile(self, parameters: Floats, q: Floats) -> Floats:
        """Return the smallest count at which the distribution function is at least q."""
        q = np.asarray(q, dtype=np.float64)
        deviation, shape = ndtri(q), np.broadcast_shapes(parameters.shape[:-1], q.shape)
        guess = self.mean(parameters) + deviation * np.sqrt(self.variance(parameters))
        return smallest_count(
            lambda count: self.cdf(parameters, count), np.broadcast_to(guess, shape), np.broadcast_to(q, shape)
        )

    def sample(self, parameters: Floats, rng: np.random.Generator) -> Floats:
        """Return one draw per distribution: a Poisson whose mean is drawn from a Gamma."""
        size, excess = _size_and_excess(parameters)
        mean = np.asarray(rng.standard_gamma(size) * excess)
        large = mean > 1e18  # noqa: PLR2004 (NumPy draws 64-bit integers)
        drawn = np.asarray(rng.poisson(np.where(large, 1.0, mean)), dtype=np.float64)
        return np.where(large, np.rint(mean), drawn)

    def link(self, parameters: Floats) -> Floats:
        """Return log mean and log α."""
        link: Floats = np.log(parameters)
        return link

    def from_link(self, link: Floats, like: Floats) -> Floats:
        """Return mean and α."""
        parameters: Floats = np.exp(link)
        return parameters

    def _log_probability(self, parameters: Floats, count: Floats) -> Floats:
        size, excess = _size_and_excess(parameters)
        peak = -betaln(size, count + 1.0) - np.log(count + size)
        log_probability: Floats = peak - size * np.log1p(excess) - count * np.log1p(1.0 / excess)
        return log_probability

    def _surprise(self, parameters: Floats, count: Floats) -> Floats:
        log_probability = self._log_probability(parameters, count)
        return -np.exp(log_probability) * log_probability


@dataclass(frozen=True, slots=True)
class NegativeBinomial(CountObjective):
    """A negative binomial; scores are the logarithms of its mean, in units of the target's, and of its dispersion.

    Attributes
    ----------
    log_mean : float
        Logarithm of the mean of the target.
    log_alpha : float
        Start value of the second score.
    """

    log_mean: float
    log_alpha: float

    name: ClassVar[str] = "negative_binomial"
    family: ClassVar[Family] = "negative_binomial"
    distribution_type: ClassVar[type[Distribution]] = NegativeBinomialDistribution

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective that starts at the weighted mean, and at the dispersion of the weighted variance."""
        log_mean = log_mean_of(y, weight)
        alpha = float(np.average(np.square(y * np.exp(-log_mean) - 1.0), weights=weight)) - float(np.exp(-log_mean))
        return cls(log_mean, float(np.log(np.clip(alpha, *_START_ALPHAS))))

    @property
    def start(self) -> Floats:
        """Logarithm of the mean in units of itself, and log α."""
        return np.array([0.0, self.log_alpha])

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return the gradient by log mean and log α, each divided by what stands for its information, shape (n, 2)."""
        average, alpha = np.exp(self.log_mean), _alpha(scores)
        size, ratio = 1.0 / alpha, mean_ratio(scores[:, 0])
        left_out, count = average * mean_ratio(scores[:, 0] - correction), average * y
        excess = 1.0 + alpha * average * ratio
        log_ratio = _log_ratio(size, count, left_out)
        slope = size * (log_minus_digamma(size) - log_minus_digamma(size + count))
        slope -= np.clip(size * (np.expm1(log_ratio) - log_ratio), 0.0, _MAX_EXCESS)
        mean_gradient = (ratio - y) / (ratio + excess / (1.0 + alpha * average))
        return np.stack([mean_gradient, slope / _alpha_information(1.0 + alpha * left_out)], axis=1)

    def noise_scale(self, scores: Floats) -> Floats:
        """Return the root of the inverse of what stands for the Fisher information, shape (n, 2)."""
        average, alpha, ratio = np.exp(self.log_mean), _alpha(scores), mean_ratio(scores[:, 0])
        excess = 1.0 + alpha * average * ratio
        of_mean = average * (ratio / excess + 1.0 / (1.0 + alpha * average))
        return np.stack([1.0 / np.sqrt(of_mean), 1.0 / np.sqrt(_alpha_information(excess))], axis=1)

    def parameters(self, scores: Floats) -> Floats:
        """Return mean and α, shape (n, 2)."""
        return np.stack([np.exp(self.log_mean) * mean_ratio(scores[:, 0]), _alpha(scores)], axis=1)


def _size_and_excess(parameters: Floats) -> tuple[Floats, Floats]:
    """Return 1 / α, and α mean: the share of the variance beyond that of a Poisson."""
    return 1.0 / parameters[..., 1], parameters[..., 1] * parameters[..., 0]


def _log_ratio(size: Floats, count: Floats, mean: Floats) -> Floats:
    """Return log((size + count) / (size + mean)), exact for counts near the mean."""
    change = (count - mean) / (size + mean)
    near = np.abs(change) < 0.2  # noqa: PLR2004 (the two agree)
    return np.where(near, np.log1p(np.where(near, change, 0.0)), np.log((size + count) / (size + mean)))


def _alpha(scores: Floats) -> Floats:
    alpha: Floats = np.exp(np.clip(scores[:, 1], _MIN_LOG_ALPHA, _MAX_LOG_ALPHA))
    return alpha


def _alpha_information(excess: Floats) -> Floats:
    information: Floats = 0.5 * np.square(1.0 - 1.0 / excess) + _LEAST_INFORMATION
    return information
