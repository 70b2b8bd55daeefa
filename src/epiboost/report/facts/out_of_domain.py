"""Out-of-domain rows: values not seen in training, outliers, and the comparison with another table."""

from dataclasses import dataclass

from epiboost._typing import Floats


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
    """

    has_knowledge: bool
    n_outliers: int | None
    n_flagged: int
    new_values: NewValues


@dataclass(frozen=True, slots=True, eq=False)
class DomainComparison:
    """How well the model distinguishes the rows of another table from the rows of this table.

    Attributes
    ----------
    n_rows : int
        Number of rows of the other table.
    inside, outside : arrays of shape (n,) and (k,)
        Knowledge uncertainties of this and of the other table.
    threshold : float or None
        A row above it counts as out of domain; None with too few rows for the false alarm rate.
    false_alarm_rate : float
    share : float or None
        Share of the other table's rows above the threshold.
    auc : float
        Probability that a row of the other table has the larger knowledge uncertainty.
    p_value : float or None
        One-sided p-value of the difference.
    new_values : NewValues
        Values of the other table that were not seen in training.
    """

    n_rows: int
    inside: Floats
    outside: Floats
    threshold: float | None
    false_alarm_rate: float
    share: float | None
    auc: float
    p_value: float | None
    new_values: NewValues

    @property
    def two_sided_p_value(self) -> float | None:
        """Probability of a difference this large, in either direction, by chance."""
        return None if self.p_value is None else min(1.0, 2.0 * min(self.p_value, 1.0 - self.p_value))
