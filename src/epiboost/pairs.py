"""Which pairs of categorical columns are worth a statistic of their own.

Trees find by themselves how columns of few values act together. A pair pays where its values are many and the target
depends on them in a way that neither column tells: after a linear fit of all single statistics, the ordered statistic
of what is left, taken over the pair's values, must foretell what is left.
"""

from collections.abc import Sequence

import numpy as np

from epiboost._typing import Floats, Integers
from epiboost.target_statistics import ordered

MOST_PAIRS = 20
_MOST_COLUMNS = 24  # of which all pairs are tried
_MOST_ROWS = 50_000  # on which they are tried
_LEAST_VALUES = 512  # with fewer, trees do without
_LEAST_GAIN = 10.0  # in variances of what is left: chance gives about one
_LEAST_SHARE = 0.002  # of all that is left: less is not worth a column


def pair_keys(first: Integers, second: Integers, n_second: int) -> Integers:
    """Return one number for each pair of codes.

    >>> pair_keys(np.array([0, 1, 1]), np.array([2, 0, 2]), 3).tolist()
    [2, 3, 5]
    """
    return first.astype(np.int64) * n_second + second


def choose_pairs(
    codes: Sequence[Integers], sizes: Sequence[int], target: Floats, weight: Floats, order: Integers
) -> list[tuple[int, int]]:
    """Return the pairs of columns that pay, best first.

    Parameters
    ----------
    codes : sequence of arrays of shape (n,)
        The columns, each with codes from 0.
    sizes : sequence of int
        How many codes each column has.
    target, weight : arrays of shape (n,)
    order : array of shape (n,)
        Row numbers in random order.
    """
    order = order[:_MOST_ROWS]
    codes = [column[order] for column in codes]
    target, weight, in_order = target[order], weight[order], np.arange(len(order))
    prior = float(np.average(target, weights=weight))
    single = np.stack([ordered(column, target, weight, in_order, prior=prior) for column in codes], axis=1)
    rest = target - _linear_fit(single, target, weight)
    told = np.average((target - prior)[:, np.newaxis] ** 2 - (target[:, np.newaxis] - single) ** 2, 0, weight)
    tried = np.argsort(-told, kind="stable")[:_MOST_COLUMNS].tolist()
    least = max(_LEAST_GAIN, _LEAST_SHARE * float(weight.sum()))
    found: list[tuple[float, int, int, int]] = []
    for place, one in enumerate(tried):
        for other in tried[:place]:
            first, second = min(one, other), max(one, other)
            if sizes[first] * sizes[second] <= _LEAST_VALUES:
                continue
            values, group = np.unique(pair_keys(codes[first], codes[second], sizes[second]), return_inverse=True)
            if len(values) <= max(_LEAST_VALUES, sizes[first], sizes[second]):  # or one column tells the other
                continue
            gain = _gain(ordered(group, rest, weight, in_order, prior=0.0), rest, weight)
            # columns that tell each other make the same pair twice
            if gain > least and not any(len(values) == n and np.isclose(gain, g) for g, _, _, n in found):
                found.append((gain, first, second, len(values)))
    found.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    return [(first, second) for _, first, second, _ in found[:MOST_PAIRS]]


def _linear_fit(columns: Floats, target: Floats, weight: Floats) -> Floats:
    table = np.concatenate([np.ones((len(columns), 1)), columns], axis=1)
    weighted = table * weight[:, np.newaxis]
    fitted: Floats = table @ np.linalg.lstsq(weighted.T @ table, weighted.T @ target, rcond=None)[0]
    return fitted


def _gain(statistic: Floats, rest: Floats, weight: Floats) -> float:
    """Return how much of the rest the statistic explains, in variances of the rest; negative if it misleads."""
    together, own = float(weight @ (statistic * rest)), float(weight @ statistic**2)
    variance = float(np.average(rest**2, weights=weight))
    return together * abs(together) / (own * variance) if own * variance > 0 else 0.0
