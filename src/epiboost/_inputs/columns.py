"""Columns of any library to one table of floats, in which categories are codes.

Which columns hold categories is decided once, in training: those that ``categorical_features`` lists or, for "auto",
those that are not numbers. At prediction the vocabularies that were learned then say so.
"""

import numbers
from collections.abc import Sequence
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from epiboost._inputs.categories import Vocabulary, factor_of
from epiboost._typing import AnyArray

Vocabularies: TypeAlias = tuple[Vocabulary | None, ...]
"""One entry a column, None for a column of numbers; empty if no column holds categories."""

_WORDS = (str, bytes, list, tuple)
_TEXTS = (nw.String, nw.Categorical, nw.Enum)
_CATEGORIES = (*_TEXTS, nw.Boolean, nw.Object)
_ALLOWED = "categorical_features must be 'auto', None or a list of names or positions; got {!r}"
_SHOWN = 10
_LONGEST_SHOWN = 40


def learn_columns(columns: Sequence[Any], names: Sequence[Any], asked: frozenset[int] | None) -> Vocabularies:
    """Return what each column of categories holds.

    Parameters
    ----------
    columns : sequence of arrays of shape (n,) or narwhals.Series
    names : sequence
        Names, or positions where there are none.
    asked : frozenset of int or None
        Positions of the columns that hold categories; None for all that are not numbers.
    """
    learned: list[Vocabulary | None] = []
    others: list[str] = []
    for position, (column, name) in enumerate(zip(columns, names, strict=True)):
        if asked is not None and position in asked:
            _refuse_other_types(column, name)
            learned.append(Vocabulary.of(factor_of(column, repr(name))))
        elif _is_number(column) and not _is_text(column):
            learned.append(None)
        else:
            _refuse_other_types(column, name)
            factor = factor_of(column, repr(name))
            learned.append(Vocabulary.of(factor) if factor.kind == "text" or not _is_object(column) else None)
            if asked is not None and factor.kind == "text":
                others.append(f"{name!r} ({column.dtype})")
    if others:
        message = (
            f"X has columns that are not numbers: {_listed(others)}; name them in categorical_features, or leave them "
            "out"
        )
        raise ValueError(message)
    return tuple(learned) if any(vocabulary is not None for vocabulary in learned) else ()


def read_columns(columns: Sequence[Any], names: Sequence[Any], vocabularies: Vocabularies) -> AnyArray:
    """Return the table, shape (n, columns): numbers as they are, categories as codes."""
    vocabularies = vocabularies or (None,) * len(columns)
    single = not any(vocabularies) and len(columns) > 0 and all(_is_single(column) for column in columns)
    table = np.empty((len(columns[0]) if columns else 0, len(columns)), np.float32 if single else np.float64, order="F")
    others: list[str] = []
    for position, (column, name, vocabulary) in enumerate(zip(columns, names, vocabularies, strict=True)):
        if vocabulary is not None:
            _refuse_other_types(column, name)
            table[:, position] = vocabulary.codes(factor_of(column, repr(name)), repr(name))
        elif _is_number(column):
            table[:, position] = _numbers(column, single=single)
        else:
            factor = factor_of(column, repr(name)) if _is_object(column) else None
            if factor is None or factor.kind == "text":
                _refuse_dates(column, name)
                others.append(f"{name!r} ({column.dtype}{_example(column, name)})")
            else:
                table[:, position] = np.array([*factor.values, np.nan])[factor.places]
    if others:
        message = f"X has columns that are not numbers: {_listed(others)}; they held numbers in training, or nothing"
        raise ValueError(message)
    return table


def without_unused(table: AnyArray, vocabularies: Vocabularies) -> tuple[AnyArray, Vocabularies]:
    """Return the table and the vocabularies without values that no row has (any more)."""
    kept: list[Vocabulary | None] = []
    table = table.copy()
    for column, vocabulary in zip(table.T, vocabularies, strict=True):
        kept.append(None if vocabulary is None else vocabulary.only(column))
        if vocabulary is not None:
            known = column >= 0
            column[known] = np.unique(column[known], return_inverse=True)[1]
    return table, tuple(kept)


def asked_columns(categorical_features: Any, names: Sequence[Any] | None, width: int) -> frozenset[int] | None:  # noqa: ANN401 (anything a user may pass)
    """Return the positions of the columns that a user asks to be categories; None for all that are not numbers.

    >>> sorted(asked_columns(["b", 0], ["a", "b"], 2))
    [0, 1]
    """
    if isinstance(categorical_features, str):
        if categorical_features != "auto":
            raise ValueError(_ALLOWED.format(categorical_features))
        return None
    asked = () if categorical_features is None else categorical_features
    if not np.iterable(asked):
        raise ValueError(_ALLOWED.format(asked))
    return frozenset(_position(entry, names, width) for entry in asked)


