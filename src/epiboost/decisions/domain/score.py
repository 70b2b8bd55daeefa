"""Scores by which a `DomainDetector` decides: the larger, the more foreign is a row.

The **combined** score is the sum of three surprises, each minus the logarithm of the probability that a row of the
domain has as large a value: of the distance to the nearest training row, of the strangest single value, and three times
that of total uncertainty. The first two find rows that are unlike the training rows, whether the model uses the column
or not; the third finds rows on which the model is likely to be wrong. The weight of three was chosen on shifts of
tables that are not among those reported: less weight finds more foreign rows, more weight finds more errors.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import narwhals as nw
import numpy as np

from epiboost._display import short_repr
from epiboost._estimators.calibrated.base import BaseCalibrated
from epiboost._estimators.reference_rows import ReferenceRows
from epiboost._estimators.unwrap import UnwrappedModel
from epiboost._inputs.schema import CheckedTable, ColumnSchema, row_index
from epiboost._novelty.arrays import MIN_ROWS
from epiboost._novelty.novelty import Novelty, NoveltyParts
from epiboost._novelty.surprise import Surprise
from epiboost._posterior.knowledge_only import KnowledgeOnly
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import AnyArray, Floats, LibraryObject, Table
from epiboost.decisions.base import check_uncertainty

DomainMeasure: TypeAlias = Literal["combined", "novelty", "knowledge", "total", "data"]
"""What a detector decides by."""

NOVELTY_MEASURES = ("combined", "novelty")
"""Measures for which the novelty of rows is needed."""

UNCERTAINTY_WEIGHT = 3.0
"""Weight of the surprise of total uncertainty in the combined score."""


def check_domain_measure(measure: str) -> None:
    """Raise a ValueError if ``measure`` is not one by which a detector can decide."""
    if measure not in get_args(DomainMeasure):
        message = f"measure must be one of {get_args(DomainMeasure)}, got {measure!r}"
        raise ValueError(message)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Rows with their scores.

    Attributes
    ----------
    score : array of shape (n,)
    table : array of shape (n, features)
        As `Novelty.parts` takes it.
    parts : NoveltyParts or None
    uncertainty : array of shape (n,) or None
        Surprise of the uncertainty, weighted.
    index : pandas.Index or None
        That of the frame that was scored.
    """

    score: Floats
    table: AnyArray
    parts: NoveltyParts | None = None
    uncertainty: Floats | None = None
    index: LibraryObject = None

    @property
    def novelty_parts(self) -> NoveltyParts:
        """The parts of novelty; a ValueError if the score has none."""
        if self.parts is None:
            message = "rows that are scored by uncertainty alone have no novelty"
            raise ValueError(message)
        return self.parts


