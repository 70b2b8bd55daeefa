"""Shares strictly between 0 and 1: a Beta with mean and precision per row; its variance is m (1 − m) / (precision + 1).

Scores are the logit of the mean and −½ log precision. The gradient is divided by the diagonal of the Fisher
information; that of the second score is from 2 (large precisions) to 4, and 2 is used. Targets are encoded as logits,
so that shares near 0 and 1 keep their digits in single precision.

>>> import numpy as np
>>> Beta(0.0, 0.0).parameters(np.array([[np.log(3.0), -0.5 * np.log(8.0)]])).round(6)
array([[0.75, 8.  ]])
"""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import betainc, betaincc, betaincinv, betaln, digamma, expit, logit, polygamma, xlog1py, xlogy

from epiboost._boosting.objectives.digamma import log_minus_digamma
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._typing import Family, Floats

_MAX_LOGIT = 80.0  # as in the native core
_MIN_SPREAD, _MAX_SPREAD = -10.0, 3.0  # as in the native core
_LEAST_PARAMETER = 1e-18  # as in the native core
_MAX_DIVERGENCE = 1e18  # as in the native core
_START_PRECISIONS = (0.1, 1e7)
_LARGE = 1e4  # the series of differences of special functions are exact beyond
_TINY = float(np.finfo(np.float64).tiny)
_BELOW_ONE = 1.0 - float(np.finfo(np.float64).epsneg)


class BetaDistribution(Distribution):
    """Mean and precision.

    >>> float(BetaDistribution().variance(np.array([0.5, 4.0])))
    0.05
    """

    __slots__ = ()
    name: ClassVar[str] = "beta"
    parameter_names: ClassVar[tuple[str, ...]] = ("mean", "precision")

    def check(self, parameters: Floats) -> None:
        """Means must be strictly between 0 and 1, and precisions positive."""
        mean = parameters[..., 0]
        if parameters.size and not (parameters.min() > 0.0 and mean.max() < 1.0):
            message = (
                "means must be strictly between 0 and 1, and precisions above 0; got means from "
                f"{mean.min()} to {mean.max()} and a precision of {parameters[..., 1].min()}"
            )
            raise ValueError(message)

    def mean(self, parameters: Floats) -> Floats:
        """Return the mean."""
        return parameters[..., 0]

    def variance(self, parameters: Floats) -> Floats:
        """Return m (1 − m) / (precision + 1)."""
        mean, precision = parameters[..., 0], parameters[..., 1]
        variance: Floats = mean * (1.0 - mean) / (precision + 1.0)
        return variance

    def entropy(self, parameters: Floats) -> Floats:
        """Return the differential entropy."""
        a, b = _shapes(parameters)
        entropy: Floats = (
            betaln(a, b) - (a - 1.0) * digamma(a) - (b - 1.0) * digamma(b) + (a + b - 2.0) * digamma(a + b)
        )
        return entropy

    def logpdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the log density; minus infinity unless y is strictly between 0 and 1."""
        a, b = _shapes(parameters)
        possible = np.greater(y, 0.0) & np.less(y, 1.0)
        share = np.where(possible, y, 0.5)
        return np.where(possible, xlogy(a - 1.0, share) + xlog1py(b - 1.0, -share) - betaln(a, b), -np.inf)

    def cdf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the distribution function."""
        a, b = _shapes(parameters)
        return np.asarray(betainc(a, b, np.clip(y, 0.0, 1.0)))

    def sf(self, parameters: Floats, y: Floats) -> Floats:
        """Return the probability of more than y."""
        a, b = _shapes(parameters)
        return np.asarray(betaincc(a, b, np.clip(y, 0.0, 1.0)))

    def quantile(self, parameters: Floats, q: Floats) -> Floats:
        """Return the quantile; the nearest possible share where it is next to 0 or 1."""
        a, b = _shapes(parameters)
        return np.asarray(np.clip(betaincinv(a, b, q), _TINY, _BELOW_ONE))

    def sample(self, parameters: Floats, rng: np.random.Generator) -> Floats:
        """Return one draw per distribution."""
        return np.clip(rng.beta(*_shapes(parameters)), _TINY, _BELOW_ONE)

    def link(self, parameters: Floats) -> Floats:
        """Return the logit of the mean and −½ log precision."""
        return np.stack([logit(parameters[..., 0]), -0.5 * np.log(parameters[..., 1])], axis=-1)

    def from_link(self, link: Floats, like: Floats) -> Floats:
        """Return mean and precision."""
        return np.stack([_share(link[..., 0]), np.exp(-2.0 * link[..., 1])], axis=-1)


