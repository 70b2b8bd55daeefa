"""Opens tables of any library: NumPy arrays, lists of rows, and pandas, polars and Arrow frames."""

import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from epiboost._inputs.column_kinds import holds_text
from epiboost._inputs.dask_collections import require_in_memory
from epiboost._inputs.labels import holds_dates
from epiboost._typing import AnyArray, Table

_TWO_AXES = 2


def open_table(X: Table) -> nw.DataFrame[Any] | Table:
    """Return a frame of any library as a narwhals frame, and anything else as an array if it can be one.

    Masked values become missing values. A Dask collection, a lazy frame, a single column and a mapping are refused with
    the remedy.
    """
    X = _fill_masked(X)
    require_in_memory(X, "X", "predict_uncertainty, predict and their like take it partition by partition")
    X = _from_record_batch(X)
    if nw.dependencies.is_into_dataframe(X):
        return _frame(X)
    _refuse_non_tables(X)
    table = _as_array(X)
    if isinstance(table, np.ndarray):
        _check_array(table)
    return table


def has_columns(table: Table) -> bool:
    """Return whether an opened table is an array with rows and columns, and not empty."""
    return isinstance(table, np.ndarray) and table.ndim == _TWO_AXES and table.size > 0


def in_order(frame: nw.DataFrame[Any], names: tuple[str, ...] | None) -> nw.DataFrame[Any]:
    """Return the frame with its columns in the order of the names, if they are the same names."""
    if names is None or frame.columns == list(names) or sorted(frame.columns) != sorted(names):
        return frame
    return frame.select(list(names))


def _fill_masked(X: Table) -> Table:
    """Return a masked array of NumPy with missing values where it is masked, anything else as it is."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    is_number = X.dtype.kind in "fiub"
    table = X.data.astype(np.promote_types(X.dtype, np.float32) if is_number else object)
    table[np.ma.getmaskarray(X)] = np.nan if is_number else None
    return table


def _from_record_batch(X: Table) -> Table:
    """Return an Arrow record batch as a table, anything else as it is."""
    arrow = sys.modules.get("pyarrow")
    return arrow.Table.from_batches([X]) if arrow is not None and isinstance(X, arrow.RecordBatch) else X


def _frame(X: Table) -> nw.DataFrame[Any]:
    names = list(X.columns if hasattr(X, "iloc") else getattr(X, "column_names", ()))  # polars has each name once
    if len(set(names)) < len(names):
        repeated = ", ".join(repr(name) for name, count in Counter(names).items() if count > 1)
        message = f"X has more than one column named {repeated}; columns need unique names"
        raise ValueError(message)
    return nw.from_native(X, eager_only=True)


def _refuse_non_tables(X: Table) -> None:
    """Raise an error with the remedy for what is nearly a table."""
    if isinstance(X, np.ndarray):
        return
    native = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        message = "X is a lazy frame; collect it first"
        raise TypeError(message)
    arrow = sys.modules.get("pyarrow")
    if isinstance(native, nw.Series) or (arrow is not None and isinstance(X, arrow.Array)):
        message = f"Expected 2D array or frame, got one column ({type(X).__name__}) instead; put it in a frame"
        raise ValueError(message)
    if isinstance(X, Mapping) and not hasattr(X, "shape"):  # one kind of sparse array is a dictionary
        message = f"X is a {type(X).__name__}; make it a frame, say by pandas.DataFrame(X)"
        raise TypeError(message)


def _as_array(X: Table) -> Table:
    """Return lists as an array in which numbers stay numbers even if there is text beside them."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "T":  # NumPy's strings of variable length
        return X.astype(object)
    if not isinstance(X, list | tuple):
        return X
    try:
        table = np.asarray(X)
        return np.asarray(X, dtype=object) if table.dtype.kind in "US" else table
    except ValueError:
        return X


def _check_array(table: AnyArray) -> None:
    if table.ndim != _TWO_AXES and holds_text(table):
        message = f"Expected 2D array, got {table.ndim}D array instead; X must have rows and columns"
        raise ValueError(message)
    is_text = table.dtype.kind == "O" and holds_text(table)  # dates among text are found column by column
    if not is_text and holds_dates(table):
        message = f"X holds dates or durations ({table.dtype}); turn them into numbers, say days since a fixed day"
        raise ValueError(message)
