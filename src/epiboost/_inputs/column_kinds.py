"""Recognises which columns are numeric and which are categorical.

``categorical_features`` lists the categorical columns (`requested_columns`); with "auto", a column is categorical if it
is not numeric (`has_numeric_type`, `is_categorical`).
"""

import numbers
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from epiboost._inputs.categories import FactorizedColumn, factorize
from epiboost._typing import AnyArray, Column

_TEXT_TYPES = (str, bytes, list, tuple)
_TEXT_DTYPES = (nw.String, nw.Categorical, nw.Enum)
_CATEGORY_TYPES = (*_TEXT_DTYPES, nw.Boolean, nw.Object)
_ALLOWED = "categorical_features must be 'auto', None or a list of names or positions; got {!r}"
_MAX_LISTED = 10
_MAX_LENGTH = 40


def requested_columns(
    categorical_features: object, names: Sequence[Any] | None, n_columns: int
) -> frozenset[int] | None:
    """Return the positions of the columns that ``categorical_features`` lists; None for all that are not numeric.

    >>> sorted(requested_columns(["b", 0], ["a", "b"], 2))
    [0, 1]
    """
    if isinstance(categorical_features, str):
        if categorical_features != "auto":
            raise ValueError(_ALLOWED.format(categorical_features))
        return None
    entries: Any = () if categorical_features is None else categorical_features
    if not np.iterable(entries):
        raise ValueError(_ALLOWED.format(entries))
    return frozenset(_position(entry, names, n_columns) for entry in entries)


def holds_text(table: AnyArray) -> bool:
    """Return whether an array holds text, or lists, among its numbers."""
    if table.dtype.kind in "US":
        return True
    return table.dtype.kind == "O" and any(issubclass(kind, _TEXT_TYPES) for kind in set(map(type, table.ravel())))


def _position(entry: object, names: Sequence[Any] | None, n_columns: int) -> int:
    entry = entry.item() if isinstance(entry, np.generic) else entry
    if isinstance(entry, str):
        if names is None or entry not in names:
            known = "X has no names" if names is None else f"X has {listed([repr(name) for name in names])}"
            message = f"categorical_features names the column {entry!r}; {known}"
            raise ValueError(message)
        return list(names).index(entry)
    if not isinstance(entry, numbers.Integral) or isinstance(entry, bool) or not 0 <= int(entry) < n_columns:
        message = f"categorical_features must hold names, or positions from 0 to {n_columns - 1}; got {entry!r}"
        raise ValueError(message)
    return int(entry)


def is_number(column: Column) -> bool:
    """Return whether a column is numeric by its type, or entirely missing."""
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "fiub"
    dtype = column.dtype
    return bool(dtype.is_numeric() or dtype == nw.Boolean) or column.null_count() == len(column)


def is_text(column: Column) -> bool:
    """Return whether a column's type is text or categories, even if all its values are missing."""
    return not isinstance(column, np.ndarray) and column.dtype in _TEXT_DTYPES


def has_numeric_type(column: Column) -> bool:
    """Return whether a column is numeric by its type alone; text is not, even if all its values are missing."""
    return is_number(column) and not is_text(column)


def is_categorical(column: Column, factorized: FactorizedColumn, *, is_requested: bool) -> bool:
    """Return whether a column that is requested, or whose type is not numeric, is categorical.

    A column of Python objects may hold numbers. It is then categorical only if it is requested.

    >>> numbers, text = np.array([1, 2], dtype=object), np.array(["1", "2"], dtype=object)
    >>> [is_categorical(column, factorize(column, "size"), is_requested=False) for column in (numbers, text)]
    [False, True]
    """
    return is_requested or factorized.kind == "text" or not is_object(column)


def example_of_text(column: Column, name: object) -> str:
    """Return the first value that is not a number, for an error text."""
    if not (is_text(column) or is_object(column)):
        return ""
    found = (
        value for value in factorize(column, repr(name)).values if isinstance(value, str) and not _is_numeral(value)
    )
    text = next(found, None)
    return "" if text is None else f", such as {text[:_MAX_LENGTH]!r}"


def _is_numeral(text: str) -> bool:
    """Return whether a text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_object(column: Column) -> bool:
    """Return whether a column holds Python objects."""
    return bool(column.dtype == (object if isinstance(column, np.ndarray) else nw.Object))


def _is_pandas_object(column: nw.Series[Any]) -> bool:
    """Return whether a pandas column has dtype object; narwhals would look at its values to find another type."""
    return bool(column.implementation.is_pandas() and column.to_native().dtype == object)


def is_single(column: Column) -> bool:
    """Return whether a column is in single precision."""
    return bool(column.dtype == (np.float32 if isinstance(column, np.ndarray) else nw.Float32))


def check_type(column: Column, name: object) -> None:
    """Raise an error if a column's type can be neither a number nor a category."""
    if isinstance(column, np.ndarray) or _is_pandas_object(column):  # values are checked one by one
        return
    dtype = column.dtype  # read once: pandas looks at every value of an object column
    if (
        dtype.is_numeric() or dtype in _CATEGORY_TYPES or column.null_count() == len(column)
    ):  # missing values may be of any type
        return
    refuse_dates(column, name)
    kind = _type_name(column)
    message = f"column {name!r} holds values of type {kind}; numbers, text and categories are allowed"
    raise ValueError(message + _remedy(kind))


def _remedy(kind: str) -> str:
    remedies = {
        "Binary": "decode bytes to text",
        "Sparse": "make it dense, in pandas by .sparse.to_dense()",
        "interval": "make text of it, say by .astype(str)",
    }
    return next((f"; {remedy}" for start, remedy in remedies.items() if kind.startswith(start)), "")


def refuse_dates(column: Column, name: object) -> None:
    """Raise an error if a column holds dates or durations."""
    if isinstance(column, np.ndarray):
        return
    if column.dtype.is_temporal() or _type_name(column).startswith("period"):
        message = (
            f"column {name!r} holds dates or durations ({_type_name(column)}); turn them into numbers, say days since "
            "a fixed day, or leave the column out"
        )
        raise ValueError(message)


def _type_name(column: nw.Series[Any]) -> str:
    """Return the name of a column's type; its own library's name if narwhals has none."""
    if column.dtype != nw.Unknown:
        return str(column.dtype)
    native = column.to_native()
    return str(native.dtype if hasattr(native, "dtype") else native.type)


def listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    shown = ", ".join(names[:_MAX_LISTED])
    return shown if len(names) <= _MAX_LISTED else f"{shown} and {len(names) - _MAX_LISTED} more"
