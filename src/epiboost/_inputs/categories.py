"""Columns of categories: from values of any kind to small whole numbers.

A column is first taken apart into its distinct values and, for each row, the place of its value among them, by whatever
is fast where the column lives: a dictionary that is there already, or a hash table. All that follows (what kind of
values they are, whether they were seen in training) is asked of the distinct values alone.

>>> import numpy as np
>>> factor = factor_of(np.array(["Oslo", "Lima", None, "Oslo"], dtype=object), "city")
>>> vocabulary = Vocabulary.of(factor)
>>> vocabulary.values
('Lima', 'Oslo')
>>> vocabulary.codes(factor, "city")
array([ 1.,  0., nan,  1.])
>>> vocabulary.codes(factor_of(np.array(["Rome"], dtype=object), "city"), "city")
array([-1.])

Numbers that are whole are compared exactly. Of others, one may be the other's rounding to single precision, so that a
column may be trained in one precision and predicted in the other:

>>> vocabulary = Vocabulary.of(factor_of(np.array([0.1, 0.2]), "rate"))
>>> vocabulary.codes(factor_of(np.array([0.2, 0.3], dtype=np.float32), "rate"), "rate")
array([ 1., -1.])
"""

import math
import numbers
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import compress, repeat
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np

from epiboost._typing import AnyArray, Floats, Integers

Kind: TypeAlias = Literal["text", "number"]
Value: TypeAlias = str | int | float

UNSEEN = -1.0
"""The code of a value that training has not seen. Known values have codes from 0, a missing value has NaN."""

_LARGEST_EXACT = 2**53
_NO_VALUES = {"NoneType", "NAType", "NaTType"}
_DATES = "dates or durations; turn them into numbers, say days since a fixed day"


@dataclass(frozen=True, slots=True)
class Factor:
    """A column, taken apart.

    Attributes
    ----------
    values : tuple of str, int or float
        Distinct values; whole numbers are int.
    kind : "text", "number" or None
        What the values are; None if there are none.
    places : array of shape (n,)
        The place of each row's value in ``values``; -1 for a missing one.
    """

    values: tuple[Value, ...]
    kind: Kind | None
    places: Integers


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The values of a column that training has seen, in the order of their codes."""

    values: tuple[Value, ...]
    kind: Kind | None
    _codes: Mapping[Value, int] = field(init=False, repr=False, compare=False)
    _single_codes: Mapping[Value, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the values ready to be looked up."""
        object.__setattr__(self, "_codes", {value: code for code, value in enumerate(self.values)})
        object.__setattr__(self, "_single_codes", _codes_of_roundings(self.values, self.kind))

    @classmethod
    def of(cls, factor: Factor) -> "Vocabulary":
        """Learn the values that occur in a column; their order is their own, whatever that of the rows."""
        occurs = np.bincount(factor.places + 1, minlength=len(factor.values) + 1)[1:] > 0
        return cls(tuple(sorted(compress(factor.values, occurs.tolist()))), factor.kind)

    def only(self, codes: AnyArray) -> "Vocabulary":
        """Return a vocabulary of the values that have one of the codes."""
        return Vocabulary(tuple(self.values[code] for code in np.unique(codes[codes >= 0]).astype(int)), self.kind)

    def codes(self, factor: Factor, name: str) -> Floats:
        """Return each row's code: from 0 for known values, -1 for unseen ones, NaN for missing ones."""
        if factor.kind is not None and self.kind is not None and factor.kind != self.kind:
            held = {"text": "text", "number": "numbers"}
            message = (
                f"column {name} held {held[self.kind]} in training and holds {held[factor.kind]} now "
                f"({factor.values[0]!r}); give it values of the same type"
            )
            raise ValueError(message)
        table = np.full(len(factor.values) + 1, np.nan)
        table[:-1] = np.fromiter(map(self._codes.get, factor.values, repeat(UNSEEN)), np.float64, len(factor.values))
        if factor.kind == "number":
            for place in np.flatnonzero(table == UNSEEN):
                table[place] = self._code_across_precisions(factor.values[place])
        return table[factor.places]  # the place of a missing value is -1, the last

    def _code_across_precisions(self, value: Value) -> float:
        """Return the code of the known value that this one rounds to, or that rounds to this one."""
        rounded = _rounding(value)
        if rounded is None:
            return UNSEEN
        return self._codes.get(rounded, self._single_codes.get(value, UNSEEN))


def factor_of(column: Any, name: str) -> Factor:  # noqa: ANN401 (a column of any library)
    """Take a column apart: a NumPy array, or a series of narwhals.

    Parameters
    ----------
    column : array of shape (n,) or narwhals.Series
    name : str
        What to call the column in an error.
    """
    if isinstance(column, np.ndarray):
        places, values = _from_array(column, name)
    elif column.implementation.is_pandas():
        places, values = _from_pandas(column.to_native(), name)
    elif column.implementation.is_pyarrow():
        places, values = _from_arrow(column.to_native())
    else:
        places, values = _from_any_series(column, name)
    return _checked(values, places, name)


def _codes_of_roundings(values: Sequence[Value], kind: Kind | None) -> dict[Value, int]:
    """Return the code of the value that each number of single precision is the rounding of, where it is but one."""
    roundings = [_rounding(value) for value in values] if kind == "number" else []
    times = Counter(roundings)
    return {of: code for code, of in enumerate(roundings) if of is not None and times[of] == 1}


