"""Quantiles of any family from out-of-fold probabilities: levels at which observed targets have fallen.

A row that a chain has not seen has the probability ``F(y)`` of a target that is at most its own (the probability
integral transform). If the family is right these are uniform; if not, the quantile at which a share q of them lies says
which level of the predicted distribution is exceeded with probability 1 − q. Counts are spread evenly
over their step of F.

>>> levels = ProbabilityLevels.of(np.linspace(0.01, 0.99, 99) ** 2, np.ones(99))
>>> levels.at(np.array([0.1, 0.5, 0.9])).round(2)
array([0.01, 0.25, 0.81])
"""

from dataclasses import dataclass

import numpy as np

from epiboost._boosting.objectives import Distribution
from epiboost._estimators.out_of_fold.residual_shape import weighted_order
from epiboost._typing import Floats

_SMALLEST = 1e-12
_SEED = 20260101


@dataclass(frozen=True, slots=True, eq=False)
class ProbabilityLevels:
    """Probabilities of targets of rows that a chain has not seen.

    Attributes
    ----------
    levels : array of shape (k,)
        In ascending order, strictly between 0 and 1.
    """

    levels: Floats

    @classmethod
    def of(cls, levels: Floats, weight: Floats) -> "ProbabilityLevels":
        """Return the levels of rows in any order; see `weighted_order`."""
        return cls(weighted_order(np.clip(levels, _SMALLEST, 1.0 - _SMALLEST), weight))

    def at(self, q: Floats) -> Floats:
        """Return the level below which a new row's probability falls with probability q, in the shape of q.

        Ranks are rounded away from the median, so that the share between two ends is not smaller than asked for. Beyond
        the extreme levels they go on in proportion.
        """
        n, q = len(self.levels), np.asarray(q, dtype=np.float64)
        position = np.round(q * (n + 1), 9)
        rank = np.where(q < 0.5, np.floor(position), np.ceil(position)).astype(np.int64)  # noqa: PLR2004 (the median)
        inside = self.levels[np.clip(rank, 1, n) - 1]
        low = self.levels[0] * q * (n + 1)
        high = 1.0 - (1.0 - self.levels[-1]) * (1.0 - q) * (n + 1)
        found = np.where(rank < 1, low, np.where(rank > n, high, inside))
        return np.clip(found, _SMALLEST, 1.0 - _SMALLEST)


def probabilities_of_targets(distribution: Distribution, parameters: Floats, y: Floats) -> Floats:
    """Return F(y) of each row, shape (n,); for counts a number drawn evenly from the step of F at y."""
    upper = distribution.cdf(parameters, y)
    if not distribution.is_discrete:
        return upper
    lower = distribution.cdf(parameters, y - 1.0)
    return lower + np.random.default_rng(_SEED).uniform(size=len(y)) * (upper - lower)
