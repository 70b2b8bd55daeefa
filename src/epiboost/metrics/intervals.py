"""Coverage and width of predicted intervals."""

import numpy as np
import numpy.typing as npt

from epiboost._posterior.parameters import real_numbers
from epiboost._typing import Floats
from epiboost.metrics.inputs import check_target, check_weight, weighted_mean

_ENDS = 2


def interval_coverage_score(
    y_true: npt.ArrayLike, interval: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> float | Floats:
    """Return the share of targets that lie in their interval, ends included.

    Parameters
    ----------
    y_true : array of shape (n,)
        Numbers.
    interval : array of shape (n, 2) or (n, k, 2)
        Lower and upper ends, of one coverage or of k; they may be infinite.
    sample_weight : array of shape (n,), optional
        Weights: none negative, not all zero.

    Returns
    -------
    float, or array of shape (k,)
        Between 0 and 1; best when close to the nominal coverage.

    Raises
    ------
    ValueError
        For empty arrays, NaN, negative weights, a lower end above its upper end, and intervals that contain no number.

    Examples
    --------
    >>> interval_coverage_score([0.0, 5.0], [[-1.0, 1.0], [-1.0, 1.0]])
    0.5
    """
    interval = _check_interval(interval)
    y = check_target(y_true, len(interval))
    y = y.reshape(-1, *[1] * (interval.ndim - 2))
    inside = (interval[..., 0] <= y) & (y <= interval[..., 1])
    return _average(inside.astype(np.float64), check_weight(sample_weight, len(interval)))


def interval_width(interval: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None) -> float | Floats:
    """Return the mean width of intervals.

    Parameters
    ----------
    interval, sample_weight
        As in `interval_coverage_score`, whose errors are raised too.

    Returns
    -------
    float, or array of shape (k,)
        In units of the target, infinite if a width is; of two models with equal coverage the one with narrower
        intervals is better.

    Examples
    --------
    >>> interval_width([[-1.0, 1.0], [0.0, 4.0]])
    3.0
    """
    interval = _check_interval(interval)
    weight = check_weight(sample_weight, len(interval))
    with np.errstate(over="ignore"):
        return _average(interval[..., 1] - interval[..., 0], weight)


def _check_interval(interval: npt.ArrayLike) -> Floats:
    array = real_numbers(interval, "interval")
    if array.ndim not in {2, 3} or array.shape[-1] != _ENDS:
        message = f"interval must be of shape (n, 2) or (n, k, 2), got {array.shape}"
        raise ValueError(message)
    if array.size == 0:
        message = f"interval is empty, of shape {array.shape}; at least one sample is needed"
        raise ValueError(message)
    if np.isnan(array).any():
        message = f"interval must not be NaN, got {np.count_nonzero(np.isnan(array))} such ends"
        raise ValueError(message)
    if np.isposinf(array[..., 0]).any() or np.isneginf(array[..., 1]).any():
        message = "interval must contain a number, got a lower end of infinity or an upper end of minus infinity"
        raise ValueError(message)
    if (array[..., 0] > array[..., 1]).any():
        message = "interval must not have a lower end above its upper end"
        raise ValueError(message)
    return array


def _average(values: Floats, weight: Floats) -> float | Floats:
    mean = weighted_mean(values, weight)
    return float(mean) if mean.ndim == 0 else mean
