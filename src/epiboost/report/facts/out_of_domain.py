"""Out-of-domain rows: values not seen in training, outliers, and comparisons of tables."""

from dataclasses import dataclass

from epiboost._typing import Floats
from epiboost.decisions import ColumnDrift
from epiboost.decisions.domain.score import DomainMeasure


@dataclass(frozen=True, slots=True)
class NewColumn:
    """A column that holds values not seen in training.

    Attributes
    ----------
    name : str
    n_unseen, n_beyond, n_missing : int
        Number of rows with a new category, with a number far outside the training range, and with a missing value
        where none was missing in training.
    low, high : float or None
        Training range; None for categories.
    """

    name: str
    n_unseen: int
    n_beyond: int
    n_missing: int
    low: float | None
    high: float | None

    @property
    def n_rows(self) -> int:
        """Number of rows with a new value in this column."""
        return self.n_unseen + self.n_beyond + self.n_missing


@dataclass(frozen=True, slots=True)
class NewValues:
    """Values of a table that were not seen in training, by column.

    Attributes
    ----------
    ranges : bool
        Whether the model knows the training range of its columns; it always knows the categories.
    n_rows : int
        Number of rows with a new value.
    n_unseen : int
        Number of rows with a new category.
    columns : tuple of NewColumn
        Columns with new values, most rows first.
    share_by_chance : float
        Share of the rows expected outside the training range of a column if the rows are like the training rows.
    """

    ranges: bool
    n_rows: int
    n_unseen: int
    columns: tuple[NewColumn, ...]
    share_by_chance: float


@dataclass(frozen=True, slots=True)
class Drift:
    """Result of the two-sided test whether two tables have the same distribution.

    Attributes
    ----------
    p_value : float
        Of the whole table, adjusted for the number of columns.
    columns : tuple of ColumnDrift
        Columns of the table, the strongest evidence first.
    scores : tuple of ColumnDrift
        Novelty and, if the rows of both tables have it, total uncertainty, compared like columns.
    """

    p_value: float
    columns: tuple[ColumnDrift, ...]
    scores: tuple[ColumnDrift, ...]


@dataclass(frozen=True, slots=True)
class ForeignRow:
    """A row above the threshold, and why.

    Attributes
    ----------
    row : int
        Position in its table, from 0.
    score : float
    columns : tuple of (str, float)
        Columns that add most to the score, with what they add; empty if uncertainty alone decides.
    """

    row: int
    score: float
    columns: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, eq=False)
class DomainComparison:
    """Comparison of a table with rows of the domain: this table with training rows, or the other table with this one.

    Attributes
    ----------
    n_rows : int
        Number of rows of the table.
    measure : {"combined", "novelty", "knowledge"}
        What rows are scored by: novelty and total uncertainty, novelty alone, or knowledge uncertainty.
    inside, outside : arrays of shape (m,) and (k,)
        Scores of rows of the domain and of the table; of large tables, of evenly spaced rows.
    threshold : float or None
        A row above it is flagged as out of domain; None with too few rows for the false alarm rate.
    false_alarm_rate : float
    share : float or None
        Share of the table's rows above the threshold.
    auc : float or None
        Probability that a row of the other table has a larger score than a row of this table; None for training rows,
        whose uncertainty is measured by other chains.
    knowledge_auc : float or None
        The same by knowledge uncertainty; None if there is none.
    drift : Drift or None
        None with too few rows.
    foreign : tuple of ForeignRow
        The rows with the largest scores above the threshold.
    new_values : NewValues
        Values of the table that were not seen in training.
    """

    n_rows: int
    measure: DomainMeasure
    inside: Floats
    outside: Floats
    threshold: float | None
    false_alarm_rate: float
    share: float | None
    auc: float | None
    knowledge_auc: float | None
    drift: Drift | None
    foreign: tuple[ForeignRow, ...]
    new_values: NewValues


@dataclass(frozen=True, slots=True, eq=False)
class OutOfDomain:
    """Rows of this table that look out of domain.

    Attributes
    ----------
    has_knowledge : bool
        Whether the model has knowledge uncertainty; a single member has none.
    n_outliers : int or None
        Number of rows whose knowledge uncertainty is an outlier among the rows of this table; None if there is no
        knowledge uncertainty, or with too few rows.
    n_flagged : int
        Number of rows that are outliers or hold a new value.
    new_values : NewValues
    training : DomainComparison or None
        Comparison with the training rows; None if the model keeps none, and then outliers are judged.
    """

    has_knowledge: bool
    n_outliers: int | None
    n_flagged: int
    new_values: NewValues
    training: DomainComparison | None = None
