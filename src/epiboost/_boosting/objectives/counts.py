"""What families of counts have in common: targets in units of their mean, whose logarithm is a score, and quantiles."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from epiboost._boosting.objectives.number_objective import NumberObjective
from epiboost._typing import Floats

_MAX_LOG_MEAN = 30.0  # of the ratio to the mean of the target; as in the native core
_MAX_COUNT = 1e100  # a mean may be predicted that is exp(30) times as large, and has a finite square
_MAX_STEPS = 200
_MAX_EXACT = 2.0**53  # beyond, not every whole number is a float


class CountObjective(NumberObjective):
    """Counts, measured in units of their mean; the first score is the logarithm of a row's mean in these units.

    Attributes
    ----------
    log_mean : float
        Logarithm of the mean of the target.
    """

    __slots__ = ()

    support: ClassVar[str] = "counts: whole numbers of at least 0 and at most 1e+100"

    log_mean: float

    @classmethod
    def is_possible(cls, y: Floats) -> Floats:
        """Return whether numbers are counts, and not too large."""
        return np.logical_and(is_count(y), y <= _MAX_COUNT)

    @property
    def constants(self) -> tuple[float, ...]:
        """Mean of the target."""
        return (float(np.exp(self.log_mean)),)

    def encode(self, y: Floats) -> Floats:
        """Return counts in units of their mean."""
        return np.asarray(y * np.exp(-self.log_mean))

    def decode(self, encoded: Floats) -> Floats:
        """Return the counts."""
        return np.asarray(np.rint(encoded * np.exp(self.log_mean)))


def mean_ratio(scores: Floats) -> Floats:
    """Return the ratio of each row's mean to that of the target."""
    ratio: Floats = np.exp(np.clip(scores, -_MAX_LOG_MEAN, _MAX_LOG_MEAN))
    return ratio


def smallest_count(cdf: Callable[[Floats], Floats], guess: Floats, q: Floats) -> Floats:
    """Return the smallest count at which a distribution function is at least q, by doubling steps and bisection.

    Parameters
    ----------
    cdf : callable
        Distribution functions at one count each.
    guess, q : arrays of one shape
        Counts to begin with, and levels strictly between 0 and 1.

    Examples
    --------
    >>> from scipy.special import pdtr
    >>> smallest_count(lambda count: pdtr(count, 3.0), np.array([1.0, 9.0]), np.array([0.5, 0.99]))
    array([3., 8.])
    """
    upper = np.floor(np.maximum(guess, 0.0))
    step = np.ones_like(upper)
    lower = upper - 1.0
    for _ in range(_MAX_STEPS):
        low = (lower >= 0.0) & (cdf(np.maximum(lower, 0.0)) >= q)
        high = cdf(upper) < q
        if not (low | high).any():
            break
        lower = np.where(high, upper, lower)
        upper = np.where(low, lower, upper)
        lower = np.where(low, np.maximum(np.floor(lower - step), -1.0), lower)
        upper = np.where(high, upper + step, upper)
        step = np.where(upper < _MAX_EXACT, 2.0, 1e3) * step
    for _ in range(_MAX_STEPS):
        middle = np.floor(lower + 0.5 * (upper - lower))
        wide = (middle > lower) & (middle < upper)
        if not wide.any():
            break
        above = cdf(np.maximum(middle, 0.0)) >= q
        upper = np.where(wide & above, middle, upper)
        lower = np.where(wide & ~above, middle, lower)
    return upper


def is_count(y: Floats) -> Floats:
    """Return whether numbers are whole and not negative."""
    return np.asarray((y >= 0.0) & (y == np.floor(y)))


def log_mean_of(y: Floats, weight: Floats) -> float:
    """Return the logarithm of the weighted mean; that of half a count in all rows, if all are zero."""
    largest = float(y.max()) or 1.0
    mean = largest * float(np.average(y / largest, weights=weight))  # sums of large numbers must not overflow
    return float(np.log(max(mean, 0.5 / float(weight.sum()))))
