"""Ordinal encodings of columns with few values, the same for every row of a value."""

import numpy as np

from epiboost._encoding.target_statistics import full_means
from epiboost._typing import AnyArray, Floats, Integers

_MIN_ROWS_FOR_MEAN = 100  # rows of a value, whatever their weight: one row's target then hardly changes the mean
_MIN_DEVIATIONS = 4.0  # standard deviations above what chance gives


def ordinal_encodings(category: Integers, rows: Floats, targets: Floats, weight: Floats) -> list[Floats]:
    """Return ordinal encodings of a column with few values: by mean target (or else by name), and by frequency.

    These encodings use a row's own target, which is safe only where one row hardly matters. So values with few rows get
    the prior, and the mean target is used only if it differs between values by more than chance.

    Parameters
    ----------
    category : array of shape (n,)
        Value of each row, from 0.
    rows : array of shape (m,)
        Number of rows per value.
    targets : array of shape (n, k)
    weight : array of shape (n,)

    Returns
    -------
    list of arrays of shape (m + 1,)
        The last entry is for unseen values.
    """
    is_common = np.bincount(category) >= _MIN_ROWS_FOR_MEAN
    encodings: list[Floats] = []
    for target in targets.T if _means_differ(category, targets, is_common) else ():
        prior = float(np.average(target, weights=weight))
        mean = full_means(category, target, weight, len(rows), prior=prior)
        encodings.append(np.append(np.where(is_common, mean, prior), prior))
    return [*(encodings or [_ranks(np.arange(len(rows)))]), _ranks(np.argsort(rows, kind="stable"))]


def _means_differ(category: Integers, targets: Floats, is_common: AnyArray) -> bool:
    """Return whether the mean target differs between the common values by more than chance."""
    n_rows, counted = np.bincount(category)[is_common], is_common[category]
    if len(n_rows) < 2:  # noqa: PLR2004 (a difference needs two values)
        return False
    freedom = len(n_rows) - 1
    for target in targets.T:
        common = target[counted]
        sums = np.bincount(category[counted], weights=common - common.mean(), minlength=len(is_common))[is_common]
        spread = sums**2 / n_rows
        if spread.sum() > (freedom + _MIN_DEVIATIONS * np.sqrt(2.0 * freedom)) * common.var():
            return True
    return False


def _ranks(order: Integers) -> Floats:
    """Return the rank of each value in an order and, last, the middle rank for unseen values."""
    ranks = np.empty(len(order) + 1)
    ranks[order] = np.arange(len(order))
    ranks[-1] = (len(order) - 1) / 2.0
    return ranks
