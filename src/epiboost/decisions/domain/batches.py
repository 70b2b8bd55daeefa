"""What batches and streams of rows are compared by: their columns, their novelty and their uncertainty."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from epiboost._display import short_repr
from epiboost._typing import AnyArray, Floats, Table
from epiboost.decisions.domain.score import DomainScore, ScoredRows
from epiboost.decisions.drift.monitor import DriftAlarm, DriftMonitor


@dataclass(frozen=True, slots=True, eq=False)
class ComparedColumns:
    """Columns by which batches are compared with rows of the domain.

    Attributes
    ----------
    score : DomainScore
    reference : array of shape (m, compared columns)
        Rows of the domain.
    names : tuple of str
        Names of the columns; those of scores are in brackets.
    is_categorical : array of bool of shape (compared columns,)
    """

    score: DomainScore
    reference: Floats
    names: tuple[str, ...]
    is_categorical: AnyArray

    __repr__ = short_repr

    @classmethod
    def of(cls, score: DomainScore, in_domain: ScoredRows | None, names: tuple[str, ...]) -> Self:
        """Return the columns.

        Parameters
        ----------
        score : DomainScore
        in_domain : ScoredRows or None
            Rows that the model has not seen; None for the training rows that it keeps. Those are compared by their
            columns alone: novelty and uncertainty of training rows are not quite those of new rows.
        names : tuple of str
            Names of the table's columns.
        """
        scores = score.names if in_domain is not None else ()
        labels = (*names, *(f"({name})" for name in scores))
        is_categorical = np.append(score.schema.is_categorical, [False] * len(scores))
        compared = cls(score, np.empty((0, len(labels))), labels, is_categorical)
        if in_domain is not None:
            return cls(score, compared.of_rows(in_domain), labels, is_categorical)
        return cls(score, score.kept_novelty.left_out_rows().astype(np.float64), labels, is_categorical)

    def of_rows(self, rows: ScoredRows) -> Floats:
        """Return these columns of scored rows, shape (n, compared columns).

        Numbers have the precision of the rows that the model keeps.
        """
        novelty = self.score.novelty
        table = rows.table if novelty is None else novelty.arrays.scales.transform(rows.table)
        scores = (rows.score,) if rows.parts is None else (rows.parts.sum, rows.uncertainty)
        columns = [table, *(column for column in scores if column is not None)]
        found: Floats = np.column_stack(columns)[:, : len(self.names)].astype(np.float64)
        return found


class DomainMonitor:
    """Watches a stream of rows, and raises an alarm when it drifts; see `DomainDetector.monitor`.

    Parameters
    ----------
    compared : ComparedColumns
    false_alarm_rate : float
    random_state : int
    """

    def __init__(self, compared: ComparedColumns, *, false_alarm_rate: float, random_state: int) -> None:
        self._compared = compared
        self._monitor = DriftMonitor(
            compared.reference,
            names=compared.names,
            is_categorical=compared.is_categorical.tolist(),
            false_alarm_rate=false_alarm_rate,
            random_state=random_state,
        )

    def update(self, X: Table) -> DriftAlarm:
        """Take the next rows of the stream, shape (n, features), and return whether there is an alarm."""
        return self._monitor.update(self._compared.of_rows(self._compared.score(X)))

    def reset(self) -> None:
        """Forget the stream, and start again."""
        self._monitor.reset()
