"""From a model and tables to the facts of a report. Detectors predict again; all else uses one prediction per table."""

import numpy as np

from epiboost._estimators.unwrap import unwrap
from epiboost._typing import AnyArray, Column, Estimator, Table
from epiboost.report.facts import Driver, Facts
from epiboost.report.formatting import text
from epiboost.report.measurements.abstention import measure_abstention, measure_error_detection, measure_rejection
from epiboost.report.measurements.calibration import measure_calibration
from epiboost.report.measurements.domains import compare_tables, compare_with_training
from epiboost.report.measurements.drivers import Explanation, explain_other_table, explain_rows
from epiboost.report.measurements.model import default_title, model_parameters, model_properties, trained_model
from epiboost.report.measurements.new_values import find_new_values
from epiboost.report.measurements.out_of_domain import measure_out_of_domain
from epiboost.report.measurements.quality import measure_classes, measure_quality
from epiboost.report.measurements.row_tables import RowReader, input_columns
from epiboost.report.measurements.shown_rows import chart_points, most_uncertain
from epiboost.report.predictions import Predictions
from epiboost.report.row_kinds import ROW_KINDS, kind_thresholds, row_kinds

_MAX_TITLE = 200


def collect_facts(
    estimator: Estimator,
    X: Table,
    y: Column | None = None,
    X_ood: Table | None = None,
    *,
    explain: bool = True,
    title: str | None = None,
    verbose: int = 0,
) -> Facts:
    """Return all numbers of a report; see `epiboost.report.report` for the parameters."""
    wrapped = unwrap(estimator, "predict_posterior", "predict_uncertainty")
    predictions = Predictions.from_posterior(wrapped.predict_posterior(X))
    target = None if y is None else _checked_target(y, predictions)
    other = None if X_ood is None else Predictions.from_posterior(wrapped.predict_posterior(X_ood))
    calibration = None if target is None else measure_calibration(wrapped, X, target, predictions)
    curves, scores = ({}, {}) if target is None else measure_rejection(target, predictions)
    thresholds, uncertain = kind_thresholds(predictions), most_uncertain(predictions)
    kinds = row_kinds(predictions.uncertainty.knowledge, predictions.data, thresholds)
    explanation = explain_rows(estimator, X, predictions, uncertain, verbose) if explain else Explanation()
    other_drivers: tuple[Driver, ...] = ()
    if explain and other is not None:
        other_drivers = explain_other_table(estimator, (X, X_ood), (predictions, other), verbose)
    new_values, has_new_value = find_new_values(wrapped, X, len(predictions))
    training = compare_with_training(wrapped, X, len(predictions), new_values)
    domain = None
    if other is not None:
        other_values, _ = find_new_values(wrapped, X_ood, len(other))
        domain = compare_tables(estimator, wrapped, (X, X_ood), (predictions, other), other_values)
    points = chart_points(predictions, other, uncertain, kinds)
    reader = RowReader(
        wrapped, (X, X_ood), (predictions, other), target=target, kinds=kinds, leading=explanation.leading
    )
    model = trained_model(wrapped.estimator)
    return Facts(
        title=text(title or default_title(model), _MAX_TITLE),
        task="regression" if wrapped.classes is None else "classification",
        unit=predictions.uncertainty.unit,
        n_rows=len(predictions),
        n_columns=len(input_columns(wrapped, X)),
        measure=predictions.measure,
        quality=None if target is None else measure_quality(target, predictions),
        calibration=None if calibration is None else calibration[0],
        classes=() if target is None else measure_classes(target, predictions, wrapped.classes),
        error_detection=None if target is None else measure_error_detection(target, predictions),
        abstention=measure_abstention(target, predictions, wrapped.classes),
        out_of_domain=measure_out_of_domain(predictions, new_values, has_new_value, training),
        rejection=curves,
        rejection_scores=scores,
        reliability=None if calibration is None else calibration[1],
        kind_thresholds=thresholds,
        kind_counts=tuple((kind, kinds.count(kind)) for kind in ROW_KINDS),
        points=points,
        uncertain_rows=reader.read(uncertain, explanation.reasons(uncertain, kinds)),
        point_rows=reader.read(points.row, {}, n_other=points.kind.count("other")),
        domain=domain,
        drivers=(*explanation.drivers, *other_drivers),
        n_explained=explanation.n_sampled,
        model=model_properties(wrapped, predictions),
        parameters=model_parameters(model),
    )


def _checked_target(y: Column, predictions: Predictions) -> AnyArray:
    target = np.asarray(y)
    if target.shape != (len(predictions),):
        message = f"y must hold one target per row, shape ({len(predictions)},); got shape {target.shape}"
        raise ValueError(message)
    if predictions.posterior.family == "categorical":
        return target
    try:
        numbers = target.astype(np.float64)
    except (TypeError, ValueError) as error:
        message = f"y must hold numbers, as the model is a regressor; got {target[0]!r}"
        raise ValueError(message) from error
    if not np.isfinite(numbers).all():
        first = int(np.flatnonzero(~np.isfinite(numbers))[0])
        message = f"y must hold finite numbers; got {numbers[first]} in row {first + 1}"
        raise ValueError(message)
    return numbers
