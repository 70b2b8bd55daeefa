"""Durations of which only bounds may be known: the likelihood of any distribution, and what its objectives share.

Targets are pairs (lower, upper). Equal bounds are an observed duration, an infinite upper bound is right-censored, a
lower bound of 0 left-censored, anything else interval-censored.

>>> from epiboost._boosting.objectives.weibull import WeibullDistribution
>>> bounds = np.array([[1.0, 1.0], [1.0, np.inf], [0.0, 1.0]])
>>> censored_log_likelihood(WeibullDistribution(), np.array([1.0, 1.0]), bounds).round(3)
array([-1.   , -1.   , -0.459])
"""

import abc
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._typing import AnyArray, Floats

NARROW = 0.02  # deviations, as in the native core: the density in the middle says the same to four digits
_MIN_LOG_SCALE = -10.0  # as in the native core
_ENOUGH_ROWS = 5_000  # more change the second digit of a start value
_PRIOR_ROWS = 1.0  # weight of the first guess, which bounds start values where no row is observed
_MIN_SCALE = 1e-9  # of equal logarithms, relative to their size
_LARGE = 1e6  # a loss that no row exceeds


def censored_log_likelihood(distribution: Distribution, parameters: Floats, bounds: Floats) -> Floats:
    """Return the log density of observed durations, and the log probability of the others' intervals.

    Parameters
    ----------
    distribution : Distribution
    parameters : array of shape (..., outputs)
    bounds : array of shape (..., 2)
        Against which the parameters broadcast.
    """
    shape = np.broadcast_shapes(parameters.shape[:-1], bounds.shape[:-1])
    parameters = np.broadcast_to(parameters, (*shape, parameters.shape[-1]))
    lower, upper = (np.broadcast_to(bounds[..., side], shape) for side in (0, 1))
    observed, right = lower == upper, np.isposinf(upper)
    other = ~(observed | right)
    found = np.empty(shape)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        found[observed] = distribution.logpdf(parameters[observed], lower[observed])
        found[right] = distribution.logsf(parameters[right], lower[right])
        if other.any():
            found[other] = _log_probability(distribution, parameters[other], lower[other], upper[other])
    return found


def _log_probability(distribution: Distribution, parameters: Floats, lower: Floats, upper: Floats) -> Floats:
    """Return the log probability between two bounds, by the tail in which they lie."""
    above, below = distribution.logsf(parameters, lower), distribution.logcdf(parameters, upper)
    in_upper_tail = above < below
    near = np.where(in_upper_tail, above, below)
    far = np.where(in_upper_tail, distribution.logsf(parameters, upper), distribution.logcdf(parameters, lower))
    probability = near + np.log(-np.expm1(np.where(np.isneginf(far), -np.inf, far - near)))
    return np.where(np.isneginf(near), -np.inf, probability)


