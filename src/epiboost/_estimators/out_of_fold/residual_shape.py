"""Quantiles of a regression from out-of-fold residuals: the shape of the errors is that of the table, not a Normal's.

Residuals are divided by their standard deviation under the recalibrated model. The quantile of a new row is its mean
plus its own standard deviation times the quantile of these ratios, at the rank that conformal prediction uses. Beyond
the extreme ratios the tail is continued in proportion to that of a Normal.

>>> shape = ResidualShape.of(np.linspace(-2.0, 2.0, 99))
>>> shape.quantile(np.array([0.1, 0.9, 0.999])).round(2)
array([-1.63,  1.63,  2.66])
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from epiboost._typing import Floats

_MAX_KEPT = 2000  # ratios in a model; more change the third digit
_MIN_TAIL = 1.0  # standard deviations at which a tail may start


def weighted_order(values: Floats, weight: Floats) -> Floats:
    """Return values in ascending order, each as often as its weight says; of many, evenly spaced ones are kept.

    Weights that are below one on average count as if it were one.

    >>> weighted_order(np.array([3.0, 1.0]), np.array([1.0, 2.0]))
    array([1., 1., 3.])
    """
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weight[order])
    ends *= max(1.0, len(values) / ends[-1])
    count = int(min(max(round(float(ends[-1])), 1), _MAX_KEPT))
    positions = np.arange(1, count + 1) * (ends[-1] + 1.0) / (count + 1)
    found = np.searchsorted(ends, positions - 1e-9 * ends[-1])
    kept: Floats = values[order][np.minimum(found, len(values) - 1)]
    return kept


@dataclass(frozen=True, slots=True, eq=False)
class ResidualShape:
    """Standardised out-of-fold residuals.

    Attributes
    ----------
    ratios : array of shape (k,)
        In ascending order.
    """

    ratios: Floats

    @classmethod
    def of(cls, ratios: Floats, weight: Floats | None = None) -> "ResidualShape":
        """Return the shape of residuals in any order; see `weighted_order`."""
        return cls(weighted_order(ratios, np.ones(len(ratios)) if weight is None else weight))

    def quantile(self, q: Floats) -> Floats:
        """Return the ratio below which a new row's residual falls with probability q, in the shape of q.

        Ranks are rounded away from the median, so that the share between two ends is not smaller than asked for.
        """
        n, q = len(self.ratios), np.asarray(q, dtype=np.float64)
        position = np.round(q * (n + 1), 9)
        rank = np.where(q < 0.5, np.floor(position), np.ceil(position)).astype(np.int64)  # noqa: PLR2004 (the median)
        rank = np.where(q == 0.5, np.round(position).astype(np.int64), rank)  # noqa: PLR2004 (the median)
        inside = self.ratios[np.clip(rank, 1, n) - 1]
        low = min(float(self.ratios[0]), -_MIN_TAIL) * ndtri(q) / ndtri(1.0 / (n + 1))
        high = max(float(self.ratios[-1]), _MIN_TAIL) * ndtri(q) / ndtri(n / (n + 1))
        return np.where(rank < 1, np.minimum(low, inside), np.where(rank > n, np.maximum(high, inside), inside))
