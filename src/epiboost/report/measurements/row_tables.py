"""Rows of this and the other table as text, for the table of the page and for tooltips."""

from collections.abc import Callable

import numpy as np

from epiboost._estimators.reference_rows import ReferenceRows
from epiboost._estimators.unwrap import UnwrappedModel
from epiboost._inputs.user_table import column_names, original_values, select_rows
from epiboost._typing import AnyArray, Floats, Integers, Table
from epiboost.report.facts import RowKind, RowTable
from epiboost.report.formatting import cell, unique_names
from epiboost.report.measurements.model import trained_model
from epiboost.report.predictions import Predictions

_MAX_COLUMNS = 6
_MAX_LENGTH = 40


def input_columns(wrapped: UnwrappedModel, X: Table) -> tuple[str, ...]:
    """Return the names of the columns of a table; for a pipeline those that the pipeline is given."""
    return column_names(X, None if wrapped.transformers else trained_model(wrapped.estimator))


class RowReader:
    """Reads rows of this table and of the other table, if there is one.

    Parameters
    ----------
    wrapped : UnwrappedModel
    tables : this table, and the other table or None
    predictions : predictions of both tables
    target : array of shape (n,), or None
    kinds : tuple of RowKind
        One per row of this table.
    leading : tuple of str
        Features that are shown first.
    """

    def __init__(
        self,
        wrapped: UnwrappedModel,
        tables: tuple[Table, Table | None],
        predictions: tuple[Predictions, Predictions | None],
        *,
        target: AnyArray | None,
        kinds: tuple[RowKind, ...],
        leading: tuple[str, ...],
    ) -> None:
        self.wrapped, self.tables, self.predictions = wrapped, tables, predictions
        self.target, self.kinds = target, kinds
        self.names = input_columns(wrapped, tables[0])
        first = [self.names.index(name) for name in leading if name in self.names]
        rest = [position for position in range(len(self.names)) if position not in first]
        self.columns = (first + rest)[:_MAX_COLUMNS]
        unique = unique_names(self.names)
        self.shown_names = tuple(unique[position] for position in self.columns)

    def read(self, rows: Integers, reasons: dict[int, str], *, n_other: int = 0) -> RowTable:
        """Return rows with their values; the last ``n_other`` are rows of the other table."""
        own, others = rows[: len(rows) - n_other], rows[len(rows) - n_other :]

        def both(values: Callable[[Predictions], AnyArray]) -> AnyArray:
            parts = [values(self.predictions[0])[own]]
            if n_other and self.predictions[1] is not None:
                parts.append(values(self.predictions[1])[others])
            return np.concatenate(parts)

        has_data = self.predictions[0].data is not None
        target, error = self._targets(own, n_other)
        shown = [self._cells(self.tables[0], own)] + ([self._cells(self.tables[1], others)] if n_other else [])
        return RowTable(
            row=rows,
            other=np.arange(len(rows)) >= len(own),
            kind=tuple(self.kinds[row] for row in own.tolist()) + ("other",) * n_other,
            prediction=tuple(cell(value, _MAX_LENGTH) for value in both(lambda table: table.prediction).tolist()),
            target=target,
            error=error,
            score=both(lambda table: table.score),
            knowledge=both(lambda table: table.uncertainty.knowledge),
            data=both(lambda table: table.uncertainty.data) if has_data else None,
            novelty=self._novelty(own, others),
            reason=tuple(reasons.get(row, "") for row in rows.tolist()),
            names=self.shown_names,
            cells=np.concatenate(shown),
        )

    def _targets(self, own: Integers, n_other: int) -> tuple[tuple[str, ...] | None, Floats | None]:
        if self.target is None:
            return None, None
        target, prediction = self.target[own], self.predictions[0].prediction[own]
        texts = tuple(cell(value, _MAX_LENGTH) for value in target.tolist()) + ("unknown",) * n_other
        if self.predictions[0].posterior.family == "categorical":
            error = (target != prediction).astype(np.float64)
        else:
            error = np.abs(target.astype(np.float64) - prediction)
        return texts, np.append(error, np.full(n_other, np.nan))

    def _novelty(self, own: Integers, others: Integers) -> Floats | None:
        """Return the novelty of rows of this table, then of the other table; None if the model keeps no rows."""
        model = self.wrapped.estimator
        reference: ReferenceRows | None = getattr(model, "reference_rows_", None)
        if reference is None:
            return None
        parts = [
            reference.novelty(model.schema_.transform(self.wrapped.transform(select_rows(table, rows))))
            for table, rows in zip(self.tables, (own, others), strict=True)
            if len(rows)
        ]
        return np.concatenate(parts)

    def _cells(self, table: Table, rows: Integers) -> AnyArray:
        values = original_values(table, self.names, rows)[:, self.columns]
        texts = np.empty(values.shape, dtype=object)
        texts.ravel()[:] = [cell(value, _MAX_LENGTH) for value in values.ravel().tolist()]
        return texts
