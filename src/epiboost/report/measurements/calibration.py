"""Calibration of probabilities, prediction intervals and prediction sets."""

from dataclasses import replace

import numpy as np

from epiboost import metrics
from epiboost._estimators.calibrated import CalibratedClassifier, CalibratedRegressor
from epiboost._estimators.unwrap import UnwrappedModel
from epiboost._inputs.labels import label_codes
from epiboost._typing import AnyArray, Table
from epiboost.metrics import ReliabilityCurve
from epiboost.report.facts import Calibration
from epiboost.report.predictions import Predictions
from epiboost.report.significance import calibration_error_by_chance, frequency_by_chance

COVERAGE = 0.9
_N_LEVELS = 15
_MAX_ROWS_FOR_WIDTH = 5000


def measure_calibration(
    wrapped: UnwrappedModel, X: Table, y: AnyArray, predictions: Predictions
) -> tuple[Calibration, ReliabilityCurve] | None:
    """Return calibration and its curve; None if the members predict no distribution."""
    if predictions.posterior.family == "mean":
        return None
    if predictions.posterior.family == "categorical":
        return _classifier_calibration(wrapped, X, y, predictions)
    if isinstance(wrapped.estimator, CalibratedRegressor):
        return _guaranteed_intervals(wrapped.estimator, wrapped.transform(X), y)
    return _predicted_intervals(y, predictions)


def _classifier_calibration(
    wrapped: UnwrappedModel, X: Table, y: AnyArray, predictions: Predictions
) -> tuple[Calibration, ReliabilityCurve]:
    posterior = predictions.posterior
    curve = metrics.reliability_curve(y, posterior, n_bins=_N_LEVELS)
    set_size = set_coverage = None
    guaranteed = isinstance(wrapped.estimator, CalibratedClassifier)
    if isinstance(wrapped.estimator, CalibratedClassifier):
        try:
            sets = wrapped.estimator.predict_set(wrapped.transform(X), COVERAGE)
        except ValueError:  # too few calibration rows for this coverage
            guaranteed = False
        else:
            codes = label_codes(y, wrapped.estimator.classes_, name="y")
            set_size = float(sets.sum(axis=1).mean())
            set_coverage = float(sets[np.arange(len(sets)), codes].mean())
    confidence = float(posterior.mean.max(axis=1).mean())
    calibration = Calibration(
        nominal=confidence,
        observed=1.0 - float(metrics.prediction_errors(y, predictions.prediction, loss="zero_one").mean()),
        error=curve.error,
        error_by_chance=calibration_error_by_chance(curve, len(y), binned=True),
        gap_by_chance=frequency_by_chance(confidence, len(y)),
        width=None,
        set_size=set_size,
        set_coverage=set_coverage,
        guaranteed=guaranteed,
    )
    return calibration, curve


def _predicted_intervals(y: AnyArray, predictions: Predictions) -> tuple[Calibration, ReliabilityCurve]:
    """Check the intervals of the predicted distribution."""
    posterior = predictions.posterior
    curve = metrics.reliability_curve(y, posterior, n_bins=_N_LEVELS)
    needed = np.abs(2 * metrics.probability_integral_transform(y, posterior) - 1)
    some_rows = posterior.parameters[:, :: -(-len(predictions) // _MAX_ROWS_FOR_WIDTH)]
    width = float(metrics.interval_width(replace(posterior, parameters=some_rows, index=None).interval(COVERAGE)))
    observed = float(np.mean(needed <= COVERAGE))
    calibration = Calibration(
        nominal=COVERAGE,
        observed=observed,
        error=curve.error,
        error_by_chance=calibration_error_by_chance(curve, len(y), binned=False),
        gap_by_chance=frequency_by_chance(COVERAGE, len(y)),
        width=width,
        set_size=None,
        set_coverage=None,
        guaranteed=False,
    )
    return calibration, curve


def _guaranteed_intervals(model: CalibratedRegressor, rows: Table, y: AnyArray) -> tuple[Calibration, ReliabilityCurve]:
    """Check the intervals that a calibrated model guarantees, all coverages in one pass."""
    largest = model.max_coverage_
    levels = np.append(np.arange(1, _N_LEVELS + 1) / (_N_LEVELS + 1), min(COVERAGE, largest))
    levels = levels[levels <= largest]
    intervals = model.predict_interval(rows, levels)
    observed = np.asarray(metrics.interval_coverage_score(y, intervals))
    n_points = len(levels) - 1
    if n_points:
        curve = ReliabilityCurve(levels[:-1], observed[:-1], np.full(n_points, 1.0 / n_points))
    else:
        curve = ReliabilityCurve(levels, observed, np.ones(1))
    n_calibration = len(model.scores_)
    n_equivalent = len(y) * n_calibration / (len(y) + n_calibration)  # both samples vary
    calibration = Calibration(
        nominal=float(levels[-1]),
        observed=float(observed[-1]),
        error=curve.error,
        error_by_chance=calibration_error_by_chance(curve, n_equivalent, binned=False),
        gap_by_chance=frequency_by_chance(float(levels[-1]), n_equivalent),
        width=float(metrics.interval_width(intervals[:, -1])),
        set_size=None,
        set_coverage=None,
        guaranteed=True,
    )
    return calibration, curve