@dataclass(frozen=True, slots=True, eq=False)
class DomainScore:
    """Scores rows by one measure.

    Attributes
    ----------
    model : UnwrappedModel
    measure : {"combined", "novelty", "knowledge", "total", "data"}
    schema : ColumnSchema
        Reads tables.
    novelty : Novelty or None
        None if the model keeps no training rows; then the score is a part of the uncertainty.
    surprise : Surprise or None
        Of the uncertainty of rows of the domain, for the combined score.
    """

    model: UnwrappedModel
    measure: DomainMeasure
    schema: ColumnSchema
    novelty: Novelty | None
    surprise: Surprise | None = None

    __repr__ = short_repr

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores by which batches are compared."""
        if self.measure == "combined":
            return ("novelty", "total uncertainty")
        return ("novelty",) if self.measure == "novelty" else (f"{self.measure} uncertainty",)

    @property
    def kept_novelty(self) -> Novelty:
        """The novelty; a ValueError if the model keeps no rows."""
        if self.novelty is None:
            message = "the model keeps no training rows"
            raise ValueError(message)
        return self.novelty

    def __call__(self, X: Table) -> ScoredRows:
        """Return the scores of rows; no rows and NaN values are errors."""
        _refuse_no_rows(X, self.measure)
        index, given, estimator = row_index(X), self.model.transform(X), self.model.estimator
        table = self.schema.transform(given)
        if getattr(estimator, "schema_", None) is self.schema:
            given = CheckedTable(table)  # the estimator need not read it again, nor warn again
        if self.measure not in NOVELTY_MEASURES:
            return ScoredRows(part_of(estimator.predict_uncertainty(given), self.measure), table, index=index)
        parts = self.kept_novelty.parts(table)
        if self.measure == "novelty" or self.surprise is None:
            return ScoredRows(parts.sum, table, parts, index=index)
        uncertain = UNCERTAINTY_WEIGHT * self.surprise(part_of(estimator.predict_uncertainty(given), "total"))
        return ScoredRows(parts.sum + uncertain, table, parts, uncertain, index)

    def of_reference_rows(self, reference: ReferenceRows) -> Floats:
        """Return the scores of the rows that the model keeps, as far as they were measured out of fold."""
        if self.measure == "novelty":
            return reference.novelty.of_kept_rows()
        total = reference.measured_total
        if self.measure == "total" or self.surprise is None:
            return total
        return reference.novelty.of_kept_rows()[reference.measured] + UNCERTAINTY_WEIGHT * self.surprise.left_out(total)


def score_by(model: UnwrappedModel, measure: DomainMeasure) -> DomainScore | None:
    """Return the score of a model that keeps what it needs; None if rows of the domain are needed for it."""
    if isinstance(model.estimator, BaseCalibrated) and measure not in {"knowledge", "data"}:
        model = replace(model, estimator=model.estimator.estimator_)  # which the uncertainty of kept rows is of
    reference: ReferenceRows | None = getattr(model.estimator, "reference_rows_", None)
    schema = getattr(model.estimator, "schema_", None)
    if measure not in NOVELTY_MEASURES and schema is not None:
        return DomainScore(model, measure, schema, None if reference is None else reference.novelty)
    if reference is None or schema is None:
        return None
    if measure == "novelty":
        return DomainScore(model, measure, schema, reference.novelty)
    if not reference.is_measured:
        return None
    return DomainScore(model, measure, schema, reference.novelty, Surprise.of(reference.measured_total))


def fit_score(model: UnwrappedModel, measure: DomainMeasure, X: Table) -> DomainScore:
    """Return the score of a model that keeps no rows, from rows of the domain that decide nothing else."""
    _refuse_no_rows(X, measure)
    given = model.transform(X)
    reference: ReferenceRows | None = getattr(model.estimator, "reference_rows_", None)
    schema: ColumnSchema | None = getattr(model.estimator, "schema_", None)
    if schema is None:
        schema, _ = ColumnSchema.fit(given, categorical_features="auto", owner="DomainDetector")
    if measure not in NOVELTY_MEASURES:
        return DomainScore(model, measure, schema, None)
    table = schema.transform(given)
    if len(table) < MIN_ROWS:
        message = f"X must have at least {2 * MIN_ROWS} rows, since the model keeps no training rows"
        raise ValueError(message)
    novelty = Novelty.fit(table, schema.n_codes or (0,) * schema.n_features) if reference is None else reference.novelty
    if measure == "novelty":
        return DomainScore(model, measure, schema, novelty)
    total = part_of(model.estimator.predict_uncertainty(given), "total")
    return DomainScore(model, measure, schema, novelty, Surprise.of(total))


def _refuse_no_rows(X: Table, measure: str) -> None:
    """Refuse a table in memory that has no rows."""
    in_memory = (isinstance(X, np.ndarray | list | tuple) and np.ndim(X)) or nw.dependencies.is_into_dataframe(X)
    if in_memory and not len(X):
        check_uncertainty(np.empty(0), measure)


def part_of(uncertainty: Uncertainty, measure: str) -> Floats:
    """Return one part of the uncertainty; knowledge in place of the total if that is not known."""
    is_unknown = isinstance(uncertainty, KnowledgeOnly) and measure == "total"
    part = "knowledge" if is_unknown else measure
    return check_uncertainty(getattr(uncertainty, part), part)
