"""What the target was like among rows of one category: in a random order of the rows, and as a whole.

The ordered statistic of a row comes from the rows of its category that stand before it in a random order, mixed with
`STRENGTH` rows of the prior, so that a row's own target is not in it. The statistic of a row to be predicted comes from
all training rows.

>>> import numpy as np
>>> group, target = np.array([0, 1, 0, 0]), np.array([1.0, 1.0, 1.0, 0.0])
>>> ordered(group, target, np.ones(4), np.array([0, 1, 2, 3]), prior=0.5).round(2)
array([0.5 , 0.5 , 0.62, 0.7 ])
>>> whole(group, target, np.ones(4), 2, prior=0.5).round(2)
array([0.58, 0.62])
"""

import numpy as np

from epiboost._native import native
from epiboost._typing import Floats, Integers

STRENGTH = 3.0
"""Rows of the prior in every statistic."""


def ordered(group: Integers, target: Floats, weight: Floats, order: Integers, *, prior: float) -> Floats:
    """Return each row's mean target over the rows of its group that come before it.

    Parameters
    ----------
    group : array of shape (n,)
        Each row's category, from 0.
    target, weight : arrays of shape (n,)
    order : array of shape (n,)
        Row numbers, first to last.
    prior : float
        The mean of no rows.
    """
    n_groups = int(group.max()) + 1
    mean: Floats = native().ordered_means(group, np.ascontiguousarray(target), weight, order, n_groups, prior, STRENGTH)
    return mean


def whole(group: Integers, target: Floats, weight: Floats, n_groups: int, *, prior: float) -> Floats:
    """Return each group's mean target, shape (n_groups,)."""
    total = np.bincount(group, weights=weight * target, minlength=n_groups)
    return (total + STRENGTH * prior) / (np.bincount(group, weights=weight, minlength=n_groups) + STRENGTH)