class CensoredObjective(NumberObjective):
    """Durations with bounds, measured by their standardised logarithms.

    Scores are those of the family without censoring. Their gradient is that of the censored likelihood, divided by the
    Fisher information of an observed duration, so that a censored row never weighs more than an observed one.

    Attributes
    ----------
    location, scale : float
        Those of the logarithm, by the censored likelihood of all rows.
    """

    __slots__ = ()

    is_censored: ClassVar[bool] = True
    support: ClassVar[str] = "bounds of durations, 0 <= lower <= upper, of which some are finite and above 0"
    max_log_scale: ClassVar[float]
    deviation_range: ClassVar[tuple[float, float]]
    shift: ClassVar[float]
    inverse_information: ClassVar[float]

    location: float
    scale: float

    def __init__(self, location: float, scale: float) -> None: ...

    @classmethod
    def is_possible(cls, y: Floats) -> Floats:
        """Return whether pairs are bounds of durations, as booleans of shape (n,)."""
        lower, upper = y[:, 0], y[:, 1]
        return np.asarray((lower >= 0.0) & (upper >= lower) & (upper > 0.0) & np.isfinite(lower))

    @classmethod
    def of(cls, y: Floats, weight: Floats, n_classes: int = 0, settings: tuple[float, ...] = ()) -> Self:
        """Return the objective with the most likely location and scale of the logarithms of all rows."""
        from scipy.optimize import minimize  # noqa: PLC0415 (slow to import)

        rows = np.linspace(0, len(y) - 1, min(len(y), _ENOUGH_ROWS)).astype(np.int64)
        y, weight = y[rows], weight[rows]
        guess = cls(*_first_guess(y, weight))

        def loss(tried: Floats) -> float:
            scores = np.broadcast_to(np.clip(tried, -50.0, [50.0, cls.max_log_scale]), (len(y), 2))
            losses = -censored_log_likelihood(guess.distribution, guess.parameters(scores), y)
            bounded = np.minimum(np.nan_to_num(losses, nan=_LARGE, posinf=_LARGE), _LARGE)
            return float((weight * bounded).sum() + 0.5 * _PRIOR_ROWS * np.square(tried).sum())

        options = {"initial_simplex": [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]], "xatol": 1e-4, "fatol": 1e-4}
        found = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options=options).x
        scale = guess.scale * float(np.exp(np.clip(found[1], _MIN_LOG_SCALE, cls.max_log_scale)))
        return cls(guess.location + guess.scale * float(found[0]), scale)

    @property
    def start(self) -> Floats:
        """Scores before the first tree."""
        return np.zeros(2)

    @property
    def constants(self) -> tuple[float, ...]:
        """Location and scale of the logarithm."""
        return self.location, self.scale

    def encode(self, y: Floats) -> Floats:
        """Return standardised logarithms of the bounds, infinite where there is no bound; shape (n, 2)."""
        with np.errstate(divide="ignore"):
            logarithms = np.log(y)
        encoded: Floats = (logarithms - self.location) / self.scale
        return encoded

    def decode(self, encoded: Floats) -> Floats:
        """Return bounds in their own units."""
        with np.errstate(over="ignore"):
            bounds: Floats = np.exp(self.location + self.scale * encoded)
        return bounds

    def expected(self, y: Floats) -> Floats:
        """Return one standardised number per row: the observed one, or about what is expected between the bounds."""
        encoded = self.encode(y)
        return -self.gradient(np.zeros_like(encoded), encoded)[:, 0]

    def gradient(self, scores: Floats, y: Floats, correction: Floats | float = 0.0) -> Floats:
        """Return the slopes of the likelihood over the Fisher information of an observed duration, shape (n, 2)."""
        log_scale, residual = self.log_scale(scores), y - scores[:, :1]
        of_location, of_scale = self._slopes(residual, log_scale)
        observed = y[:, 0] == y[:, 1]  # others pull the location past their bound, not towards it
        left_out = residual + np.reshape(correction, (-1, 1))
        of_scale = np.where(observed, self._slopes(left_out, log_scale)[1], of_scale)
        return np.stack([-np.exp(log_scale) * of_location, -self.inverse_information * of_scale], axis=1)

    def noise_scale(self, scores: Floats) -> Floats:
        """Return the root of the inverse Fisher information of an observed duration, shape (n, 2)."""
        scale = np.exp(self.log_scale(scores))
        return np.stack([scale, np.full_like(scale, np.sqrt(self.inverse_information))], axis=1)

    def row_losses(self, scores: Floats, y: Floats) -> Floats:
        """Return the negative log-likelihood of each encoded target in the units of the target, shape (n,)."""
        losses: Floats = -censored_log_likelihood(self.distribution, self.parameters(scores), self.decode(y))
        return losses

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the objective that `to_header` described."""
        if not header["scale"] > 0.0:
            message = f"the scale must be above 0, got {header['scale']}"
            raise ValueError(message)
        return super().from_header(header)

    @classmethod
    def log_scale(cls, scores: Floats) -> Floats:
        """Return the second score within its bounds."""
        return np.clip(scores[:, 1], _MIN_LOG_SCALE, cls.max_log_scale)

    @staticmethod
    @abc.abstractmethod
    def slopes(lower: Floats, upper: Floats, kinds: Mapping[str, AnyArray]) -> tuple[Floats, Floats]:
        """Return the slopes of the log-likelihood by the location, in deviations, and by the log scale.

        Parameters
        ----------
        lower, upper : arrays of shape (n,)
            Bounds in deviations.
        kinds : mapping of str to array of bool of shape (n,)
            Which rows are "observed", "right", "left" or "interval".
        """

    def _slopes(self, residual: Floats, log_scale: Floats) -> tuple[Floats, Floats]:
        """Return `slopes` for the distances of both bounds from the location, shape (n, 2)."""
        deviations = np.clip(residual * np.exp(-log_scale)[:, np.newaxis] + self.shift, *self.deviation_range)
        lower, upper = deviations.T
        has_lower, has_upper = np.isfinite(residual).T
        kinds = {
            "observed": residual[:, 0] == residual[:, 1],
            "right": ~has_upper,
            "left": ~has_lower & has_upper,
        }
        narrow = has_lower & has_upper & (upper - lower < NARROW)
        middle = lower + 0.5 * (upper - lower)
        lower, upper = np.where(narrow, middle, lower), np.where(narrow, middle, upper)
        kinds["observed"] = kinds["observed"] | narrow
        kinds["interval"] = has_lower & has_upper & ~kinds["observed"]
        with np.errstate(all="ignore"):
            return self.slopes(lower, upper, kinds)


def _first_guess(y: Floats, weight: Floats) -> tuple[float, float]:
    """Return mean and standard deviation of the logarithms, of the finite bound or of the middle."""
    with np.errstate(divide="ignore"):
        logarithms = np.log(y)
    unbounded = ~np.isfinite(logarithms)
    middle = np.where(unbounded, logarithms[:, ::-1], logarithms).mean(axis=1)
    location = float(np.average(middle, weights=weight))
    scale = float(np.sqrt(np.average(np.square(middle - location), weights=weight)))
    return location, max(scale, _MIN_SCALE * max(abs(location), 1.0))
