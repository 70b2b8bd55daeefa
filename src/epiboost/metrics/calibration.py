"""Calibration: predicted probabilities against observed frequencies."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from epiboost._display import short_repr
from epiboost._typing import AnyArray, Family, Floats
from epiboost.metrics.inputs import (
    Classes,
    Prediction,
    average,
    check_codes,
    check_n_bins,
    check_numbers,
    check_prediction,
    check_target,
    check_weight,
)

Bins: TypeAlias = Literal["uniform", "quantile"]
"""Whether bins of confidence have equal widths or hold equally many samples."""


_SEED = 20260101


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityCurve:
    """Predicted probabilities and observed frequencies.

    Attributes
    ----------
    predicted : array of shape (k,)
        Mean confidence of a bin, or the nominal coverage of a central interval.
    observed : array of shape (k,)
        Share of right predictions in the bin, or of targets in the interval.
    weight : array of shape (k,)
        Share of all samples in the bin; equal for intervals, each of which is evaluated on all samples.
    """

    predicted: Floats
    observed: Floats
    weight: Floats

    __repr__ = short_repr

    @property
    def error(self) -> float:
        """Expected calibration error: the mean distance between observed and predicted."""
        return float(np.average(np.abs(self.observed - self.predicted), weights=self.weight))


def reliability_curve(
    y_true: npt.ArrayLike,
    prediction: Prediction,
    *,
    family: Family | None = None,
    classes: Classes | None = None,
    n_bins: int = 15,
    strategy: Bins = "uniform",
    sample_weight: npt.ArrayLike | None = None,
) -> ReliabilityCurve:
    """Compare predicted probabilities with observed frequencies.

    For a classifier, samples are put into bins by the probability of the predicted class; the curve is the accuracy in
    each bin. For a regressor, the curve is the observed coverage of central intervals of the mixture.

    Parameters
    ----------
    y_true, prediction, family, classes, sample_weight
        As in `negative_log_likelihood_loss`, whose errors are raised too.
    n_bins : int, default=15
        Number of bins of confidence; empty bins are left out. For a regressor, number of coverages: 1 / (n_bins + 1),
        2 / (n_bins + 1), …
    strategy : {"uniform", "quantile"}, default="uniform"
        Whether bins have equal widths or hold about equally many samples. Classifiers only.

    Returns
    -------
    ReliabilityCurve

    Examples
    --------
    >>> curve = reliability_curve([0, 0, 1], [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]], family="categorical")
    >>> curve.predicted.round(3), curve.observed.round(3)
    (array([0.9]), array([0.667]))
    """
    check_n_bins(n_bins)
    if strategy not in get_args(Bins):
        message = f"strategy must be one of {get_args(Bins)}, got {strategy!r}"
        raise ValueError(message)
    posterior = check_prediction(prediction, family)
    weight = check_weight(sample_weight, posterior.n_samples)
    if posterior.is_numeric:
        return _coverage_curve(probability_integral_transform(y_true, posterior), weight, int(n_bins))
    codes = check_codes(y_true, posterior, classes)
    return _confidence_curve(posterior.mean, codes == posterior.mean.argmax(axis=1), weight, int(n_bins), strategy)


def expected_calibration_error(
    y_true: npt.ArrayLike,
    prediction: Prediction,
    *,
    family: Family | None = None,
    classes: Classes | None = None,
    n_bins: int = 15,
    strategy: Bins = "uniform",
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the mean distance between predicted probabilities and observed frequencies.

    Parameters
    ----------
    y_true, prediction, family, classes, n_bins, strategy, sample_weight
        As in `reliability_curve`, whose errors are raised too.

    Returns
    -------
    float
        Between 0, best, and 1. For a classifier the average over samples of the distance between confidence and
        accuracy in their bin; for a regressor the average over coverages of the distance between nominal and observed
        coverage.

    Examples
    --------
    >>> round(expected_calibration_error([0, 0, 1], [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]], family="categorical"), 3)
    0.233
    """
    curve = reliability_curve(
        y_true,
        prediction,
        family=family,
        classes=classes,
        n_bins=n_bins,
        strategy=strategy,
        sample_weight=sample_weight,
    )
    return curve.error


def probability_integral_transform(y_true: npt.ArrayLike, prediction: Prediction) -> Floats:
    """Return F(y), the predicted probability of a target of at most y; uniform on [0, 1] for a calibrated model.

    In a histogram, peaks at both ends mean that the distributions are too narrow, a peak in the middle that they are
    too wide, and a slope that they are biased.

    Parameters
    ----------
    y_true, prediction
        As in `reliability_curve`, whose errors are raised too; numbers only: means and variances, or a posterior of
        any family of numbers. F of counts has steps, which would pile up: for these a number is drawn evenly from the
        step at y, with a fixed seed.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> probability_integral_transform([1.0, 3.0], [[1.0, 4.0], [1.0, 4.0]]).round(3)
    array([0.5  , 0.841])
    """
    posterior = check_numbers(prediction)
    y = check_target(y_true, posterior.n_samples)
    upper = posterior.cdf(y)
    if posterior.distribution is None or not posterior.distribution.is_discrete:
        return upper
    lower = posterior.cdf(y - 1.0)
    return np.asarray(lower + np.random.default_rng(_SEED).uniform(size=len(y)) * (upper - lower))


def _coverage_curve(transform: Floats, weight: Floats, n_levels: int) -> ReliabilityCurve:
    """Return the observed coverage of central intervals; one contains y if its coverage is at least |2 F(y) − 1|."""
    coverage = np.arange(1, n_levels + 1) / (n_levels + 1)
    needed = np.abs(2 * transform - 1)
    observed = np.array([average((needed <= level).astype(np.float64), weight) for level in coverage])
    return ReliabilityCurve(coverage, observed, np.full(n_levels, 1.0 / n_levels))


def _confidence_curve(
    probability: Floats, right: AnyArray, weight: Floats, n_bins: int, strategy: Bins
) -> ReliabilityCurve:
    confidence = probability.max(axis=1)
    levels = np.linspace(0.0, 1.0, n_bins + 1)[1:-1]
    borders = levels if strategy == "uniform" else _quantiles(confidence, weight, levels)
    bins = np.searchsorted(borders, confidence)
    total = np.bincount(bins, weight, minlength=n_bins)
    filled = total > 0.0
    predicted = np.bincount(bins, weight * confidence, minlength=n_bins)[filled] / total[filled]
    observed = np.bincount(bins, weight * right, minlength=n_bins)[filled] / total[filled]
    return ReliabilityCurve(predicted, observed, total[filled] / total.sum())


def _quantiles(values: Floats, weight: Floats, levels: Floats) -> Floats:
    """Return weighted quantiles: the smallest values that reach these shares of the total weight."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    wanted = levels * reached[-1] * (1.0 - 1e-12)  # sums of weights have rounding errors
    quantiles: Floats = values[order][np.searchsorted(reached, wanted)]
    return quantiles
