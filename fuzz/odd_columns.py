"""Odd columns, and the containers that hold them."""

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

from epiboost._typing import AnyArray, LibraryObject, Table

Random = np.random.Generator
DAY = dt.date(2024, 2, 29)


def _words(n: int, random: Random, words: Sequence[object]) -> list[object]:
    return [words[place] for place in random.integers(len(words), size=n)]


def _with_missing(values: list[object], random: Random, missing: object) -> list[object]:
    return [missing if random.uniform() < 0.3 else value for value in values]


NUMBERS: dict[str, Callable[[int, Random], LibraryObject]] = {
    "normal": lambda n, random: random.normal(size=n),
    "whole": lambda n, random: random.integers(-3, 4, size=n),
    "flags": lambda n, random: random.uniform(size=n) < 0.5,
    "constant": lambda n, random: np.full(n, random.choice([0.0, -0.0, 7.0, 1e300, 5e-324])),
    "missing": lambda n, _: np.full(n, np.nan),
    "some missing": lambda n, random: np.where(random.uniform(size=n) < 0.3, np.nan, random.normal(size=n)),
    "huge": lambda n, random: random.choice([1e308, -1e308, 1.0], size=n),
    "tiny": lambda n, random: random.choice([5e-324, -5e-324, 0.0, 1e-310], size=n),
    "infinite": lambda n, random: random.choice([np.inf, -np.inf, 0.0], size=n, p=[0.05, 0.05, 0.9]),
    "spread": lambda n, random: 10.0 ** random.uniform(-300, 300, size=n),
    "half": lambda n, random: random.normal(size=n).astype(np.float16),
    "single": lambda n, random: random.normal(size=n).astype(np.float32),
    "extended": lambda n, random: random.normal(size=n).astype(np.longdouble),
    "byte": lambda n, random: random.integers(-128, 128, size=n).astype(np.int8),
    "large whole": lambda n, random: random.integers(2**53, 2**62, size=n),
    "unsigned": lambda n, random: random.integers(2**63, 2**64 - 1, size=n, dtype=np.uint64),
    "big-endian": lambda n, random: random.normal(size=n).astype(">f8"),
}
"""Columns that are arrays of numbers."""

OTHERS: dict[str, Callable[[int, Random], LibraryObject]] = {
    "text": lambda n, random: _words(n, random, ["red", "green", "blue"]),
    "text and None": lambda n, random: _with_missing(_words(n, random, ["red", "blue"]), random, None),
    "text and NaN": lambda n, random: _with_missing(_words(n, random, ["red", "blue"]), random, float("nan")),
    "empty text": lambda n, random: _words(n, random, ["", " ", "a"]),
    "unicode": lambda n, random: _words(n, random, ["ÿ", "\u202eabc", "名前", "a\x00b", "\U0001f600", "e\u0301", "é"]),
    "surrogates": lambda n, random: _words(n, random, ["\ud800", "a"]),
    "numbers as text": lambda n, random: _words(n, random, ["1", "2.5", " 3", "4e400", "nan"]),
    "all different": lambda n, _: [f"id {place}" for place in range(n)],
    "bytes": lambda n, random: _words(n, random, [b"a", b"\xff"]),
    "numbers and text": lambda n, random: _words(n, random, [1, 2.5, "x"]),
    "numbers as objects": lambda n, random: _words(n, random, [1, 2.5, True, np.float32(3.0)]),
    "numbers and None": lambda n, random: _with_missing(_words(n, random, [1, 2.5]), random, None),
    "numbers and NA": lambda n, random: _with_missing(_words(n, random, [1, 2.5]), random, pd.NA),
    "only None": lambda n, _: [None] * n,
    "beyond double": lambda n, random: _words(n, random, [10**400, 1]),
    "decimals": lambda n, random: _words(n, random, [Decimal("1.5"), Decimal(2)]),
    "odd decimals": lambda n, random: _words(n, random, [Decimal("NaN"), Decimal("1e400"), Decimal("Infinity")]),
    "fractions": lambda n, random: _words(n, random, [Fraction(1, 3), Fraction(2)]),
    "complex": lambda n, random: _words(n, random, [1j, 2.0]),
    "dates": lambda n, random: _words(n, random, [DAY, DAY + dt.timedelta(days=1)]),
    "times": lambda n, random: pd.Series(pd.to_datetime(_words(n, random, ["2024-01-01", "2025-01-01"]))),
    "NaT": lambda n, random: pd.Series(_words(n, random, [pd.NaT, pd.Timestamp(DAY)])),
    "durations": lambda n, random: random.integers(5, size=n).astype("timedelta64[s]"),
    "lists": lambda n, random: _words(n, random, [[1], [2, 3]]),
    "dictionaries": lambda n, random: _words(n, random, [{"a": 1}, {}]),
    "objects": lambda n, _: [object() for _ in range(n)],
    "tuples": lambda n, random: _words(n, random, [(1, 2), (3,)]),
}
"""Columns that are lists of Python objects, or series."""

