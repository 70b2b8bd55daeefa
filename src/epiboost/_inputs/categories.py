"""Categorical columns: from values of any kind to codes.

A column is first factorized into its distinct values and the position of each row's value among them, by what is fast
for its library: an existing dictionary, or a hash table. Everything else (the kind of values, whether they were seen in
training) is computed on the distinct values only.

>>> import numpy as np
>>> column = factorize(np.array(["Oslo", "Lima", None, "Oslo"], dtype=object), "city")
>>> categories = Categories.fit(column)
>>> categories.values
('Lima', 'Oslo')
>>> categories.encode(column, "city")
array([ 1.,  0., nan,  1.])
>>> categories.encode(factorize(np.array(["Rome"], dtype=object), "city"), "city")
array([-1.])

Whole numbers are compared exactly. Of other numbers, one may be the other's rounding to single precision, so that a
column may be trained in one precision and predicted in the other:

>>> categories = Categories.fit(factorize(np.array([0.1, 0.2]), "rate"))
>>> categories.encode(factorize(np.array([0.2, 0.3], dtype=np.float32), "rate"), "rate")
array([ 1., -1.])
"""

import math
import numbers
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import compress, repeat
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np

from epiboost._inputs.inexact_values import MAX_EXACT
from epiboost._typing import AnyArray, Column, Floats, Integers, LibraryObject

Kind: TypeAlias = Literal["text", "number"]
Value: TypeAlias = str | int | float

UNSEEN = -1.0
"""The code of a value that was not seen in training. Known values have codes from 0, a missing value has NaN."""

_MISSING_TYPES = {"NoneType", "NAType", "NaTType"}
_DATES = "dates or durations; turn them into numbers, say days since a fixed day"


@dataclass(frozen=True, slots=True)
class FactorizedColumn:
    """Distinct values of a column, and the position of each row's value among them.

    Attributes
    ----------
    values : tuple of str, int or float
        Distinct values; whole numbers are int.
    kind : "text", "number" or None
        What the values are; None if there are none.
    positions : array of shape (n,)
        Position of each row's value in ``values``; -1 for a missing value.
    """

    values: tuple[Value, ...]
    kind: Kind | None
    positions: Integers