@dataclass(frozen=True, slots=True)
class Beta(NumberObjective):
    """A Beta; scores are the logit of its mean and −½ log precision.

    Attributes
    ----------
    logit_mean : float
        Logit of the mean of the target.
    spread : float
        Start value of the second score.
    """

    logit_mean: float
    spread: float

    name: ClassVar[str] = "beta"
    family: ClassVar[Family] = "beta"
    distribution_type: ClassVar[type[Distribution]] = BetaDistribution
    support: ClassVar[str] = "shares strictly between 0 and 1"

    @classmethod
    def is_possible(cls, y: Floats) -> Floats:
        """Return whether numbers are strictly between 0 and 1."""
        return np.asarray((y > 0.0) & (y < 1.0))

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective that starts at the weighted mean and the precision of the weighted variance."""
        mean = min(float(np.average(y, weights=weight)), _BELOW_ONE)
        variance = max(float(np.average(np.square(y - mean), weights=weight)), _TINY)
        precision = float(np.clip(mean * (1.0 - mean) / variance - 1.0, *_START_PRECISIONS))
        return cls(float(np.clip(logit(mean), -_MAX_LOGIT, _MAX_LOGIT)), -0.5 * float(np.log(precision)))

    @property
    def start(self) -> Floats:
        """Logit of the mean and −½ log precision."""
        return np.array([self.logit_mean, self.spread])

    def encode(self, y: Floats) -> Floats:
        """Return logits."""
        encoded: Floats = np.log(y) - np.log1p(-y)
        return encoded

    def decode(self, encoded: Floats) -> Floats:
        """Return shares."""
        return _share(encoded)

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return the gradient divided by the diagonal of the Fisher information, shape (n, 2)."""
        mean, rest, precision = _parts(scores)
        a, b = _possible(precision * mean), _possible(precision * rest)
        residual = y - _logit(scores[:, 0]) + log_minus_digamma(a) - log_minus_digamma(b)
        left_out = _logit(scores[:, 0] - correction)
        apart = np.clip(precision * _divergence(left_out, y - left_out), 0.0, _MAX_DIVERGENCE)
        gaps = _scaled_gap(precision * expit(left_out)) + _scaled_gap(precision * expit(-left_out))
        stretch = rest * _scaled_trigamma(a) + mean * _scaled_trigamma(b)
        return np.stack([-residual / stretch, gaps - _scaled_gap(precision) - apart], axis=1)

    def noise_scale(self, scores: Floats) -> Floats:
        """Return the root of the inverse diagonal of the Fisher information, shape (n, 2)."""
        mean, rest, precision = _parts(scores)
        a, b = _possible(precision * mean), _possible(precision * rest)
        stretch = rest * _scaled_trigamma(a) + mean * _scaled_trigamma(b)
        of_mean = 1.0 / np.sqrt(precision * _possible(mean * rest) * stretch)
        return np.stack([of_mean, np.full_like(of_mean, np.sqrt(0.5))], axis=1)

    def parameters(self, scores: Floats) -> Floats:
        """Return mean and precision, shape (n, 2)."""
        return np.stack([_share(_logit(scores[:, 0])), _parts(scores)[2]], axis=1)


def _shapes(parameters: Floats) -> tuple[Floats, Floats]:
    mean, precision = parameters[..., 0], parameters[..., 1]
    return np.maximum(mean * precision, _TINY), np.maximum((1.0 - mean) * precision, _TINY)


def _share(logits: Floats) -> Floats:
    return np.asarray(np.clip(expit(logits), _TINY, _BELOW_ONE))


def _logit(location: Floats) -> Floats:
    return np.clip(location, -_MAX_LOGIT, _MAX_LOGIT)


def _parts(scores: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, one minus mean, and precision."""
    precision = np.exp(-2.0 * np.clip(scores[:, 1], _MIN_SPREAD, _MAX_SPREAD))
    return expit(_logit(scores[:, 0])), expit(-_logit(scores[:, 0])), precision


def _possible(parameter: Floats) -> Floats:
    return np.maximum(parameter, _LEAST_PARAMETER)


def _divergence(logits: Floats, change: Floats) -> Floats:
    """Return the relative entropy of Bernoullis with these logits to those whose logits are ``change`` larger."""
    rarer = expit(-np.abs(logits))
    moved = np.clip(np.where(logits > 0.0, -change, change), -_MAX_LOGIT, _MAX_LOGIT)
    growth = rarer * np.expm1(moved)
    log_growth = np.log1p(growth)
    near = rarer * _excess(moved) - _excess(np.where(growth < 0.5, log_growth, 0.0))  # noqa: PLR2004 (no cancellation)
    return np.asarray(np.maximum(np.where(growth < 0.5, near, log_growth - rarer * moved), 0.0))  # noqa: PLR2004


def _excess(x: Floats) -> Floats:
    """Return exp(x) − 1 − x."""
    series = np.square(x) * (0.5 + x * (1.0 / 6.0 + x / 24.0))
    return np.where(np.abs(x) < 1e-3, series, np.expm1(x) - x)  # noqa: PLR2004 (exact to 1e-10 below)


def _scaled_gap(x: Floats) -> Floats:
    """Return x (log x − digamma(x)), which falls from 1 to ½."""
    scaled: Floats = _possible(x) * log_minus_digamma(_possible(x))
    return scaled


def _scaled_trigamma(x: Floats) -> Floats:
    """Return x trigamma(x)."""
    usual = np.minimum(x, _LARGE)
    return np.where(x < _LARGE, usual * polygamma(1, usual), 1.0 + 0.5 / x)