OF_PANDAS: dict[str, Callable[[int, Random], LibraryObject]] = {
    "categories": lambda n, random: pd.Series(pd.Categorical(_words(n, random, ["a", "b", None]), ["b", "a", "c"])),
    "number categories": lambda n, random: pd.Series(pd.Categorical(_words(n, random, [3, 1.5, None]))),
    "mixed categories": lambda n, random: pd.Series(pd.Categorical(_words(n, random, [3, "x", None]))),
    "Int64": lambda n, random: pd.Series(_words(n, random, [1, 2, pd.NA]), dtype="Int64"),
    "Float32": lambda n, random: pd.Series(_words(n, random, [1.5, pd.NA]), dtype="Float32"),
    "boolean": lambda n, random: pd.Series(_words(n, random, [True, False, pd.NA]), dtype="boolean"),
    "string": lambda n, random: pd.Series(_words(n, random, ["x", "y", pd.NA]), dtype="string"),
    "all NA": lambda n, _: pd.Series([pd.NA] * n, dtype="Int64"),
    "Arrow whole": lambda n, random: pd.Series(_words(n, random, [1, 2**60, None]), dtype="int64[pyarrow]"),
    "Arrow text": lambda n, random: pd.Series(_words(n, random, ["x", None]), dtype="string[pyarrow]"),
    "periods": lambda n, random: pd.Series(pd.PeriodIndex(_words(n, random, ["2024-01", "2024-02"]), freq="M")),
    "intervals": lambda n, random: pd.Series(pd.IntervalIndex.from_breaks(range(n + 1))[random.permutation(n)]),
    "sparse": lambda n, random: pd.Series(pd.arrays.SparseArray(random.integers(2, size=n))),
    "with time zone": lambda n, _: pd.Series(pd.date_range("2024-01-01", periods=n, tz="UTC")),
}
"""Columns that only pandas has."""

NAMES: dict[str, Callable[[int, Random], Sequence[object]]] = {
    "letters": lambda k, _: list("abcdefgh"[:k]),
    "numbers": lambda k, _: list(range(k)),
    "twice": lambda k, _: ["a"] * k,
    "empty": lambda k, _: ["", " ", "\n", "\t", "\x00", "  ", "\r", "\v"][:k],
    "unicode": lambda k, _: ["名", "e\u0301", "é", "\U0001f600", "\u202e", "ß", "\u0131", "\u0130"][:k],
    "mixed": lambda k, _: ["a", 1, None, 2.5, True, "b", "c", "d"][:k],
    "like ours": lambda k, _: ["x0", "target", "y", "knowledge", "prediction", "data", "total", "index"][:k],
    "long": lambda k, _: [f"{place}" * 500 for place in range(k)],
}


def draw_table(random: Random, n: int) -> tuple[Table, str]:
    """Return a table of n rows in some container, and a text that says what it is."""
    n_columns = int(random.choice([0, 1, 2, 3, 5], p=[0.02, 0.28, 0.3, 0.3, 0.1]))
    container = "odd shape" if random.uniform() < 0.03 else str(random.choice(list(CONTAINERS)[:-1]))
    kinds = dict(NUMBERS)
    if container in {"pandas", "polars", "arrow", "objects", "lists"}:
        kinds |= OTHERS
    if container == "pandas":
        kinds |= OF_PANDAS
    chosen = [str(random.choice(list(kinds))) for _ in range(n_columns)]
    if random.uniform() < 0.5 and n_columns:
        chosen[0] = "normal"
    columns = [kinds[kind](n, random) for kind in chosen]
    return CONTAINERS[container](columns, n, random), f"{container} of {n} rows: {', '.join(chosen)}"


