"""Reads the columns of any library into one table of floats, in which categories are codes.

`fit_columns` decides which columns are categorical, by `column_kinds.is_categorical`; prediction uses the fitted
categories.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from epiboost._inputs.categories import Categories, FactorizedColumn, factorize
from epiboost._inputs.column_kinds import (
    check_type,
    example_of_text,
    has_numeric_type,
    is_categorical,
    is_number,
    is_object,
    is_single,
    listed,
    refuse_dates,
)
from epiboost._inputs.inexact_values import inexact_numbers_error, refusing_overflow
from epiboost._inputs.numbers_as_text import is_declared_category, numbers_as_text, warn_of_numbers_as_text
from epiboost._typing import AnyArray, Column

ColumnCategories: TypeAlias = tuple[Categories | None, ...]
"""One entry per column, None for a numeric column; empty if no column is categorical."""


def fit_columns(
    columns: Sequence[Column], names: Sequence[Any], requested: frozenset[int] | None
) -> tuple[ColumnCategories, AnyArray]:
    """Learn the categories of each column and read the table; each text column is hashed once.

    Parameters
    ----------
    columns : sequence of arrays of shape (n,) or narwhals.Series
    names : sequence
        Names, or positions where there are none.
    requested : frozenset of int or None
        Positions of the categorical columns; None for all columns that are not numeric.

    Returns
    -------
    categories : tuple of Categories or None
    table : array of shape (n, columns)

    Warns
    -----
    NumbersAsTextWarning
        If a column that is not requested holds text in which nearly all values are numbers.
    """
    table = _empty_table(columns, single=not requested)
    learned: list[Categories | None] = []
    unlisted: list[str] = []
    numbers: list[str] = []
    for position, (column, name) in enumerate(zip(columns, names, strict=True)):
        is_requested = requested is not None and position in requested
        if has_numeric_type(column) and not is_requested:
            learned.append(None)
            table[:, position] = _numbers(column, name, single=table.dtype == np.float32)
            continue
        check_type(column, name)
        factorized = factorize(column, repr(name))
        if is_categorical(column, factorized, is_requested=is_requested):
            if requested is not None and not is_requested and factorized.kind == "text":
                unlisted.append(f"{name!r} ({column.dtype})")
            found = numbers_as_text(factorized.values) if requested is None and factorized.kind == "text" else None
            if found is not None and not is_declared_category(column):
                numbers.append(f"{name!r} ({found})")
            learned.append(Categories.fit(factorized))
            table[:, position] = learned[-1].encode(factorized, repr(name))  # type: ignore[union-attr]
        else:
            learned.append(None)
            table[:, position] = _numbers_of_objects(factorized, name)
    if unlisted:
        message = (
            f"X has columns that are not numbers: {listed(unlisted)}; name them in categorical_features, or leave them "
            "out"
        )
        raise ValueError(message)
    if numbers:
        warn_of_numbers_as_text(numbers)
    return tuple(learned) if any(found is not None for found in learned) else (), table


def read_columns(columns: Sequence[Column], names: Sequence[Any], categories: ColumnCategories) -> AnyArray:
    """Return the table, shape (n, columns): numbers as they are, categories as codes."""
    table = _empty_table(columns, single=not categories)
    others: list[str] = []
    known = categories or (None,) * len(columns)
    for position, (column, name, own) in enumerate(zip(columns, names, known, strict=True)):
        if own is not None:
            check_type(column, name)
            table[:, position] = own.encode(factorize(column, repr(name)), repr(name))
        elif is_number(column):
            table[:, position] = _numbers(column, name, single=table.dtype == np.float32)
        else:
            factorized = factorize(column, repr(name)) if is_object(column) else None
            if factorized is None or factorized.kind == "text":
                refuse_dates(column, name)
                others.append(f"{name!r} ({column.dtype}{example_of_text(column, name)})")
            else:
                table[:, position] = _numbers_of_objects(factorized, name)
    if others:
        message = f"X has columns that are not numbers: {listed(others)}; in training they held numbers or were empty"
        raise ValueError(message)
    return table


def drop_unused(table: AnyArray, categories: ColumnCategories) -> tuple[AnyArray, ColumnCategories]:
    """Return the table and the categories without values that no row has."""
    used: list[Categories | None] = []
    table = table.copy()
    for column, known in zip(table.T, categories, strict=True):
        used.append(None if known is None else known.only(column))
        if known is not None:
            present = column >= 0
            column[present] = np.unique(column[present], return_inverse=True)[1]
    return table, tuple(used)


def _empty_table(columns: Sequence[Column], *, single: bool) -> AnyArray:
    """Return an empty table: in single precision if that is allowed and all columns are."""
    single = single and len(columns) > 0 and all(is_single(column) for column in columns)
    n_rows = len(columns[0]) if columns else 0
    return np.empty((n_rows, len(columns)), np.float32 if single else np.float64, order="F")


def _numbers(column: Column, name: object, *, single: bool) -> AnyArray:
    if isinstance(column, np.ndarray):
        return np.asarray(column, dtype=np.float64)
    if column.null_count() == len(column):  # whatever its type: there may be no cast to a number
        return np.full(len(column), np.nan, dtype=np.float32 if single else np.float64)
    try:
        array: AnyArray = column.cast(nw.Float32 if single else nw.Float64).to_numpy()
    except ValueError as error:  # Arrow's cast is exact
        raise inexact_numbers_error(name, error) from error
    return array


def _numbers_of_objects(factorized: FactorizedColumn, name: object) -> AnyArray:
    with refusing_overflow(f"column {name!r} of X"):
        return np.array([*factorized.values, np.nan], dtype=np.float64)[factorized.positions]
