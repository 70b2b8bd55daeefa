"""Metrics of censored durations: concordance, and Brier losses of survival curves.

Targets are what `EpiBoostSurvivalRegressor.fit` takes. Metrics weighted by the inverse probability of censoring (IPCW)
need observed and right-censored durations, and the targets of the training rows, which give that probability.
"""

import numpy as np
import numpy.typing as npt
from scipy.integrate import trapezoid

from epiboost._inputs.durations import durations_of, right_censored
from epiboost._posterior.survival_curves import check_times
from epiboost._survival.concordance import concordance
from epiboost._survival.kaplan_meier import KaplanMeier
from epiboost._typing import AnyArray, Column, Floats
from epiboost.metrics.inputs import check_weight

_MIN_TIMES = 2


def concordance_score(y_true: Column, predicted: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None) -> float:
    """Return Harrell's concordance index: the share of pairs of rows whose durations are predicted in the right order.

    A pair counts if one of its rows is known to end before the other. Bounds of any kind are allowed.

    Parameters
    ----------
    y_true : array of shape (n,) or (n, 2)
        Durations, see `EpiBoostSurvivalRegressor.fit`.
    predicted : array of shape (n,)
        Predicted durations, or anything that is larger for rows that last longer: minus a risk.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float
        From 0 to 1; equal predictions count one half, and 0.5 is returned if no pair can be compared.

    Examples
    --------
    >>> concordance_score([1.0, 2.0, 3.0], [10.0, 30.0, 20.0])
    0.6666666666666666
    """
    bounds = durations_of(y_true)
    return concordance(bounds, _one_per_row(predicted, len(bounds)), check_weight(sample_weight, len(bounds)))


def uno_concordance_score(
    y_true: Column, predicted: npt.ArrayLike, *, y_train: Column, tau: float | None = None
) -> float:
    """Return Uno's concordance index, which does not depend on how rows were censored.

    Pairs are weighted by the inverse squared probability that the row that ends first was not censored before.

    Parameters
    ----------
    y_true : array of shape (n,) or (n, 2)
        Observed or right-censored durations.
    predicted : array of shape (n,)
        Larger for rows that last longer.
    y_train : array of shape (m,) or (m, 2)
        Durations of the training rows.
    tau : float, optional
        Rows that end at this time or later are not the first of a pair. Beyond the longest duration of the training
        rows, nothing is known of the censoring.

    Returns
    -------
    float

    Examples
    --------
    >>> y = np.array([[1.0, 1.0], [2.0, np.inf], [3.0, 3.0]])
    >>> uno_concordance_score(y, [1.0, 2.0, 3.0], y_train=y)
    1.0
    """
    bounds, censoring = durations_of(y_true), _censoring(y_train)
    event, time = right_censored(bounds)
    kept = event if tau is None else event & (time < tau)
    weight = np.zeros(len(time))
    weight[kept] = np.square(1.0 / _positive(censoring(time[kept]), time[kept]))
    return concordance(bounds, _one_per_row(predicted, len(bounds)), np.ones(len(bounds)), weight)


def survival_brier_loss(y_true: Column, survival: npt.ArrayLike, times: npt.ArrayLike, *, y_train: Column) -> Floats:
    """Return the Brier loss of survival curves at each time: the mean squared error of probabilities of lasting longer.

    Rows that were censored before a time do not count there, and others count for them, by the inverse probability of
    not being censored (Graf et al. 1999).

    Parameters
    ----------
    y_true : array of shape (n,) or (n, 2)
        Observed or right-censored durations.
    survival : array of shape (n, k)
        Predicted probability of lasting longer than each time.
    times : array of shape (k,)
        In ascending order, within the durations of the training rows.
    y_train : array of shape (m,) or (m, 2)
        Durations of the training rows.

    Returns
    -------
    array of shape (k,)

    Examples
    --------
    >>> survival_brier_loss([1.0, 3.0], [[0.5, 0.0], [1.0, 0.5]], [1.5, 2.5], y_train=[1.0, 3.0])
    array([0.125, 0.125])
    """
    event, time = right_censored(durations_of(y_true))
    points = check_times(times)
    curves = np.asarray(survival, dtype=np.float64)
    if curves.shape != (len(time), len(points)) or not ((curves >= 0.0) & (curves <= 1.0)).all():
        message = (
            f"survival must be probabilities of shape ({len(time)}, {len(points)}), one row per target and one column "
            f"per time; got shape {curves.shape}"
        )
        raise ValueError(message)
    censoring = _censoring(y_train)
    ended = (time[:, np.newaxis] <= points) & event[:, np.newaxis]
    lasts = time[:, np.newaxis] > points
    of_row = np.ones(len(time))
    counts = event & (time <= points[-1])  # later events are not over at any of the times
    of_row[counts] = _positive(censoring(time[counts]), time[counts])
    of_time = _positive(censoring(points), points)
    losses = ended * np.square(curves) / of_row[:, np.newaxis] + lasts * np.square(1.0 - curves) / of_time
    mean: Floats = losses.mean(axis=0)
    return mean


def integrated_brier_loss(y_true: Column, survival: npt.ArrayLike, times: npt.ArrayLike, *, y_train: Column) -> float:
    """Return the mean of `survival_brier_loss` over time, between the first and the last of the times.

    Parameters
    ----------
    y_true, survival, times, y_train
        See `survival_brier_loss`; at least two times.

    Returns
    -------
    float

    Examples
    --------
    >>> integrated_brier_loss([1.0, 3.0], [[0.5, 0.0], [1.0, 0.5]], [1.5, 2.5], y_train=[1.0, 3.0])
    0.125
    """
    points = check_times(times)
    if len(points) < _MIN_TIMES:
        message = f"an integral over time needs at least {_MIN_TIMES} times, got {len(points)}"
        raise ValueError(message)
    losses = survival_brier_loss(y_true, survival, points, y_train=y_train)
    return float(trapezoid(losses, points) / (points[-1] - points[0]))


def _censoring(y_train: Column) -> KaplanMeier:
    """Return the probability of being observed longer than a time."""
    event, time = right_censored(durations_of(y_train))
    return KaplanMeier.of_censoring(time, event, np.ones(len(time)))


def _positive(probability: Floats, time: Floats) -> Floats:
    """Return probabilities of not being censored, or raise a ValueError if one is zero."""
    if probability.size and not probability.min() > 0.0:
        row = int(np.argmin(probability))
        message = (
            f"all training rows are censored by time {time[row]:g}, so rows that end there have no weight; give "
            "smaller times or tau, or rows that end earlier"
        )
        raise ValueError(message)
    return probability


def _one_per_row(predicted: npt.ArrayLike, n_rows: int) -> AnyArray:
    checked: Floats = np.asarray(predicted, dtype=np.float64)
    if checked.shape != (n_rows,) or not np.isfinite(checked).all():
        message = f"predicted must be finite numbers of shape ({n_rows},), one per target; got shape {checked.shape}"
        raise ValueError(message)
    return checked
