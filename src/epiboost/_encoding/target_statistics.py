"""Target statistics: the mean target of each category, over preceding rows or over all rows; and its frequency.

The ordered statistic of a training row is the mean over the rows of its category that precede it in a random order,
mixed with `STRENGTH` rows of the prior. The row's own target is not in it. A row to be predicted gets the mean over all
training rows of its category.

>>> import numpy as np
>>> category, target = np.array([0, 1, 0, 0]), np.array([1.0, 1.0, 1.0, 0.0])
>>> ordered_means(category, target, np.ones(4), np.array([0, 1, 2, 3]), prior=0.5).round(2)
array([0.5 , 0.5 , 0.62, 0.7 ])
>>> full_means(category, target, np.ones(4), 2, prior=0.5).round(2)
array([0.58, 0.62])
"""

from typing import Literal

import numpy as np

from epiboost._native import native
from epiboost._typing import Floats, Integers

STRENGTH = 3.0
"""Weight of the prior in every statistic, in rows."""


def ordered_means(category: Integers, target: Floats, weight: Floats, order: Integers, *, prior: float) -> Floats:
    """Return each row's mean target over the preceding rows of its category, shape (n,).

    Parameters
    ----------
    category : array of shape (n,)
        Category of each row, from 0.
    target, weight : arrays of shape (n,)
    order : array of shape (n,)
        Row indices, first to last.
    prior : float
        The mean without rows.
    """
    return native().ordered_means(
        category,
        np.ascontiguousarray(target),
        weight,
        order,
        categories=int(category.max()) + 1,
        prior=prior,
        strength=STRENGTH,
    )


def full_means(category: Integers, target: Floats, weight: Floats, n_categories: int, *, prior: float) -> Floats:
    """Return the mean target of each category over all rows, shape (n_categories,)."""
    total = np.bincount(category, weights=weight * target, minlength=n_categories)
    return (total + STRENGTH * prior) / (np.bincount(category, weights=weight, minlength=n_categories) + STRENGTH)


def frequency_encoding(rows: Floats, *, unseen: Literal["median", "zero"]) -> Floats:
    """Return the rounded logarithm of each value's frequency and, last, that of unseen values; shape (m + 1,).

    It is rounded to half powers of two, which is too coarse to identify one of many values.

    Parameters
    ----------
    rows : array of shape (m,)
        Number of rows per value.
    unseen : {"median", "zero"}
        Frequency of unseen values: the median over rows, or zero, as is usual for a cross of rare values.
    """
    order = np.argsort(rows, kind="stable")
    median = order[np.searchsorted(np.cumsum(rows[order]), 0.5 * rows.sum())]
    last = rows[median] if unseen == "median" else 0.0
    return np.round(2.0 * np.log2(1.0 + np.append(rows, last)))
