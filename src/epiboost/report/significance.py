"""Significance of differences: how large a difference can be by chance.

>>> too_few(19), too_few(20)
(True, False)
>>> gain_in_standard_errors(np.array([1.0, 2.0] * 50), np.array([3.0, 3.5] * 50)) > CLEAR
True
"""

import numpy as np
from scipy.stats import rankdata

from epiboost._typing import Floats
from epiboost.metrics import ReliabilityCurve

MIN_ROWS = 20
"""With fewer rows there is no verdict."""
MIN_ERRORS = 5
"""With fewer errors there is no verdict on whether uncertainty detects errors."""
CLEAR = 2.0
"""Number of standard errors above which a difference is clear; chance exceeds it in one of 40 tables."""
_MEAN_DISTANCE_BY_CHANCE = 0.6
"""√n times the mean distance between the empirical and the true distribution of n uniform numbers is below this in
about 19 of 20 draws."""


def too_few(n_rows: int) -> bool:
    """Return whether there are too few rows for a verdict."""
    return n_rows < MIN_ROWS


def gain_in_standard_errors(losses: Floats, baseline: Floats) -> float | None:
    """Return by how many standard errors the mean loss is below that of a baseline, paired by row.

    Returns
    -------
    float or None
        None with too few rows, or if the difference is the same in all rows.
    """
    difference = baseline - losses
    spread = float(difference.std())
    if too_few(len(difference)) or spread <= 1e-12 * float(np.abs(difference).max()):
        return None
    return float(difference.mean() / spread * np.sqrt(len(difference)))


def rank_correlation(score: Floats, losses: Floats, *, n_errors: int) -> float | None:
    """Return the rank correlation of uncertainty and loss, in standard errors.

    Returns
    -------
    float or None
        None with too few rows or errors, or if all scores or all losses are equal.
    """
    if too_few(len(score)) or n_errors < MIN_ERRORS or np.ptp(score) == 0.0 or np.ptp(losses) == 0.0:
        return None
    return float(np.corrcoef(rankdata(score), rankdata(losses))[0, 1] * np.sqrt(len(score) - 1))


def calibration_error_by_chance(curve: ReliabilityCurve, n_rows: int, *, binned: bool) -> float:
    """Return the calibration error that a perfectly calibrated model rarely exceeds.

    It does in about one of 40 tables if binned, in about one of 20 otherwise.

    Parameters
    ----------
    curve : ReliabilityCurve
    n_rows : int
    binned : bool
        Whether each point of the curve has its own rows; if not, each point uses all rows.
    """
    if not binned:
        return _MEAN_DISTANCE_BY_CHANCE / float(np.sqrt(n_rows))
    share = np.clip(curve.predicted, 0.01, 0.99)
    error = np.sqrt(share * (1.0 - share) / np.maximum(curve.weight * n_rows, 1.0))
    mean = float(np.sum(curve.weight * error) * np.sqrt(2.0 / np.pi))
    return mean + CLEAR * float(np.sqrt(np.sum((curve.weight * error) ** 2) * (1.0 - 2.0 / np.pi)))
