"""Concordance of predictions with durations of which only bounds may be known.

A pair of rows can be compared if one is known to end before the other: its upper bound is below the other's lower
bound, or equal to it where the other is known to last longer. It is concordant if the prediction of the one that ends
first is smaller; equal predictions count one half.
"""

import numpy as np

from epiboost._typing import Floats, Integers


def concordance(bounds: Floats, predicted: Floats, weight: Floats, end_weight: Floats | None = None) -> float:
    """Return the share of concordant pairs; 0.5 if no pair can be compared.

    Parameters
    ----------
    bounds : array of shape (n, 2)
        Lower and upper bounds; see `epiboost._boosting.objectives.censored`.
    predicted : array of shape (n,)
        Larger for rows that last longer.
    weight : array of shape (n,)
        A pair weighs the product of the weights of its rows.
    end_weight : array of shape (n,), optional
        Weight of the row that ends first, beside that.

    Examples
    --------
    >>> bounds = np.array([[1.0, 1.0], [2.0, np.inf], [3.0, 3.0]])
    >>> concordance(bounds, np.array([0.1, 0.2, 0.05]), np.ones(3))
    0.5
    """
    first = np.flatnonzero(np.isfinite(bounds[:, 1]) & (weight > 0.0))
    if end_weight is not None:
        first = first[end_weight[first] > 0.0]
    outlasts = bounds[:, 1] > bounds[:, 0]
    order = np.lexsort((outlasts, bounds[:, 0]))  # of equal lower bounds, rows that last longer come last
    keys = bounds[order, 0]
    after = np.searchsorted(keys, bounds[first, 1], side="left")
    n_not_longer = np.concatenate([[0], np.cumsum(~outlasts[order])])
    same_end = np.searchsorted(keys, bounds[first, 1], side="right")
    after += n_not_longer[same_end] - n_not_longer[after]  # rows that end at the same time are no later ones
    rank = np.unique(predicted, return_inverse=True)[1]
    at_most, below = _weights_of_later_rows(rank[order], weight[order], after, rank[first])
    comparable = _totals(weight[order], after)
    larger, tied = comparable - at_most, at_most - below
    factor = weight[first] * (1.0 if end_weight is None else end_weight[first])
    total = float((factor * comparable).sum())
    concordant = float((factor * (larger + 0.5 * tied)).sum())
    return concordant / total if total > 0.0 else 0.5


def _totals(weight: Floats, start: Integers) -> Floats:
    """Return the sum of the weights from each position on."""
    ends = np.concatenate([[0.0], np.cumsum(weight)])
    totals: Floats = ends[-1] - ends[start]
    return totals


def _weights_of_later_rows(rank: Integers, weight: Floats, start: Integers, own: Integers) -> tuple[Floats, Floats]:
    """Return, for each query, the weight of rows from ``start`` on whose rank is at most, and below, its own.

    Rows are divided into blocks of 1, 2, 4, … rows, sorted by rank; the rows from a position on are one block at most
    of each size.
    """
    n = len(rank)
    size = 1 << max(n - 1, 1).bit_length()
    top = int(rank.max(initial=0)) + 2
    ranks = np.concatenate([rank, np.full(size - n, top - 1)])
    weights = np.concatenate([weight, np.zeros(size - n)])
    at_most, below, position = np.zeros(len(start)), np.zeros(len(start)), start.astype(np.int64).copy()
    for level in range(size.bit_length()):
        length = 1 << level
        used = np.flatnonzero((position & length) != 0) if length < size else np.flatnonzero(position == 0)
        if not used.size:
            continue
        block = np.arange(size) >> level
        order = np.lexsort((ranks, block))
        keys = block[order] * top + ranks[order]
        ends = np.concatenate([[0.0], np.cumsum(weights[order])])
        own_block = position[used] >> level
        begin = ends[np.minimum(own_block * length, size)]
        key = own_block * top + own[used]
        at_most[used] += ends[np.searchsorted(keys, key, side="right")] - begin
        below[used] += ends[np.searchsorted(keys, key, side="left")] - begin
        position[used] += length
    return at_most, below