@dataclass(frozen=True, slots=True)
class Categories:
    """The values of a column that were seen in training, in the order of their codes."""

    values: tuple[Value, ...]
    kind: Kind | None
    _codes: Mapping[Value, int] = field(init=False, repr=False, compare=False)
    _single_codes: Mapping[Value, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the values by their codes."""
        object.__setattr__(self, "_codes", {value: code for code, value in enumerate(self.values)})
        object.__setattr__(self, "_single_codes", _codes_of_roundings(self.values, self.kind))

    @classmethod
    def fit(cls, column: FactorizedColumn) -> "Categories":
        """Return the values that occur in a column, sorted: the order of the rows does not matter."""
        occurs = np.bincount(column.positions + 1, minlength=len(column.values) + 1)[1:] > 0
        return cls(tuple(sorted(compress(column.values, occurs.tolist()))), column.kind)

    def only(self, codes: AnyArray) -> "Categories":
        """Return the values that have one of the codes."""
        return Categories(tuple(self.values[code] for code in np.unique(codes[codes >= 0]).astype(int)), self.kind)

    def code(self, value: Value) -> float:
        """Return the code of text, or of a whole number: from 0 for known values, -1 for unseen ones."""
        return self._codes.get(value, UNSEEN)

    def encode(self, column: FactorizedColumn, name: str) -> Floats:
        """Return the code of each row: from 0 for known values, -1 for unseen ones, NaN for missing ones."""
        if column.kind is not None and self.kind is not None and column.kind != self.kind:
            held = {"text": "text", "number": "numbers"}
            message = (
                f"column {name} held {held[self.kind]} in training and holds {held[column.kind]} now "
                f"({column.values[0]!r}); give it values of the same type"
            )
            raise ValueError(message)
        table = np.full(len(column.values) + 1, np.nan)
        table[:-1] = np.fromiter(map(self._codes.get, column.values, repeat(UNSEEN)), np.float64, len(column.values))
        if column.kind == "number":
            for position in np.flatnonzero(table == UNSEEN):
                table[position] = self._code_across_precisions(column.values[position])
        return table[column.positions]  # a missing value has position -1, the last entry

    def _code_across_precisions(self, value: Value) -> float:
        """Return the code of the known value that this one rounds to, or that rounds to this one."""
        rounded = _rounding(value)
        if rounded is None:
            return UNSEEN
        return self._codes.get(rounded, self._single_codes.get(value, UNSEEN))


def factorize(column: Column, name: str) -> FactorizedColumn:
    """Return the distinct values of a column, and the position of each row's value.

    Parameters
    ----------
    column : array of shape (n,) or narwhals.Series
    name : str
        What an error calls the column.
    """
    if isinstance(column, np.ndarray):
        positions, values = _from_array(column, name)
    elif column.implementation.is_pandas():
        positions, values = _from_pandas(column.to_native(), name)
    elif column.implementation.is_pyarrow():
        positions, values = _from_arrow(column.to_native())
    else:
        positions, values = _from_any_series(column, name)
    return _check_values(values, positions, name)


def _codes_of_roundings(values: Sequence[Value], kind: Kind | None) -> dict[Value, int]:
    """Return the code of the value that rounds to each single-precision number, where there is only one such value."""
    roundings = [_rounding(value) for value in values] if kind == "number" else []
    times = Counter(roundings)
    return {of: code for code, of in enumerate(roundings) if of is not None and times[of] == 1}


def _rounding(value: Value) -> float | None:
    """Return a number in single precision; None for text, whole numbers (ids are never merged) and infinite ones."""
    if not isinstance(value, float) or not math.isfinite(value) or value.is_integer():
        return None
    rounded = float(np.float32(value))
    return None if rounded.is_integer() else rounded


def _from_pandas(column: LibraryObject, name: str) -> tuple[Integers, Sequence[Any]]:
    pandas = sys.modules["pandas"]
    if isinstance(column.dtype, pandas.CategoricalDtype):
        used = column.cat.remove_unused_categories()  # others are not judged
        return used.cat.codes.to_numpy().astype(np.int64), used.cat.categories.tolist()
    try:
        positions, values = pandas.factorize(column.to_numpy() if column.dtype == object else column)
    except TypeError as error:
        raise _unhashable(column, name) from error
    return positions, values.tolist()


def _from_arrow(column: LibraryObject) -> tuple[Integers, Sequence[Any]]:
    encoded = column if hasattr(column.type, "index_type") else column.dictionary_encode()
    parts = encoded.unify_dictionaries().chunks
    # indices may be unsigned: they have no -1
    positions = [part.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False) for part in parts]
    return np.concatenate([np.empty(0, dtype=np.int64), *positions]), parts[0].dictionary.to_pylist() if parts else []


def _from_any_series(column: nw.Series[Any], name: str) -> tuple[Integers, Sequence[Any]]:
    if column.dtype == nw.Decimal or column.dtype in {nw.Object, nw.Int128, nw.UInt128}:
        return _from_array(np.fromiter(column.to_list(), dtype=object, count=len(column)), name)
    if column.dtype in {nw.Categorical, nw.Enum}:
        column = column.cast(nw.String)
    distinct = column.drop_nulls().unique().to_list()
    if not distinct:
        return np.full(len(column), -1), []
    positions = column.replace_strict(distinct, list(range(len(distinct))), return_dtype=nw.Int64)
    return positions.fill_null(-1).to_numpy().astype(np.int64), distinct


def _from_array(column: AnyArray, name: str) -> tuple[Integers, Sequence[Any]]:
    if column.dtype.kind != "O":
        values, positions = np.unique(column, return_inverse=True)
        return positions.reshape(-1), values.tolist()
    entries = column.tolist()
    try:
        position_of = {value: position for position, value in enumerate(dict.fromkeys(entries))}
    except TypeError as error:
        raise _unhashable(entries, name) from error
    return np.fromiter(map(position_of.__getitem__, entries), np.int64, len(entries)), list(position_of)


def _unhashable(entries: Iterable[object], name: str) -> ValueError:
    kinds = {type(entry).__name__ for entry in entries} - _MISSING_TYPES - {"str", "int", "float"}
    return ValueError(_not_a_category(name, ", ".join(sorted(kinds))))


def _not_a_category(name: str, kind: str) -> str:
    return (
        f"column {name} holds values of type {kind}; a category must be text or a number; make text of it, say by str"
    )


def _check_values(values: Sequence[Any], positions: Integers, name: str) -> FactorizedColumn:
    """Return the column without missing values; raise a ValueError if a value cannot be a category."""
    kinds = {type(value) for value in values}
    if kinds == {str} and len(set(values)) == len(values):  # a dictionary of Arrow may hold one twice
        return FactorizedColumn(tuple(values), "text", positions)
    plain: list[Value] = []
    new_positions = np.full(len(values) + 1, -1)
    found: dict[Kind, Value] = {}
    known: dict[Value, int] = {}
    for position, value in enumerate(values):
        kind = _kind_of(value, name)
        if kind is None:
            continue
        plain_value = str(value) if kind == "text" else _canonical_number(value)
        found.setdefault(kind, plain_value)
        new_positions[position] = known.setdefault(plain_value, len(plain))
        if new_positions[position] == len(plain):
            plain.append(plain_value)
    if len(found) > 1:
        message = (
            f"column {name} mixes text ({found['text']!r}) and numbers ({found['number']!r}); make them all text or "
            "all numbers"
        )
        raise ValueError(message)
    return FactorizedColumn(tuple(plain), next(iter(found), None), new_positions[positions])


def _kind_of(value: object, name: str) -> Kind | None:
    if isinstance(value, str):
        return "text"
    is_duration = isinstance(value, np.timedelta64)  # an integer for Python
    if not is_duration and isinstance(value, bool | np.bool_ | numbers.Real | Decimal):
        return None if value != value else "number"  # noqa: PLR0124 (NaN)
    kind = type(value).__name__
    if kind in _MISSING_TYPES:
        return None
    if isinstance(value, bytes | bytearray | memoryview):
        message = f"column {name} holds bytes ({bytes(value[:20])!r}); decode them to text"
    elif isinstance(value, date | time | timedelta | np.datetime64 | np.timedelta64) or kind == "Period":
        message = f"column {name} holds {_DATES}"
    else:
        message = _not_a_category(name, kind)
    raise ValueError(message)


def _canonical_number(value: LibraryObject) -> int | float:
    """Return a number such that equal numbers are the same object type: whole numbers are int, however large."""
    if isinstance(value, numbers.Integral | np.bool_):
        return int(value)
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < MAX_EXACT else number
