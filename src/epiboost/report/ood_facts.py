"""The numbers of what is foreign, as plain values: values not seen, rows that stand out, another table."""

from dataclasses import dataclass

from epiboost._typing import Floats


@dataclass(frozen=True, slots=True)
class NewColumn:
    """A column that holds values which training has not seen.

    Attributes
    ----------
    name : str
    n_unseen, n_beyond, n_missing : int
        Rows with a category not seen, with a number well beyond the range, and with none where none was missing.
    low, high : float or None
        The range in training; None for categories.
    """

    name: str
    n_unseen: int
    n_beyond: int
    n_missing: int
    low: float | None
    high: float | None

    @property
    def n_rows(self) -> int:
        """Rows that hold anything new here."""
        return self.n_unseen + self.n_beyond + self.n_missing


@dataclass(frozen=True, slots=True)
class Novelty:
    """What a table holds that training has not seen, column by column.

    Attributes
    ----------
    ranges : bool
        Whether the model knows between which values its columns lay; categories it always knows.
    n_rows : int
        Rows that hold something new.
    n_unseen : int
        Rows that hold a category not seen.
    columns : tuple of NewColumn
        Those that hold something new, most rows first.
    clear : bool
        Whether some column holds more that is new than chance brings about.
    """

    ranges: bool
    n_rows: int
    n_unseen: int
    columns: tuple[NewColumn, ...]
    clear: bool


@dataclass(frozen=True, slots=True)
class Foreign:
    """How many rows the model has not seen the like of.

    Attributes
    ----------
    knows : bool
        Whether the model has knowledge uncertainty; one member alone has none.
    n_far : int or None
        Rows of the table that stand far out from its others in knowledge uncertainty; None if that cannot be said.
    n_foreign : int
        Rows that do so, or hold something that training has not seen.
    new : Novelty
    """

    knows: bool
    n_far: int | None
    n_foreign: int
    new: Novelty

    @property
    def n_unseen(self) -> int:
        """Rows that hold a category which training has not seen."""
        return self.new.n_unseen


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """How another table is told from this one.

    Attributes
    ----------
    n_rows : int
        Rows of the other table.
    inside, outside : arrays of shape (n,) and (k,)
        Knowledge uncertainties.
    threshold : float or None
        Above it a row is called foreign; None with fewer rows than the rate of false alarms takes.
    false_alarm_rate : float
    share : float or None
        Share of the other table's rows that are called foreign.
    auc : float
        Probability that a row of the other table is less sure than one of this.
    p_value : float or None
        Probability of such a difference without drift.
    new : Novelty
        What the other table holds that training has not seen.
    """

    n_rows: int
    inside: Floats
    outside: Floats
    threshold: float | None
    false_alarm_rate: float
    share: float | None
    auc: float
    p_value: float | None
    new: Novelty

    @property
    def n_unseen(self) -> int:
        """Rows of the other table that hold a category which training has not seen."""
        return self.new.n_unseen

    @property
    def chance(self) -> float | None:
        """Probability of so large a difference, in either direction, without any."""
        return None if self.p_value is None else min(1.0, 2.0 * min(self.p_value, 1.0 - self.p_value))
