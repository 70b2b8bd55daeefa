"""Rows that the report shows: points of the chart and lines of the tables."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from epiboost._typing import AnyArray, Floats, Integers

RowKind: TypeAlias = Literal["noisy", "unfamiliar", "ordinary", "other"]
"""Why a row is uncertain; "other" is a row of the other table."""


@dataclass(frozen=True, slots=True)
class KindThresholds:
    """What a row must exceed to be unfamiliar or noisy; `epiboost.report.row_kinds` has the rules.

    Attributes
    ----------
    knowledge, extreme : float
        Knowledge uncertainty of an unfamiliar row, and of one that is unfamiliar however noisy it is.
    share : float or None
        Share of knowledge in the total uncertainty of an unfamiliar row; None without data uncertainty.
    data : float or None
        Data uncertainty of a noisy row; None if the members do not predict it.
    """

    knowledge: float
    extreme: float
    share: float | None
    data: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Rows of the chart of data and knowledge uncertainty, one point per row.

    Attributes
    ----------
    row : integer array of shape (k,)
        Positions in their table, from 0.
    data, knowledge : arrays of shape (k,)
        ``data`` is None if the members do not predict it.
    kind : tuple of RowKind
    """

    row: Integers
    data: Floats | None
    knowledge: Floats
    kind: tuple[RowKind, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RowTable:
    """Rows with their predictions and feature values, as text.

    Attributes
    ----------
    row : integer array of shape (k,)
        Positions in their table, from 0.
    other : array of bool, of shape (k,)
        Whether the row is from the other table.
    kind : tuple of RowKind
    prediction : tuple of str
    target : tuple of str or None
        None without targets.
    error : array of shape (k,) or None
        1 for a wrong label; the absolute error for a number.
    score : array of shape (k,)
        The uncertainty that abstention uses.
    knowledge : array of shape (k,)
    data : array of shape (k,) or None
    novelty : array of shape (k,) or None
        None if the model keeps no training rows.
    reason : tuple of str
        Feature that adds most to the uncertainty; empty without explanations.
    names : tuple of str
        Columns that are shown.
    cells : array of str, of shape (k, columns)
    """

    row: Integers
    other: AnyArray
    kind: tuple[RowKind, ...]
    prediction: tuple[str, ...]
    target: tuple[str, ...] | None
    error: Floats | None
    score: Floats
    knowledge: Floats
    data: Floats | None
    novelty: Floats | None
    reason: tuple[str, ...]
    names: tuple[str, ...]
    cells: AnyArray
