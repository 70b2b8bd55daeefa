"""Probabilities that a user gives: coverages of intervals and levels of quantiles."""

import numpy as np
import numpy.typing as npt

from epiboost._typing import Floats

_MAX_BELOW_ONE = 1.0 - float(np.finfo(np.float64).eps) / 2


def interval_ends(coverage: float | npt.ArrayLike) -> Floats:
    """Return the probabilities of the two ends of central intervals, shape (2,) or (k, 2).

    >>> interval_ends(0.9).round(2)
    array([0.05, 0.95])
    """
    tails = (1.0 - check_coverage(coverage)) / 2
    return np.stack([tails, np.minimum(1.0 - tails, _MAX_BELOW_ONE)], axis=-1)


def check_coverage(coverage: float | npt.ArrayLike) -> Floats:
    """Return coverages as an array of shape () or (k,); a ValueError unless they are strictly between 0 and 1."""
    levels = np.asarray(coverage, dtype=np.float64)
    if levels.ndim > 1 or not levels.size or not ((levels > 0.0) & (levels < 1.0)).all():
        message = f"coverage must be a number, or a sequence of them, strictly between 0 and 1, got {coverage!r}"
        raise ValueError(message)
    return levels


def check_quantiles(q: float | npt.ArrayLike) -> Floats:
    """Return probabilities as an array; a ValueError unless they are strictly between 0 and 1."""
    levels = np.asarray(q, dtype=np.float64)
    if levels.ndim > 1:
        message = f"q must be a number or one-dimensional, got the shape {levels.shape}"
        raise ValueError(message)
    if not ((levels > 0.0) & (levels < 1.0)).all():
        message = f"q must be strictly between 0 and 1, got {q!r}"
        raise ValueError(message)
    return levels