def holds_words(table: AnyArray) -> bool:
    """Say whether an array holds text (or what might be meant as such) among its numbers."""
    if table.dtype.kind in "US":
        return True
    return table.dtype.kind == "O" and any(issubclass(kind, _WORDS) for kind in set(map(type, table.ravel())))


def _position(entry: Any, names: Sequence[Any] | None, width: int) -> int:  # noqa: ANN401 (anything a user may pass)
    entry = entry.item() if isinstance(entry, np.generic) else entry
    if isinstance(entry, str):
        if names is None or entry not in names:
            known = "X has no names" if names is None else f"X has {_listed([repr(name) for name in names])}"
            message = f"categorical_features names the column {entry!r}; {known}"
            raise ValueError(message)
        return list(names).index(entry)
    if not isinstance(entry, numbers.Integral) or isinstance(entry, bool) or not 0 <= int(entry) < width:
        message = f"categorical_features must hold names, or positions from 0 to {width - 1}; got {entry!r}"
        raise ValueError(message)
    return int(entry)


def _is_number(column: Any) -> bool:  # noqa: ANN401 (an array or a series)
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "fiub"
    dtype = column.dtype
    return bool(dtype.is_numeric() or dtype == nw.Boolean) or column.null_count() == len(column)


def _is_text(column: Any) -> bool:  # noqa: ANN401 (an array or a series)
    """Say whether a column is of text or of categories by its type, though it may hold nothing."""
    return not isinstance(column, np.ndarray) and column.dtype in _TEXTS


def _example(column: Any, name: Any) -> str:  # noqa: ANN401 (an array or a series; any name)
    """Return the first text that is not a number, in words."""
    if not (_is_text(column) or _is_object(column)):
        return ""
    found = (value for value in factor_of(column, repr(name)).values if isinstance(value, str) and not _reads(value))
    text = next(found, None)
    return "" if text is None else f", such as {text[:_LONGEST_SHOWN]!r}"


def _reads(text: str) -> bool:
    """Say whether a text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_object(column: Any) -> bool:  # noqa: ANN401 (an array or a series)
    return bool(column.dtype == (object if isinstance(column, np.ndarray) else nw.Object))


def _is_of_objects(column: nw.Series[Any]) -> bool:
    """Say whether pandas has no type for a column; narwhals would look at its values to find one."""
    return bool(column.implementation.is_pandas() and column.to_native().dtype == object)


def _is_single(column: Any) -> bool:  # noqa: ANN401 (an array or a series)
    return bool(column.dtype == (np.float32 if isinstance(column, np.ndarray) else nw.Float32))


def _numbers(column: Any, *, single: bool) -> AnyArray:  # noqa: ANN401 (an array or a series)
    if isinstance(column, np.ndarray):
        return np.asarray(column, dtype=np.float64)
    if column.null_count() == len(column):  # of whatever type: there may be no way from it to a number
        return np.full(len(column), np.nan, dtype=np.float32 if single else np.float64)
    array: AnyArray = column.cast(nw.Float32 if single else nw.Float64).to_numpy()
    return array


def _refuse_other_types(column: Any, name: Any) -> None:  # noqa: ANN401 (an array or a series; any name)
    if isinstance(column, np.ndarray) or _is_of_objects(column):  # values are asked one by one
        return
    dtype = column.dtype  # asked for once: pandas looks at every value of an object column to tell
    if dtype.is_numeric() or dtype in _CATEGORIES or column.null_count() == len(column):  # holes may be of any type
        return
    _refuse_dates(column, name)
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


def _refuse_dates(column: Any, name: Any) -> None:  # noqa: ANN401 (an array or a series; any name)
    if isinstance(column, np.ndarray):
        return
    if column.dtype.is_temporal() or _type_name(column).startswith("period"):
        message = (
            f"column {name!r} holds dates or durations ({_type_name(column)}); turn them into numbers, say days since "
            "a fixed day, or leave the column out"
        )
        raise ValueError(message)


def _type_name(column: nw.Series[Any]) -> str:
    """Return what a column's type is called, by its own library if narwhals has no name for it."""
    if column.dtype != nw.Unknown:
        return str(column.dtype)
    native = column.to_native()
    return str(native.dtype if hasattr(native, "dtype") else native.type)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
