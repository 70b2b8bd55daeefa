"""Scores before the first tree beside an offset: the mean probability of each class is its share of the rows.

>>> round(log_odds_beside(np.array([1.0, 3.0]), np.array([0.0, 1.0]), np.ones(2)), 6)
-2.0
"""

import numpy as np
from scipy.special import expit, softmax

from epiboost._typing import Floats

_MAX_STEPS = 200
_ENOUGH = 1e-9


def log_odds_beside(offset: Floats, y: Floats, weight: Floats) -> float:
    """Return the number that, added to the offsets, gives the second class its share.

    Parameters
    ----------
    offset, y, weight : arrays of shape (n,)
        Log-odds, classes 0 and 1, and weights.
    """
    share = float(np.average(y, weights=weight))
    log_odds = float(np.log(share) - np.log1p(-share))
    low, high = log_odds - float(offset.max()), log_odds - float(offset.min())
    for _ in range(_MAX_STEPS):  # bisection: the mean probability ascends
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        above = float(np.average(expit(middle + offset), weights=weight)) >= share
        low, high = (low, middle) if above else (middle, high)
    return 0.5 * (low + high)


def scores_beside(offset: Floats, y: Floats, weight: Floats) -> Floats:
    """Return the scores that, added to the offsets, give each class its share.

    Parameters
    ----------
    offset : array of shape (n, classes)
    y, weight : arrays of shape (n,)
    """
    shares = np.bincount(y.astype(np.int64), weights=weight, minlength=offset.shape[1]) / weight.sum()
    scores: Floats = np.log(shares)
    for _ in range(_MAX_STEPS):  # iterative proportional fitting
        mean = np.average(softmax(scores + offset, axis=1), axis=0, weights=weight)
        step = np.log(shares) - np.log(np.maximum(mean, np.finfo(np.float64).tiny))
        scores = scores + step
        if np.abs(step).max() < _ENOUGH:
            break
    centered: Floats = scores - scores.mean() + np.log(shares).mean()
    return centered