def _rounding(value: Value) -> float | None:
    """Return a number in single precision; None for text, and where it is whole (ids are never merged) or too large."""
    if not isinstance(value, float) or not math.isfinite(value) or value.is_integer():
        return None
    rounded = float(np.float32(value))
    return None if rounded.is_integer() else rounded


def _from_pandas(column: Any, name: str) -> tuple[Integers, Sequence[Any]]:  # noqa: ANN401 (a pandas.Series)
    pandas = sys.modules["pandas"]
    if isinstance(column.dtype, pandas.CategoricalDtype):
        used = column.cat.remove_unused_categories()  # others are not judged
        return used.cat.codes.to_numpy().astype(np.int64), used.cat.categories.tolist()
    try:
        places, values = pandas.factorize(column.to_numpy() if column.dtype == object else column)
    except TypeError as error:
        raise _unhashable(column, name) from error
    return places, values.tolist()


def _from_arrow(column: Any) -> tuple[Integers, Sequence[Any]]:  # noqa: ANN401 (a pyarrow.ChunkedArray)
    encoded = column if hasattr(column.type, "index_type") else column.dictionary_encode()
    parts = encoded.unify_dictionaries().chunks
    # indices may be unsigned: they have no -1
    places = [part.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False) for part in parts]
    return np.concatenate([np.empty(0, dtype=np.int64), *places]), parts[0].dictionary.to_pylist() if parts else []


def _from_any_series(column: nw.Series[Any], name: str) -> tuple[Integers, Sequence[Any]]:
    if column.dtype == nw.Decimal or column.dtype in {nw.Object, nw.Int128, nw.UInt128}:
        return _from_array(np.fromiter(column.to_list(), dtype=object, count=len(column)), name)
    if column.dtype in {nw.Categorical, nw.Enum}:
        column = column.cast(nw.String)
    distinct = column.drop_nulls().unique().to_list()
    if not distinct:
        return np.full(len(column), -1), []
    places = column.replace_strict(distinct, list(range(len(distinct))), return_dtype=nw.Int64)
    return places.fill_null(-1).to_numpy().astype(np.int64), distinct


def _from_array(column: AnyArray, name: str) -> tuple[Integers, Sequence[Any]]:
    if column.dtype.kind != "O":
        values, places = np.unique(column, return_inverse=True)
        return places.reshape(-1), values.tolist()
    entries = column.tolist()
    try:
        place_of = {value: place for place, value in enumerate(dict.fromkeys(entries))}
    except TypeError as error:
        raise _unhashable(entries, name) from error
    return np.fromiter(map(place_of.__getitem__, entries), np.int64, len(entries)), list(place_of)


def _unhashable(entries: Any, name: str) -> ValueError:  # noqa: ANN401 (anything that can be iterated)
    kinds = {type(entry).__name__ for entry in entries} - _NO_VALUES - {"str", "int", "float"}
    return ValueError(_no_category(name, ", ".join(sorted(kinds))))


def _no_category(name: str, kind: str) -> str:
    return (
        f"column {name} holds values of type {kind}; a category must be text or a number; make text of it, say by str"
    )


def _checked(values: Sequence[Any], places: Integers, name: str) -> Factor:
    """Return the factor with missing values taken out, or say which of its values are no categories."""
    kinds = {type(value) for value in values}
    if kinds == {str} and len(set(values)) == len(values):  # a dictionary of Arrow may hold one twice
        return Factor(tuple(values), "text", places)
    plain: list[Value] = []
    new_places = np.full(len(values) + 1, -1)
    found: dict[Kind, Value] = {}
    known: dict[Value, int] = {}
    for place, value in enumerate(values):
        kind = _kind_of(value, name)
        if kind is None:
            continue
        own = str(value) if kind == "text" else _whole(value)
        found.setdefault(kind, own)
        new_places[place] = known.setdefault(own, len(plain))
        if new_places[place] == len(plain):
            plain.append(own)
    if len(found) > 1:
        message = (
            f"column {name} mixes text ({found['text']!r}) and numbers ({found['number']!r}); make them all text or "
            "all numbers"
        )
        raise ValueError(message)
    return Factor(tuple(plain), next(iter(found), None), new_places[places])


def _kind_of(value: Any, name: str) -> Kind | None:  # noqa: ANN401 (anything a user may pass)
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | np.bool_ | numbers.Real | Decimal):
        return None if value != value else "number"  # noqa: PLR0124 (NaN)
    kind = type(value).__name__
    if kind in _NO_VALUES:
        return None
    if isinstance(value, bytes | bytearray | memoryview):
        message = f"column {name} holds bytes ({bytes(value[:20])!r}); decode them to text"
    elif isinstance(value, date | time | timedelta | np.datetime64 | np.timedelta64) or kind == "Period":
        message = f"column {name} holds {_DATES}"
    else:
        message = _no_category(name, kind)
    raise ValueError(message)


def _whole(value: Any) -> int | float:  # noqa: ANN401 (a number)
    """Return equal numbers as one: whole ones are int, however large."""
    if isinstance(value, numbers.Integral | np.bool_):
        return int(value)
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < _LARGEST_EXACT else number
