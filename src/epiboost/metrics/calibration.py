"""Whether what is predicted with a probability comes to pass that often."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from epiboost._estimators.calibrated import CalibratedRegressor
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Family, Floats
from epiboost.metrics.inputs import (
    Prediction,
    average,
    check_codes,
    check_length,
    check_prediction,
    check_values,
    check_weight,
)
from epiboost.metrics.intervals import interval_coverage_score

Bins: TypeAlias = Literal["uniform", "quantile"]
"""Whether bins of confidence are equally wide, or hold equally many samples."""


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityCurve:
    """Predicted probabilities beside the shares that came to pass.

    Attributes
    ----------
    predicted : array of shape (k,)
        Mean confidence of a bin, or the coverage of a central interval.
    observed : array of shape (k,)
        Share of the bin's predictions that were right, or of the targets that lie in the interval.
    weight : array of shape (k,)
        Share of all samples that the bin holds; of equal size for intervals, each of which is asked of all samples.
    """

    predicted: Floats
    observed: Floats
    weight: Floats

    @property
    def error(self) -> float:
        """Mean distance of observed from predicted, the expected calibration error."""
        return float(np.average(np.abs(self.observed - self.predicted), weights=self.weight))


def reliability_curve(
    y_true: npt.ArrayLike,
    prediction: Prediction,
    *,
    family: Family | None = None,
    classes: Sequence[object] | AnyArray | None = None,
    n_bins: int = 15,
    strategy: Bins = "uniform",
    sample_weight: npt.ArrayLike | None = None,
) -> ReliabilityCurve:
    """Compare probabilities with frequencies.

    For a classifier, samples are put in bins by the probability of the predicted class, and the curve says how often it
    was the right one. For a regressor it says how often the central interval of each coverage, taken from the mixture,
    held the target.

    Parameters
    ----------
    y_true : array of shape (n,)
        Numbers, or labels.
    prediction : Posterior, or array of shape (members, n, outputs) or (n, outputs)
        Means and variances, or class probabilities.
    family : {"normal", "categorical"}, optional
        What an array holds; a posterior knows.
    classes : sequence of shape (classes,), optional
        The labels in the order of the probabilities; by default those of the posterior, and 0, 1, … for an array.
    n_bins : int, default=15
        Bins of confidence; empty ones are left out. For a regressor, coverages: 1 / (n_bins + 1), 2 / (n_bins + 1), …
    strategy : {"uniform", "quantile"}, default="uniform"
        Whether bins are equally wide or hold about equally many samples. Classifiers only.
    sample_weight : array of shape (n,), optional
        What each sample counts for; none may be negative, nor all zero.

    Returns
    -------
    ReliabilityCurve

    Raises
    ------
    ValueError
        For empty arrays, NaN, negative weights and labels that are no class.

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
    if posterior.family == "normal":
        return _coverage_curve(_transform(y_true, posterior), weight, int(n_bins))
    codes = check_codes(y_true, posterior, classes)
    return _confidence_curve(posterior.mean, codes == posterior.mean.argmax(axis=1), weight, int(n_bins), strategy)


def expected_calibration_error(
    y_true: npt.ArrayLike,
    prediction: Prediction,
    *,
    family: Family | None = None,
    classes: Sequence[object] | AnyArray | None = None,
    n_bins: int = 15,
    strategy: Bins = "uniform",
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the mean distance between predicted probabilities and observed frequencies.

    Parameters
    ----------
    y_true, prediction, family, classes, n_bins, strategy, sample_weight
        As for `reliability_curve`.

    Returns
    -------
    float
        Between 0, best, and 1. For a classifier the average over samples of the distance between confidence and
        accuracy in their bin; for a regressor the average over coverages of the distance from the observed coverage.

    Raises
    ------
    ValueError
        For empty arrays, NaN, negative weights and labels that are no class.

    Examples
    --------
    >>> round(expected_calibration_error([0, 0, 1], [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]], family="categorical"), 3)
    0.233
    """
    return reliability_curve(
        y_true,
        prediction,
        family=family,
        classes=classes,
        n_bins=n_bins,
        strategy=strategy,
        sample_weight=sample_weight,
    ).error


def reliability_of_model(
    model: Any,  # noqa: ANN401 (any model that has a posterior)
    X: Any,  # noqa: ANN401 (anything the model reads)
    y_true: npt.ArrayLike,
    *,
    n_bins: int = 15,
    sample_weight: npt.ArrayLike | None = None,
) -> ReliabilityCurve:
    """Compare what a model says with what comes to pass; of a calibrated regressor the intervals that it guarantees.

    Scorer and picture both ask this, so that they give one number. Coverages that the calibration rows cannot guarantee
    are left out.
    """
    if not isinstance(model, CalibratedRegressor):
        return reliability_curve(y_true, model.predict_posterior(X), n_bins=n_bins, sample_weight=sample_weight)
    check_n_bins(n_bins)
    levels = np.arange(1, n_bins + 1) / (n_bins + 1)
    n_scores = len(model.scores_)
    levels = levels[levels <= n_scores / (n_scores + 1)]
    observed = interval_coverage_score(y_true, model.predict_interval(X, levels), sample_weight=sample_weight)
    return ReliabilityCurve(levels, np.asarray(observed), np.full(len(levels), 1.0 / len(levels)))


def check_n_bins(n_bins: int) -> None:
    """Raise an error if there cannot be so many bins.

    >>> check_n_bins(15)
    """
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        message = f"n_bins must be a whole number of at least 1, got {n_bins!r}"
        raise ValueError(message)


def probability_integral_transform(y_true: npt.ArrayLike, prediction: Prediction) -> Floats:
    """Return where each target lies in its predicted distribution: F(y), uniform between 0 and 1 if all is well.

    A histogram of it that is high at both ends tells of distributions that are too narrow, a hump in the middle of ones
    that are too wide, a slope of a bias.

    Parameters
    ----------
    y_true : array of shape (n,)
    prediction : Posterior, or array of shape (members, n, 2) or (n, 2)
        Means and variances.

    Returns
    -------
    array of shape (n,)

    Raises
    ------
    ValueError
        For empty arrays, NaN and a classifier's posterior.

    Examples
    --------
    >>> probability_integral_transform([1.0, 3.0], [[1.0, 4.0], [1.0, 4.0]]).round(3)
    array([0.5  , 0.841])
    """
    return _transform(y_true, check_prediction(prediction, "normal"))


def _transform(y_true: npt.ArrayLike, posterior: Posterior) -> Floats:
    y = check_values(y_true, "y_true")
    check_length(y, posterior.n_samples, "y_true")
    return posterior.cdf(y)


def _coverage_curve(transform: Floats, weight: Floats, n_levels: int) -> ReliabilityCurve:
    """Say how often central intervals hold the target: those of coverage of at least |2 F(y) − 1| do."""
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
    """Return the smallest values that hold these shares of the weight, so that a weight is a number of repetitions."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    wanted = levels * reached[-1] * (1.0 - 1e-12)  # sums of weights are rounded
    quantiles: Floats = values[order][np.searchsorted(reached, wanted)]
    return quantiles
