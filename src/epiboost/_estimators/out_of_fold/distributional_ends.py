"""Ends of CV+ intervals of any family: quantiles of each chain at the scores of its rows, ranked together.

>>> from epiboost._boosting.objectives import distribution_named
>>> chain, scores = np.array([[[1.0, 4.0]]]), (np.arange(1.0, 10.0) / 4.0,)
>>> distributional_ends(distribution_named("normal"), chain, scores, 8).round(3)  # 2 deviations on both sides
array([[-3.,  5.]])
"""

from collections.abc import Sequence

import numpy as np

from epiboost._boosting.objectives import Distribution
from epiboost._estimators.distributional import probit
from epiboost._typing import Floats

_TAIL = 1e-15  # probability beyond which no end lies
_BISECTIONS = 100
_MARGIN = 1e-9


def distributional_ends(
    distribution: Distribution, predicted: Floats, scores: Sequence[Floats], needed: float
) -> Floats:
    """Return both ends of each row's interval, shape (n, 2).

    Parameters
    ----------
    distribution : Distribution
    predicted : array of shape (chains, n, outputs)
    scores : sequence of arrays
        Of each chain, in ascending order.
    needed : float
        Rank of the upper end among the ends of all scores, and of the lower end from above.
    """
    low = distribution.quantile(predicted, np.array(_TAIL)).min(axis=0)
    high = distribution.quantile(predicted, np.array(1.0 - _TAIL)).max(axis=0)

    def n_within(y: Floats, *, upper: bool) -> Floats:
        """Return how many scores have an upper end of at most y, or a lower end of at least y."""
        count = np.zeros(len(y))
        if distribution.is_discrete:
            y = np.floor(y) if upper else np.ceil(y) - 1.0
        for chain, known in zip(predicted, scores, strict=True):
            reached = probit(distribution.cdf(chain, y), distribution.sf(chain, y))
            count += np.searchsorted(known, (reached if upper else -reached) + _MARGIN, side="right")
        return count

    ends = []
    for upper in (False, True):
        inside, outside = (low.copy(), high.copy()) if not upper else (high.copy(), low.copy())
        for _ in range(_BISECTIONS):
            middle = 0.5 * (inside + outside)
            enough = n_within(middle, upper=upper) >= needed
            inside, outside = np.where(enough, middle, inside), np.where(enough, outside, middle)
        unbounded = np.inf if upper else -np.inf
        ends.append(np.where(n_within(high if upper else low, upper=upper) >= needed, inside, unbounded))
    lower_end, upper_end = ends
    if distribution.is_discrete:
        lower_end, upper_end = np.ceil(lower_end), np.floor(upper_end)
    return np.stack([lower_end, upper_end], axis=1)
