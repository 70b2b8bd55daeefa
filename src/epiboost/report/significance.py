"""What chance alone brings about in a table of few rows: a verdict must be clearer than that.

>>> too_few(19), too_few(20)
(True, False)
>>> ahead(np.array([1.0, 2.0] * 50), np.array([3.0, 3.5] * 50)) > CLEAR
True
"""

import numpy as np
from scipy.stats import rankdata

from epiboost._typing import Floats
from epiboost.metrics import ReliabilityCurve

FEWEST_ROWS = 20
"""With fewer rows nothing is judged."""
FEWEST_ERRORS = 5
"""With fewer errors it is not judged whether they are found."""
CLEAR = 2.0
"""Standard errors beyond which a difference is called clear: chance goes that far in one of 40 tables."""
_BRIDGE = 0.6
"""The mean distance of n uniform numbers' distribution from its line, times √n, is below this in 39 of 40 draws."""


def too_few(n_rows: int) -> bool:
    """Return whether there are too few rows for a verdict."""
    return n_rows < FEWEST_ROWS


def ahead(losses: Floats, rival: Floats) -> float | None:
    """Return by how many standard errors losses are smaller than a rival's, row by row.

    Returns
    -------
    float or None
        None with too few rows, or if the difference is the same in all of them.
    """
    difference = rival - losses
    spread = float(difference.std())
    if too_few(len(difference)) or spread <= 1e-12 * float(np.abs(difference).max()):
        return None
    return float(difference.mean() / spread * np.sqrt(len(difference)))


def goes_with(doubt: Floats, losses: Floats, *, n_errors: int) -> float | None:
    """Return by how many standard errors larger doubts go with larger losses (correlation of ranks).

    Returns
    -------
    float or None
        None with too few rows or errors, or if all doubts or all losses are equal.
    """
    if too_few(len(doubt)) or n_errors < FEWEST_ERRORS or np.ptp(doubt) == 0.0 or np.ptp(losses) == 0.0:
        return None
    return float(np.corrcoef(rankdata(doubt), rankdata(losses))[0, 1] * np.sqrt(len(doubt) - 1))


def usual_calibration_error(curve: ReliabilityCurve, n_rows: int, *, binned: bool) -> float:
    """Return what the calibration error of a model that says what it knows stays below, but for one table in 40.

    Parameters
    ----------
    curve : ReliabilityCurve
    n_rows : int
    binned : bool
        Whether each point has rows of its own; if not, each is asked of all rows.
    """
    if not binned:
        return _BRIDGE / float(np.sqrt(n_rows))
    share = np.clip(curve.predicted, 0.01, 0.99)
    error = np.sqrt(share * (1.0 - share) / np.maximum(curve.weight * n_rows, 1.0))
    mean = float(np.sum(curve.weight * error) * np.sqrt(2.0 / np.pi))
    return mean + CLEAR * float(np.sqrt(np.sum((curve.weight * error) ** 2) * (1.0 - 2.0 / np.pi)))
