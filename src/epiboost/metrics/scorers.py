"""Scorers: the metrics of a fitted model on held-out rows, for scikit-learn's searches.

A scorer is called with a model and a table, and returns a number that is better when higher: losses, errors and widths
are negated. The model may be the last step of a pipeline.

This is the only module of the metrics that knows models; the others take arrays and posteriors.

>>> import numpy as np
>>> from sklearn.model_selection import GridSearchCV
>>> from epiboost import EpiBoostRegressor
>>> X = np.random.default_rng(0).normal(size=(60, 2))
>>> model = EpiBoostRegressor(n_members=2, random_state=0)
>>> search = GridSearchCV(model, {"n_estimators": [1, 50]}, scoring=scorer("crps_loss"), cv=2).fit(X, X[:, 0])
>>> search.best_params_
{'n_estimators': 50}
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from epiboost._estimators.calibrated import CalibratedRegressor
from epiboost._estimators.conformal import check_share
from epiboost._estimators.unwrap import unwrap
from epiboost._posterior.uncertainty import Measure, check_measure
from epiboost._typing import Column, Estimator, Floats, Table
from epiboost.metrics.calibration import ReliabilityCurve, reliability_curve
from epiboost.metrics.detection import ood_auc_score, ood_average_precision_score, ood_false_positive_rate
from epiboost.metrics.inputs import check_n_bins
from epiboost.metrics.intervals import interval_coverage_score, interval_width
from epiboost.metrics.losses import brier_loss, crps_loss, negative_log_likelihood_loss
from epiboost.metrics.ranking import Loss, prediction_rejection_score

_Scoring: TypeAlias = Callable[..., float]
"""A function of (estimator, X, y, sample_weight, **options) that returns a score."""

_Option: TypeAlias = Any
"""Value of an option; each metric has its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """A metric of a fitted model on held-out rows; made by `scorer`.

    Attributes
    ----------
    name : str
        The metric.
    options : mapping
        Options of the metric.
    """

    name: str
    options: Mapping[str, _Option] = field(default_factory=dict)

    def __call__(
        self, estimator: Estimator, X: Table, y: Column | None = None, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """Return the score of a fitted model; higher is better."""
        unwrapped = unwrap(estimator, "predict_posterior", "predict_uncertainty")
        scoring, _ = _SCORINGS[self.name]
        options = dict(self.options)
        if "X_ood" in options:
            options["X_ood"] = unwrapped.transform(options["X_ood"])
        return scoring(unwrapped.estimator, unwrapped.transform(X), y, sample_weight, **options)


def scorer(metric: str, **options: _Option) -> Scorer:
    """Return a scorer of a metric, for ``GridSearchCV(scoring=...)`` and similar functions.

    Parameters
    ----------
    metric : str
        The name of the metric:

        - "negative_log_likelihood_loss", "crps_loss" (regressors), "brier_loss" (classifiers) and
          "expected_calibration_error" (option ``n_bins``), negated. The last uses the guaranteed intervals of a
          `CalibratedRegressor`, and the posterior of every other model;
        - "interval_coverage_score": minus the distance between observed and nominal ``coverage`` (0.9), and
          "interval_width": minus the mean width at ``coverage``; regressors;
        - "prediction_rejection_score": option ``measure``, "total" by default. On rows without errors it is not
          defined, and the scorer raises an `UndefinedScoreError`;
        - "ood_auc_score", "ood_average_precision_score", "ood_false_positive_rate" (negated): options ``X_ood``,
          out-of-domain rows, required, and ``measure``, "knowledge" by default.
    **options
        As above.

    Returns
    -------
    Scorer
        A callable with arguments (estimator, X, y, sample_weight).

    Raises
    ------
    ValueError
        If the metric or an option is unknown, an option is missing, or its value is not allowed.

    Examples
    --------
    >>> scorer("prediction_rejection_score", measure="knowledge").name
    'prediction_rejection_score'
    """
    if metric not in _SCORINGS:
        message = f"metric must be one of {', '.join(_SCORINGS)}; got {metric!r}"
        raise ValueError(message)
    _, allowed = _SCORINGS[metric]
    if unknown := sorted(set(options) - set(allowed)):
        message = f"{metric} has no option {', '.join(unknown)}; its options are: {', '.join(allowed) or 'none'}"
        raise ValueError(message)
    if "X_ood" in allowed and "X_ood" not in options:
        message = f"{metric} needs the option X_ood: out-of-domain rows"
        raise ValueError(message)
    check_measure(options.get("measure", "total"))
    check_n_bins(options.get("n_bins", 1))
    check_share(options.get("coverage", 0.9), "coverage")
    return Scorer(metric, options)


def reliability_of_model(
    estimator: Estimator,
    X: Table,
    y_true: npt.ArrayLike,
    *,
    n_bins: int = 15,
    sample_weight: npt.ArrayLike | None = None,
) -> ReliabilityCurve:
    """Return the reliability curve of a fitted model, used by both the scorer and the plot.

    For a `CalibratedRegressor` the curve is that of its guaranteed intervals. Coverages that its calibration rows
    cannot guarantee are left out. The other parameters are as in `reliability_curve`.
    """
    if not isinstance(estimator, CalibratedRegressor):
        return reliability_curve(y_true, estimator.predict_posterior(X), n_bins=n_bins, sample_weight=sample_weight)
    check_n_bins(n_bins)
    levels = np.arange(1, n_bins + 1) / (n_bins + 1)
    levels = levels[levels <= estimator.max_coverage_]
    observed = interval_coverage_score(y_true, estimator.predict_interval(X, levels), sample_weight=sample_weight)
    return ReliabilityCurve(levels, np.asarray(observed), np.full(len(levels), 1.0 / len(levels)))


def _loss(metric: _Scoring) -> _Scoring:
    """Return the scoring of a loss of the posterior."""

    def scoring(estimator: Estimator, X: Table, y: Column, weight: Column) -> float:
        return -metric(y, estimator.predict_posterior(X), sample_weight=weight)

    return scoring


def _calibration(estimator: Estimator, X: Table, y: Column, weight: Column, n_bins: int = 15) -> float:
    return -reliability_of_model(estimator, X, y, n_bins=n_bins, sample_weight=weight).error


def _coverage(estimator: Estimator, X: Table, y: Column, weight: Column, coverage: float = 0.9) -> float:
    observed = interval_coverage_score(y, _intervals(estimator, X, coverage), sample_weight=weight)
    return -abs(float(observed) - coverage)


def _width(estimator: Estimator, X: Table, _y: Column, weight: Column, coverage: float = 0.9) -> float:
    return -float(interval_width(_intervals(estimator, X, coverage), sample_weight=weight))


def _intervals(estimator: Estimator, X: Table, coverage: float) -> Floats:
    if not hasattr(estimator, "predict_interval"):
        message = f"intervals are for regressors, got {estimator!r}"
        raise ValueError(message)
    intervals: Floats = estimator.predict_interval(X, coverage)
    return intervals


def _rejection(estimator: Estimator, X: Table, y: Column, weight: Column, measure: Measure = "total") -> float:
    uncertainty = getattr(estimator.predict_uncertainty(X), measure)
    loss: Loss = "zero_one" if hasattr(estimator, "classes_") else "squared"
    return prediction_rejection_score(y, estimator.predict(X), uncertainty, loss=loss, sample_weight=weight)


def _detection(metric: _Scoring, sign: float) -> _Scoring:
    """Return the scoring of the detection of ``X_ood``; its rows have the mean weight."""

    def scoring(
        estimator: Estimator, X: Table, _y: Column, weight: Column, *, X_ood: Table, measure: Measure = "knowledge"
    ) -> float:
        inside: Floats = getattr(estimator.predict_uncertainty(X), measure)
        outside: Floats = getattr(estimator.predict_uncertainty(X_ood), measure)
        weights = None if weight is None else np.concatenate([weight, np.full(len(outside), np.mean(weight))])
        is_out = np.repeat([False, True], [len(inside), len(outside)])
        return sign * metric(is_out, np.concatenate([inside, outside]), sample_weight=weights)

    return scoring


_SCORINGS: dict[str, tuple[_Scoring, tuple[str, ...]]] = {
    "negative_log_likelihood_loss": (_loss(negative_log_likelihood_loss), ()),
    "crps_loss": (_loss(crps_loss), ()),
    "brier_loss": (_loss(brier_loss), ()),
    "expected_calibration_error": (_calibration, ("n_bins",)),
    "interval_coverage_score": (_coverage, ("coverage",)),
    "interval_width": (_width, ("coverage",)),
    "prediction_rejection_score": (_rejection, ("measure",)),
    "ood_auc_score": (_detection(ood_auc_score, 1.0), ("X_ood", "measure")),
    "ood_average_precision_score": (_detection(ood_average_precision_score, 1.0), ("X_ood", "measure")),
    "ood_false_positive_rate": (_detection(ood_false_positive_rate, -1.0), ("X_ood", "measure")),
}
"""Each metric's scoring function and the names of its options."""
