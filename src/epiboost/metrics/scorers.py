"""Scorers: what scikit-learn's searches ask of a model, for every metric.

A scorer is called with a fitted model and held-out rows and returns a number that is better when higher, so losses and
widths come with their sign turned. A model at the end of a pipeline is asked what the pipeline makes of the rows.

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

from epiboost._posterior.conformal import check_share
from epiboost._posterior.uncertainty import Measure, check_measure
from epiboost._posterior.unwrap import unwrap
from epiboost._typing import Floats
from epiboost.metrics.calibration import check_n_bins, reliability_of_model
from epiboost.metrics.detection import ood_auc_score, ood_average_precision_score, ood_false_positive_rate
from epiboost.metrics.intervals import interval_coverage_score, interval_width
from epiboost.metrics.losses import brier_loss, crps_loss, negative_log_likelihood_loss
from epiboost.metrics.ranking import Loss, prediction_rejection_score

_Scoring: TypeAlias = Callable[..., float]


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """A metric that is asked of a model; made by `scorer`.

    Attributes
    ----------
    name : str
        The metric.
    options : mapping
        What it was told.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(
        self,
        estimator: Any,  # noqa: ANN401 (a model or a pipeline)
        X: Any,  # noqa: ANN401 (anything the model reads)
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> float:
        """Score a fitted model on held-out rows; higher is better."""
        unwrapped = unwrap(estimator, "predict_posterior", "predict_uncertainty")
        scoring, _ = _SCORINGS[self.name]
        options = dict(self.options)
        if "X_out" in options:
            options["X_out"] = unwrapped.transform(options["X_out"])
        return scoring(unwrapped.estimator, unwrapped.transform(X), y, sample_weight, **options)


def scorer(metric: str, **options: Any) -> Scorer:  # noqa: ANN401 (each metric has its own)
    """Make a scorer of a metric, for ``GridSearchCV(scoring=...)`` and its kin.

    Parameters
    ----------
    metric : str
        The name of the metric:

        - "negative_log_likelihood_loss", "crps_loss" (regressors), "brier_loss" (classifiers),
          "expected_calibration_error" (option ``n_bins``): with their sign turned; the last judges the guaranteed
          intervals of a `CalibratedRegressor`, and the posterior of all others;
        - "interval_coverage_score": minus the distance between the observed and the wanted ``coverage`` (0.9),
          "interval_width": minus the mean width at ``coverage``; regressors;
        - "prediction_rejection_score": option ``measure``, "total" by default; on a fold without errors it is not
          defined, and the scorer raises `UndefinedScoreError`;
        - "ood_auc_score", "ood_average_precision_score", "ood_false_positive_rate" (sign turned): options ``X_out``,
          rows from outside the domain, which are needed, and ``measure``, "knowledge" by default.
    **options
        As above.

    Returns
    -------
    Scorer
        A callable of (estimator, X, y, sample_weight).

    Raises
    ------
    ValueError
        If there is no such metric, it has no such option, or the option makes no sense.

    Examples
    --------
    >>> scorer("prediction_rejection_score", measure="knowledge").name
    'prediction_rejection_score'
    """
    if metric not in _SCORINGS:
        message = f"metric must be one of {', '.join(_SCORINGS)}; got {metric!r}"
        raise ValueError(message)
    _, allowed = _SCORINGS[metric]
    if strange := sorted(set(options) - set(allowed)):
        message = f"{metric} has no option {', '.join(strange)}; its options are: {', '.join(allowed) or 'none'}"
        raise ValueError(message)
    if "X_out" in allowed and "X_out" not in options:
        message = f"{metric} needs the option X_out: rows from outside the domain"
        raise ValueError(message)
    check_measure(options.get("measure", "total"))
    check_n_bins(options.get("n_bins", 1))
    check_share(options.get("coverage", 0.9), "coverage")
    return Scorer(metric, options)


def _negative_log_likelihood(model: Any, X: Any, y: Any, weight: Any) -> float:  # noqa: ANN401
    return -negative_log_likelihood_loss(y, model.predict_posterior(X), sample_weight=weight)


def _crps(model: Any, X: Any, y: Any, weight: Any) -> float:  # noqa: ANN401
    return -crps_loss(y, model.predict_posterior(X), sample_weight=weight)


def _brier(model: Any, X: Any, y: Any, weight: Any) -> float:  # noqa: ANN401
    return -brier_loss(y, model.predict_posterior(X), sample_weight=weight)


def _calibration(model: Any, X: Any, y: Any, weight: Any, n_bins: int = 15) -> float:  # noqa: ANN401
    return -reliability_of_model(model, X, y, n_bins=n_bins, sample_weight=weight).error


def _coverage(model: Any, X: Any, y: Any, weight: Any, coverage: float = 0.9) -> float:  # noqa: ANN401
    observed = interval_coverage_score(y, _intervals(model, X, coverage), sample_weight=weight)
    return -abs(float(observed) - coverage)


def _width(model: Any, X: Any, y: Any, weight: Any, coverage: float = 0.9) -> float:  # noqa: ANN401, ARG001
    return -float(interval_width(_intervals(model, X, coverage), sample_weight=weight))


def _intervals(model: Any, X: Any, coverage: float) -> Floats:  # noqa: ANN401
    if not hasattr(model, "predict_interval"):
        message = f"intervals are for regressors, got {model!r}"
        raise ValueError(message)
    intervals: Floats = model.predict_interval(X, coverage)
    return intervals


def _rejection(model: Any, X: Any, y: Any, weight: Any, measure: Measure = "total") -> float:  # noqa: ANN401
    uncertainty = getattr(model.predict_uncertainty(X), measure)
    loss: Loss = "zero_one" if hasattr(model, "classes_") else "squared"
    return prediction_rejection_score(y, model.predict(X), uncertainty, loss=loss, sample_weight=weight)


def _detection(metric: _Scoring, sign: float) -> _Scoring:
    def scoring(model: Any, X: Any, y: Any, weight: Any, *, X_out: Any, measure: Measure = "knowledge") -> float:  # noqa: ANN401, ARG001
        inside: Floats = getattr(model.predict_uncertainty(X), measure)
        outside: Floats = getattr(model.predict_uncertainty(X_out), measure)
        weights = None if weight is None else np.concatenate([weight, np.full(len(outside), np.mean(weight))])
        is_out = np.repeat([False, True], [len(inside), len(outside)])
        return sign * metric(is_out, np.concatenate([inside, outside]), sample_weight=weights)

    return scoring


_SCORINGS: dict[str, tuple[_Scoring, tuple[str, ...]]] = {
    "negative_log_likelihood_loss": (_negative_log_likelihood, ()),
    "crps_loss": (_crps, ()),
    "brier_loss": (_brier, ()),
    "expected_calibration_error": (_calibration, ("n_bins",)),
    "interval_coverage_score": (_coverage, ("coverage",)),
    "interval_width": (_width, ("coverage",)),
    "prediction_rejection_score": (_rejection, ("measure",)),
    "ood_auc_score": (_detection(ood_auc_score, 1.0), ("X_out", "measure")),
    "ood_average_precision_score": (_detection(ood_average_precision_score, 1.0), ("X_out", "measure")),
    "ood_false_positive_rate": (_detection(ood_false_positive_rate, -1.0), ("X_out", "measure")),
}
