"""Significance of differences: how large a difference can be by chance.

>>> too_few(19), too_few(20)
(True, False)
>>> gain_in_standard_errors(np.array([1.0, 2.0] * 50), np.array([3.0, 3.5] * 50)) > CLEAR
True
"""

import numpy as np
from scipy.stats import betabinom, rankdata

from epiboost._typing import AnyArray, Floats
from epiboost.metrics import ReliabilityCurve

MIN_ROWS = 20
"""With fewer rows there is no verdict."""
MIN_ERRORS = 5
"""With fewer errors there is no verdict on whether uncertainty detects errors."""
CLEAR = 2.0
"""Number of standard errors above which a difference is clear; chance exceeds it in one of 40 tables."""
RELEVANT = 0.02
"""A smaller difference of two frequencies calls for no care, even if it is clear: two percentage points."""
RARELY = 1.0 / 40.0
"""Share of tables in which chance exceeds what it is said to explain."""
_MEAN_DISTANCE_BY_CHANCE = 0.7
"""√n times the mean distance between the empirical and the true distribution of n uniform numbers exceeds this in about
one of 40 draws."""

_ROUNDING = 1e-12  # relative to the largest difference


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
    difference = difference / (float(np.abs(difference).max()) or 1.0)  # squares of large losses overflow
    spread = float(difference.std())
    if too_few(len(difference)) or spread <= _ROUNDING:
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


def error_by_chance(losses: Floats, accepted: AnyArray) -> float:
    """Return the mean loss below which that of the accepted rows rarely is if they are accepted at random.

    Two standard errors below the mean of all rows, for a draw without replacement.

    >>> round(error_by_chance(np.array([0.0, 1.0] * 50), np.arange(100) < 90), 3)
    0.466
    """
    n_rows, n_accepted = len(losses), int(np.count_nonzero(accepted))
    left_out = (n_rows - n_accepted) / (n_accepted * max(n_rows - 1, 1))
    size = float(np.abs(losses).max()) or 1.0  # squares of large losses overflow
    return max(float(losses.mean() - CLEAR * size * (losses / size).std() * np.sqrt(left_out)), 0.0)


def frequency_by_chance(nominal: float, n_rows: float) -> float:
    """Return the difference to its expectation that an observed frequency rarely exceeds: two standard errors."""
    share = min(max(nominal, 0.01), 0.99)
    return CLEAR * float(np.sqrt(share * (1.0 - share) / n_rows))


def flagged_by_chance(n_reference: int, n_rows: int, false_alarm_rate: float) -> float:
    """Return the share of rows above the threshold of a detector that is exceeded in one of 40 tables by chance.

    The threshold is a quantile of ``n_reference`` rows. The number of other rows of the same distribution above it has
    a beta-binomial distribution, for any distribution without ties.

    >>> flagged_by_chance(400, 400, 0.05), flagged_by_chance(20, 20, 0.05)
    (0.0825, 0.2)
    """
    rank = int(np.ceil(round((1.0 - false_alarm_rate) * (n_reference + 1), 9)))
    return float(betabinom.ppf(1.0 - RARELY, n_rows, n_reference + 1 - rank, rank)) / n_rows


def auc_by_chance(n_rows: int, n_other: int) -> float:
    """Return the difference to one half that the AUC of two tables of one distribution rarely exceeds."""
    return CLEAR * float(np.sqrt((n_rows + n_other + 1) / (12.0 * n_rows * n_other)))


def calibration_error_by_chance(curve: ReliabilityCurve, n_rows: float, *, binned: bool) -> float:
    """Return the calibration error that a perfectly calibrated model exceeds in about one of 40 tables.

    Parameters
    ----------
    curve : ReliabilityCurve
    n_rows : float
        Number of rows; with calibration rows, of which the quantiles vary as well, a smaller equivalent number.
    binned : bool
        Whether each point of the curve has its own rows; if not, each point uses all rows.
    """
    if not binned:
        return _MEAN_DISTANCE_BY_CHANCE / float(np.sqrt(n_rows))
    share = np.clip(curve.predicted, 0.01, 0.99)
    error = np.sqrt(share * (1.0 - share) / np.maximum(curve.weight * n_rows, 1.0))
    mean = float(np.sum(curve.weight * error) * np.sqrt(2.0 / np.pi))
    return mean + CLEAR * float(np.sqrt(np.sum((curve.weight * error) ** 2) * (1.0 - 2.0 / np.pi)))
