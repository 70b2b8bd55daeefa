"""What the values of a categorical column are encoded as whatever the row: orders of few values, and frequencies."""

from typing import Literal

import numpy as np

from epiboost._encoding.target_statistics import whole
from epiboost._typing import AnyArray, Floats, Integers

_ROWS_FOR_MEAN = 100  # of a value, whatever they weigh: then what a row's own target adds to the mean matters little
_MORE_THAN_CHANCE = 4.0  # standard deviations


def orders_of_few(group: Integers, rows: Floats, targets: Floats, weight: Floats) -> list[Floats]:
    """Return orders of few values that are the same for every row of a value, its own target or not.

    By its own target a row may only be told where that cannot matter: values of few rows stand at the prior, and means
    that differ by chance alone give no order.

    Parameters
    ----------
    group : array of shape (n,)
        Each row's value, from 0.
    rows : array of shape (m,)
        How many rows each value has.
    targets : array of shape (n, k)
    weight : array of shape (n,)

    Returns
    -------
    list of arrays of shape (m + 1,)
        The last is for a value that was not seen.
    """
    known = np.bincount(group) >= _ROWS_FOR_MEAN
    orders: list[Floats] = []
    for target in targets.T if _differ(group, targets, known) else ():
        prior = float(np.average(target, weights=weight))
        mean = whole(group, target, weight, len(rows), prior=prior)
        orders.append(np.append(np.where(known, mean, prior), prior))
    return [*(orders or [_places(np.arange(len(rows)))]), _places(np.argsort(rows, kind="stable"))]


def frequency(rows: Floats, *, unseen: Literal["middle", "none"]) -> Floats:
    """Return roughly how often each value occurs and, last, what stands for a value that was not seen.

    In half powers of two, which is too coarse to tell which of many values it is.

    Parameters
    ----------
    rows : array of shape (m,)
        How many rows each value has.
    unseen : {"middle", "none"}
        How often half of the rows' values occur at most; or never, as a row of rare values together does.
    """
    order = np.argsort(rows, kind="stable")
    middle = order[np.searchsorted(np.cumsum(rows[order]), 0.5 * rows.sum())]
    last = rows[middle] if unseen == "middle" else 0.0
    return np.round(2.0 * np.log2(1.0 + np.append(rows, last)))


def _differ(group: Integers, targets: Floats, known: AnyArray) -> bool:
    """Say whether the mean target differs between the known values by more than chance."""
    n_rows, counted = np.bincount(group)[known], known[group]
    if len(n_rows) < 2:  # noqa: PLR2004 (a difference)
        return False
    free = len(n_rows) - 1
    for target in targets.T:
        own = target[counted]
        spread = np.bincount(group[counted], weights=own - own.mean(), minlength=len(known))[known] ** 2 / n_rows
        if spread.sum() > (free + _MORE_THAN_CHANCE * np.sqrt(2.0 * free)) * own.var():
            return True
    return False


def _places(order: Integers) -> Floats:
    """Return where each value stands in an order and, last, the middle for one that was not seen."""
    places = np.empty(len(order) + 1)
    places[order] = np.arange(len(order))
    places[-1] = (len(order) - 1) / 2.0
    return places
