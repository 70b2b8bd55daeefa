"""Conformal quantiles of held-out rows, and probabilities at a temperature.

Each held-out row gets a score, larger where the model did worse. The rank of a new row from the same distribution among
them is uniform, so its score is at most the k-th smallest of n with a probability of at least k / (n + 1), whatever the
model and the distribution. `conformal_quantile` returns that score.

What the scores depend on must not be fitted to the same rows.
"""

import math
import numbers

import numpy as np
import numpy.typing as npt

from epiboost._typing import Floats

_ROUNDING = 1e-12  # sums of weights are equal up to here


def temper(parameters: Floats, temperature: float) -> Floats:
    """Return probabilities to the power of 1 / temperature, normalised per member.

    >>> temper(np.array([[[0.8, 0.2]]]), 2.0).round(3)
    array([[[0.667, 0.333]]])
    """
    scaled: Floats = np.power(parameters / parameters.max(axis=2, keepdims=True), 1.0 / temperature)
    tempered: Floats = scaled / scaled.sum(axis=2, keepdims=True)
    return tempered


def conformal_quantile(scores: Floats, coverage: float, weight: Floats | None = None) -> float:
    """Return the score that a new row does not exceed with a probability of at least ``coverage``.

    Parameters
    ----------
    scores : array of shape (n,)
        Scores of held-out rows, in ascending order.
    coverage : float
        Strictly between 0 and 1.
    weight : array of shape (n,), optional
        How many rows each score stands for; the new row counts as one.

    Returns
    -------
    float
        The k-th smallest score, k = ceil((n + 1) coverage). With weights, the smallest score up to which the weights
        sum to at least (total + 1) coverage: weight two is the same as the score twice.

    Raises
    ------
    ValueError
        If n is too small for the guarantee: k would be above n.

    Examples
    --------
    >>> conformal_quantile(np.arange(1.0, 20.0), 0.9)
    18.0
    >>> conformal_quantile(np.array([1.0, 2.0]), 0.5, np.array([10.0, 1.0]))
    1.0
    """
    check_share(coverage, "coverage")
    up_to = np.arange(1.0, len(scores) + 1.0) if weight is None else np.cumsum(weight)
    total = float(up_to[-1]) if len(scores) else 0.0
    wanted = conformal_weight(total, coverage)
    if wanted * (1.0 - _ROUNDING) > total:
        message = (
            f"a coverage of {coverage} cannot be guaranteed by {total:.15g} rows; at least "
            f"{min_rows_for_coverage(coverage)} are needed"
        )
        raise ValueError(message)
    place = int(np.searchsorted(up_to, wanted * (1.0 - _ROUNDING)))
    return float(scores[min(place, len(scores) - 1)])


def conformal_weight(total: float, coverage: float) -> float:
    """Return the weight of the scores up to the conformal quantile, of scores that stand for ``total`` rows.

    >>> conformal_weight(19.0, 0.9)
    18.0
    """
    return round((total + 1.0) * coverage, 9)


def conformal_rank(n_scores: int, coverage: float) -> int:
    """Return k such that a new score is at most the k-th smallest of n with a probability of at least ``coverage``.

    >>> conformal_rank(19, 0.9)
    18
    """
    return math.ceil(conformal_weight(n_scores, coverage))


def min_rows_for_coverage(coverage: float) -> int:
    """Return the smallest number of calibration rows that can guarantee a coverage.

    >>> min_rows_for_coverage(0.9), min_rows_for_coverage(0.5)
    (9, 1)
    """
    return math.ceil(round(coverage / (1.0 - coverage), 9))


def check_coverages(coverage: float | npt.ArrayLike) -> Floats:
    """Return a coverage or several, each strictly between 0 and 1; a ValueError for anything else.

    >>> check_coverages([0.5, 0.9])
    array([0.5, 0.9])
    """
    levels = np.asarray(coverage, dtype=np.float64)
    if levels.ndim > 1 or not levels.size:
        message = f"coverage must be a number or a sequence of numbers, got the shape {levels.shape}"
        raise ValueError(message)
    for level in np.atleast_1d(levels).tolist():
        check_share(level, "coverage")
    return levels


def check_share(share: float, name: str) -> None:
    """Raise a ValueError unless the share is a number strictly between 0 and 1.

    >>> check_share(0.9, "coverage")
    """
    if not isinstance(share, numbers.Real) or not 0.0 < share < 1.0:
        message = f"{name} must be a number strictly between 0 and 1, got {share!r}"
        raise ValueError(message)


def check_flag(flag: bool, name: str) -> None:
    """Raise a ValueError unless the flag is True or False.

    >>> check_flag(True, "symmetric")
    """
    if type(flag) not in {bool, np.bool_}:
        message = f"{name} must be True or False, got {flag!r}"
        raise ValueError(message)
