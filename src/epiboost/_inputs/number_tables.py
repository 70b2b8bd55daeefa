"""Tables of numbers: checks, and errors that say where a fault is."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from epiboost._inputs.column_kinds import listed
from epiboost._inputs.inexact_values import MAX_EXACT, inexact_numbers_error, refused_column, refusing_overflow
from epiboost._typing import AnyArray, Table

MAX_COLUMNS = 65_535  # split features are stored in 16 bits
_TWO_AXES = 2


def is_numeric(X: Table) -> bool:
    """Return whether a table is a plain NumPy array of numbers with rows and columns."""
    return type(X) is np.ndarray and X.dtype.kind in "fiub" and X.ndim == _TWO_AXES and X.size > 0


def check_numbers(table: Table, owner: str, names: Sequence[Any] | None = None) -> AnyArray:
    """Return a table of numbers as floats; it may hold missing values."""
    if getattr(table, "ndim", 0) == _TWO_AXES and not table.shape[1]:
        refuse_no_columns(table.shape[0], owner)
    _refuse_inexact(table, names)
    try:
        with np.errstate(invalid="ignore", over="ignore"):  # it adds up all values, maybe infinity of both signs
            numbers = check_array(
                table, input_name="X", estimator=owner, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan"
            )
    except OverflowError:
        with refusing_overflow(refused_column(table, names)[0]):
            raise
    except TypeError as error:
        raise _unreadable_error(table, names, error) from error
    except ValueError as error:
        if "setting an array element" in str(error):
            raise _unreadable_error(table, names, error) from error
        if "contains infinity" not in str(error):
            raise
        message = f"{str(error).rstrip('.')}: {_infinite_columns(np.asarray(table, dtype=np.float64), names)}"
        raise ValueError(message) from None
    check_width(numbers.shape[1])
    return np.asarray(numbers)


def _refuse_inexact(table: Table, names: Sequence[Any] | None) -> None:
    """Raise an error for whole numbers that floats do not hold: different ones would become equal."""
    if not isinstance(table, np.ndarray) or table.dtype.kind not in "iu" or table.ndim != _TWO_AXES or not table.size:
        return
    if table.max() <= MAX_EXACT and table.min() >= -MAX_EXACT:
        return
    values = table.astype(object)  # their comparison with floats is exact
    inexact = (table.astype(np.float64).astype(object) != values).any(axis=0)
    if inexact.any():
        position = int(inexact.argmax())
        column = position if names is None else names[position]
        raise inexact_numbers_error(column, f"such as {int(np.abs(values[:, position]).max())}")


def _unreadable_error(table: Table, names: Sequence[Any] | None, error: Exception) -> TypeError:
    """Return the error for a table with a value that is neither a number nor text."""
    column, kind = refused_column(table, names)
    message = (
        f"{column} holds a value of type {kind}; give numbers or text, and None or NaN where one is missing ({error})"
    )
    return TypeError(message)


def _infinite_columns(table: AnyArray, names: Sequence[Any] | None) -> str:
    """Return which columns hold infinity and where, and the remedy."""
    infinite = np.isinf(table)
    found = [
        f"column {(position if names is None else names[position])!r} in row {int(infinite[:, position].argmax())}"
        for position in np.flatnonzero(infinite.any(axis=0)).tolist()
    ]
    return f"{listed(found)}, counted from 0; replace it by a finite number, or by NaN for a missing value"


def refuse_no_columns(n_rows: int, owner: str) -> None:
    """Raise the error for a table without columns."""
    message = (
        f"Found array with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required by {owner}: X has no "
        "columns, of numbers or categories, to learn from"
    )
    raise ValueError(message)


def check_width(n_columns: int) -> None:
    """Raise an error for too many columns."""
    if n_columns > MAX_COLUMNS:
        message = f"X must have at most {MAX_COLUMNS} columns; got {n_columns}"
        raise ValueError(message)
