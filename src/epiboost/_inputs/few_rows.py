"""A fast way for few rows of a pandas frame, as a service that predicts single rows gets them.

Reading columns of any library takes longer than predicting one row. `read_few_rows` reads what is plain: the columns of
training in their order, and in them numbers, known and unknown text, whole numbers as categories. Everything else is
left to the full reading, which knows every type and writes the errors.
"""

import math
import sys

import numpy as np

from epiboost._inputs.categories import Categories
from epiboost._inputs.columns import ColumnCategories
from epiboost._typing import AnyArray, Table

MAX_ROWS = 16
"""Above it the full reading is as fast: it goes by columns."""

_SINGLE = np.dtype(np.float32)
_MAX_BYTES = 8


def read_few_rows(X: Table, names: tuple[str, ...] | None, categories: ColumnCategories) -> AnyArray | None:
    """Return the rows as floats, shape (n, features), in which categories are codes; None to read them in full.

    >>> import pandas as pd
    >>> read_few_rows(pd.DataFrame({"age": [3], "height": [1.5]}), ("age", "height"), ())
    array([[3. , 1.5]])
    """
    pandas = sys.modules.get("pandas")
    if names is None or pandas is None or type(X) is not pandas.DataFrame or not 0 < len(X) <= MAX_ROWS:
        return None
    types, known = X.dtypes.tolist(), categories or (None,) * len(names)
    if X.columns.tolist() != list(names) or not all(map(_is_plain, types, known)):
        return None
    values: AnyArray = X.to_numpy()
    if values.dtype.kind in "fiu" and not categories:
        is_single = all(one == _SINGLE for one in types)
        table = values if is_single else np.asarray(values, dtype=np.float64)
    elif values.dtype.kind == "O":
        rows = [_read_row(row, known) for row in values.tolist()]
        if None in rows:
            return None
        table = np.array(rows)
    else:
        return None
    return None if np.isinf(table).any() else table


def _is_plain(kind: object, known: Categories | None) -> bool:
    """Return whether a column has a type of NumPy of at most eight bytes; categories may have any type."""
    return known is not None or (isinstance(kind, np.dtype) and kind.itemsize <= _MAX_BYTES and kind.kind in "fiuO")


def _read_row(row: list[object], categories: ColumnCategories) -> list[float] | None:
    """Return the numbers and the codes of a row; None if a value is neither."""
    read = []
    for value, known in zip(row, categories, strict=True):
        kind = type(value)
        if known is None:
            if kind is not float and kind is not int:
                return None
            try:
                read.append(float(value))  # type: ignore[arg-type]
            except OverflowError:  # a whole number beyond 1.8e308
                return None
        elif (kind is str and known.kind == "text") or (kind is int and known.kind == "number"):
            read.append(float(known.code(value)))  # type: ignore[arg-type]
        elif kind is float and known.kind == "text" and math.isnan(value):  # type: ignore[arg-type]
            read.append(math.nan)
        else:
            return None
    return read