def _array(columns: list[LibraryObject], n: int, random: Random) -> Table:
    array = np.column_stack(columns) if columns else np.empty((n, 0))
    match random.choice(["plain", "Fortran", "strided", "read-only", "reversed", "big-endian"]):
        case "Fortran":
            array = np.asfortranarray(array)
        case "strided":
            array = np.repeat(array, 2, axis=0)[::2]
        case "read-only":
            array = array.copy()
            array.setflags(write=False)
        case "reversed":
            array = array[::-1, ::-1]
        case "big-endian":
            array = array.astype(array.dtype.newbyteorder(">"))
    return array


def _objects(columns: list[LibraryObject], n: int, _: Random) -> Table:
    array = np.empty((n, len(columns)), dtype=object)
    for place, column in enumerate(columns):
        for row, value in enumerate(column):
            array[row, place] = value
    return array


def _lists(columns: list[LibraryObject], n: int, _: Random) -> Table:
    return [[column[row] for column in columns] for row in range(n)]


def _pandas(columns: list[LibraryObject], n: int, random: Random) -> Table:
    names = NAMES[str(random.choice(list(NAMES)))](len(columns), random)
    index = random.permutation(n) if random.uniform() < 0.3 else None
    series = [_pandas_series(column) for column in columns]
    frame = pd.concat(series, axis=1) if series else pd.DataFrame(index=range(n))
    frame.columns = pd.Index(names, dtype=object)
    return frame if index is None else frame.set_axis(index)


def _pandas_series(column: LibraryObject) -> LibraryObject:
    try:
        return pd.Series(column).reset_index(drop=True)
    except OverflowError:
        return pd.Series(column, dtype=object)


def _polars(columns: list[LibraryObject], _: int, random: Random) -> Table:
    names = _text_names(len(columns), random)
    return pl.DataFrame([_series(pl.Series, name, column) for name, column in zip(names, columns, strict=True)])


def _series(make: Callable[..., LibraryObject], name: str, column: LibraryObject) -> LibraryObject:
    """Return a series of polars; what it does not take is put in as objects, or as text."""
    for values, options in ((column, {}), (list(column), {"dtype": pl.Object}), (list(map(ascii, column)), {})):
        try:
            return make(name, values, **options)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            continue
    raise AssertionError


def _arrow(columns: list[LibraryObject], n: int, random: Random) -> Table:
    arrays = []
    for column in columns:
        try:
            array = pa.array(column if isinstance(column, np.ndarray) else list(column))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            array = pa.array(list(map(ascii, column)))
        chunked = pa.chunked_array([array[: n // 2], array[n // 2 :]])
        arrays.append(chunked.dictionary_encode() if pa.types.is_string(array.type) and n % 2 else chunked)
    return pa.table(arrays, names=_text_names(len(columns), random))


def _text_names(k: int, random: Random) -> list[str]:
    kind = str(random.choice(["letters", "empty", "unicode", "like ours", "long"]))
    return [str(name) for name in NAMES[kind](k, random)]


def _sparse(columns: list[LibraryObject], n: int, random: Random) -> Table:
    array = np.column_stack(columns) if columns else np.empty((n, 0))
    if array.dtype.kind not in "fiub" or array.dtype.itemsize not in {4, 8}:
        array = array.astype(np.float64)
    array = array.astype(array.dtype.newbyteorder("="))
    array[random.uniform(size=array.shape) < 0.5] = 0
    make = [sparse.csr_matrix, sparse.csc_array, sparse.coo_array][int(random.integers(3))]
    return make(array)


def _odd_shape(columns: list[LibraryObject], n: int, random: Random) -> Table:
    array: AnyArray = np.column_stack(columns) if columns else np.empty((n, 0))
    shapes: dict[str, Callable[[], Table]] = {
        "one axis": array.ravel,
        "three axes": lambda: array[:, :, np.newaxis],
        "series": lambda: pd.Series(array.ravel()),
        "records": lambda: np.zeros(n, dtype=[("a", float), ("b", float)]),
        "dictionary": lambda: {str(place): column for place, column in enumerate(columns)},
        "rows": lambda: [{str(place): column[row] for place, column in enumerate(columns)} for row in range(n)],
        "scalar": lambda: 3.0,
        "text": lambda: "a table",
    }
    return shapes[str(random.choice(list(shapes)))]()


CONTAINERS: dict[str, Callable[[list[LibraryObject], int, Random], Table]] = {
    "array": _array,
    "objects": _objects,
    "lists": _lists,
    "pandas": _pandas,
    "polars": _polars,
    "arrow": _arrow,
    "sparse": _sparse,
    "odd shape": _odd_shape,
}
