"""Comparison of tables by a `DomainDetector`: this table with training rows, and the other table with this one.

Of large tables evenly spaced rows are compared, which bounds the time.
"""

from dataclasses import replace

import numpy as np

from epiboost import metrics
from epiboost._estimators.reference_rows import ReferenceRows
from epiboost._estimators.unwrap import UnwrappedModel
from epiboost._inputs.user_table import select_rows
from epiboost._typing import Estimator, Floats, Integers, Table
from epiboost.decisions import DomainDetector
from epiboost.decisions.domain.score import DomainMeasure
from epiboost.report.facts import DomainComparison, Drift, ForeignRow, NewValues
from epiboost.report.formatting import unique_names
from epiboost.report.measurements.drivers import evenly_spaced
from epiboost.report.predictions import Predictions

FALSE_ALARM_RATE = 0.05
MAX_COMPARED_ROWS = 10_000
_MIN_DOMAIN_ROWS = round(1.0 / FALSE_ALARM_RATE) - 1
"""Rows of the domain that the threshold needs; twice as many if half of them must define the score."""
_MAX_FOREIGN_ROWS = 10


def compare_with_training(
    wrapped: UnwrappedModel, X: Table, n_rows: int, new_values: NewValues
) -> DomainComparison | None:
    """Compare a table with the training rows that the model keeps; None if it keeps too few."""
    reference = _reference_rows(wrapped)
    if reference is None or len(reference) < _MIN_DOMAIN_ROWS:
        return None
    measure: DomainMeasure = "combined" if len(reference.measured_total) >= _MIN_DOMAIN_ROWS else "novelty"
    detector = DomainDetector(wrapped.estimator, false_alarm_rate=FALSE_ALARM_RATE, measure=measure).fit()
    return _compare(detector, wrapped.transform(X), evenly_spaced(n_rows, MAX_COMPARED_ROWS), n_rows, new_values)


def compare_tables(
    estimator: Estimator,
    wrapped: UnwrappedModel,
    tables: tuple[Table, Table],
    predictions: tuple[Predictions, Predictions],
    new_values: NewValues,
) -> DomainComparison | None:
    """Compare the other table with this one.

    Returns
    -------
    DomainComparison or None
        None if there are too few rows for a detector and no row has knowledge uncertainty.
    """
    inside, outside = (evenly_spaced(len(table), MAX_COMPARED_ROWS) for table in predictions)
    knowledge = (predictions[0].uncertainty.knowledge[inside], predictions[1].uncertainty.knowledge[outside])
    knowledge_auc = _auc(*knowledge) if any(part.any() for part in knowledge) else None
    measure = _measure(_reference_rows(wrapped), len(inside))
    if measure is not None:
        detector = DomainDetector(estimator, false_alarm_rate=FALSE_ALARM_RATE, measure=measure)
        detector.fit(select_rows(tables[0], inside))
        compared = _compare(detector, tables[1], outside, len(predictions[1]), new_values)
        return replace(compared, auc=_auc(compared.inside, compared.outside), knowledge_auc=knowledge_auc)
    if knowledge_auc is None:
        return None
    return DomainComparison(
        n_rows=len(predictions[1]),
        measure="knowledge",
        inside=knowledge[0],
        outside=knowledge[1],
        threshold=None,
        false_alarm_rate=FALSE_ALARM_RATE,
        share=None,
        auc=knowledge_auc,
        knowledge_auc=knowledge_auc,
        drift=None,
        foreign=(),
        new_values=new_values,
    )


def _compare(
    detector: DomainDetector, X: Table, rows: Integers, n_rows: int, new_values: NewValues
) -> DomainComparison:
    """Compare some rows of a table with the rows that a detector was fitted to."""
    table = select_rows(X, rows)
    inside, outside = -detector.scores_, -detector.score_samples(table)
    return DomainComparison(
        n_rows=n_rows,
        measure=detector.measure,
        inside=inside,
        outside=outside,
        threshold=-detector.offset_,
        false_alarm_rate=detector.false_alarm_rate,
        share=float((outside > -detector.offset_).mean()),
        auc=None,
        knowledge_auc=None,
        drift=_drift(detector, table),
        foreign=_foreign_rows(detector, X, rows, outside),
        new_values=new_values,
    )


def _measure(reference: ReferenceRows | None, n_rows: int) -> DomainMeasure | None:
    """Return the measure by which a table can be compared with this many rows; None for too few."""
    is_measured = reference is not None and reference.is_measured
    if n_rows >= (_MIN_DOMAIN_ROWS if is_measured else 2 * _MIN_DOMAIN_ROWS):
        return "combined"
    return "novelty" if reference is not None and n_rows >= _MIN_DOMAIN_ROWS else None


def _drift(detector: DomainDetector, table: Table) -> Drift:
    names = detector.compared_.names
    n_columns = detector.score_.schema.n_features
    shown = dict(zip(names[:n_columns], unique_names(names[:n_columns]), strict=True))
    test = detector.drift(table)
    columns = tuple(replace(column, name=shown[column.name]) for column in test.columns if column.name in shown)
    scores = tuple(replace(score, name=score.name.strip("()")) for score in test.columns if score.name not in shown)
    return Drift(test.p_value, columns, scores)


def _foreign_rows(detector: DomainDetector, X: Table, rows: Integers, score: Floats) -> tuple[ForeignRow, ...]:
    """Return the rows with the largest scores above the threshold, and the columns that make them foreign."""
    largest = np.argsort(-score, kind="stable")[:_MAX_FOREIGN_ROWS]
    chosen = largest[score[largest] > -detector.offset_]
    if not len(chosen):
        return ()
    explained = detector.explain(select_rows(X, rows[chosen]), n_similar=1)
    shown = dict(zip(explained.names, unique_names(explained.names), strict=True))
    return tuple(
        ForeignRow(
            int(rows[row]), float(score[row]), tuple((shown[name], added) for name, added in explained.top(position))
        )
        for position, row in enumerate(chosen.tolist())
    )


def _auc(inside: Floats, outside: Floats) -> float:
    """Return the probability that a value outside is larger than one inside."""
    is_outside = np.repeat([False, True], [len(inside), len(outside)])
    return float(metrics.ood_auc_score(is_outside, np.append(inside, outside)))


def _reference_rows(wrapped: UnwrappedModel) -> ReferenceRows | None:
    reference: ReferenceRows | None = getattr(wrapped.estimator, "reference_rows_", None)
    return reference
