"""Quantiles of weighted numbers, for start values that outliers do not move."""

import numpy as np

from epiboost._boosting.objectives.normal import Normal
from epiboost._typing import Floats

_INTERQUARTILE_RANGE = 1.35  # of a standard Normal
_MIN_SHARE = 1e-3  # of the standard deviation; below it, half of the numbers are nearly equal


def weighted_quantiles(y: Floats, weight: Floats, levels: tuple[float, ...]) -> tuple[float, ...]:
    """Return the smallest numbers below or at which lies at least each share of the weight.

    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), (0.25, 0.5))
    (1.0, 2.0)
    """
    order = np.argsort(y, kind="stable")
    ends = np.cumsum(weight[order])
    positions = np.searchsorted(ends, np.asarray(levels) * ends[-1])
    return tuple(float(y[order[min(position, len(y) - 1)]]) for position in positions)


def median_and_spread(y: Floats, weight: Floats) -> tuple[float, float]:
    """Return the median, and the interquartile range in units of that of a standard Normal.

    The standard deviation is returned where half of the numbers are nearly equal.

    >>> median_and_spread(np.array([0.0, 1.0, 2.0, 3.0, 1e9]), np.ones(5))
    (2.0, 1.4814814814814814)
    """
    lower, median, upper = weighted_quantiles(y, weight, (0.25, 0.5, 0.75))
    spread = (upper - lower) / _INTERQUARTILE_RANGE
    deviation = Normal.of(y, weight).scale
    return median, spread if spread > _MIN_SHARE * deviation else deviation
