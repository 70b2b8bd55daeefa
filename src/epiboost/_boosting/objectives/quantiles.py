"""Quantiles of weighted numbers, for start values that outliers do not move."""

import numpy as np
from scipy.special import ndtri

from epiboost._boosting.objectives.normal import Normal
from epiboost._typing import Floats

_TAILS = (0.25, 0.05, 0.005)
_MIN_SHARE = 1e-3  # of the next wider range; below it, most numbers between are nearly equal


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

    Where half of the numbers are nearly equal, it is a wider range, and the standard deviation if nearly all are.

    >>> median_and_spread(np.append(np.arange(1000.0), 1e30), np.ones(1001))
    (500.0, 370.6505546264005)
    """
    ranges = []
    for tail in _TAILS:
        lower, median, upper = weighted_quantiles(y, weight, (tail, 0.5, 1.0 - tail))
        ranges.append((upper - lower) / float(-2.0 * ndtri(tail)))
    for narrow, wide in zip(ranges, [*ranges[1:], 0.0], strict=True):
        if narrow > _MIN_SHARE * wide:
            return median, narrow
    return median, Normal.of(y, weight).scale
