"""Opens tables of any library (NumPy arrays, lists of rows, pandas, polars and Arrow frames) and checks their names.

Rules and messages about names and numbers of columns are scikit-learn's, so that its users meet what they know.
"""

import numbers
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from typing import Any

import narwhals as nw
import numpy as np

from epiboost._inputs.column_kinds import holds_text
from epiboost._inputs.dask_collections import require_in_memory
from epiboost._inputs.labels import holds_dates
from epiboost._typing import AnyArray, Table

_MAX_LISTED = 5
_TWO_AXES = 2


def open_table(X: Table) -> nw.DataFrame[Any] | Table:
    """Return a frame of any library as a narwhals frame, and anything else as an array if it can be one.

    Masked values become missing values. A Dask collection, a lazy frame, a single column and a mapping are refused with
    the remedy.
    """
    X = _fill_masked(X)
    if "dask" in sys.modules:
        require_in_memory(X, "X", "predict_uncertainty, predict and similar methods take it partition by partition")
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


def feature_names(columns: Sequence[Any]) -> tuple[str, ...] | None:
    """Return the names of columns if all of them are text, None if none is.

    >>> feature_names(["age", "town"]), feature_names([0, 1])
    (('age', 'town'), None)
    """
    types = sorted({type(name).__name__ for name in columns})
    if len(types) > 1 and "str" in types:
        message = (
            f"Feature names are only supported if all input features have string names, but your input has {types} as "
            "feature name / column name types. If you want feature names to be stored and validated, you must convert "
            "them all to strings, by using X.columns = X.columns.astype(str) for example. Otherwise you can remove "
            "feature / column names from your input data, or convert them all to a non-string data type."
        )
        raise TypeError(message)
    return tuple(columns) if types == ["str"] else None


def check_feature_names(names: tuple[str, ...] | None, fitted: tuple[str, ...] | None, owner: str) -> None:
    """Raise an error if names differ from those of `fit`; warn if only one of the two tables had names."""
    if fitted is None:
        if names is not None:
            warnings.warn(f"X has feature names, but {owner} was fitted without feature names", stacklevel=4)
    elif names is None:
        warnings.warn(f"X does not have valid feature names, but {owner} was fitted with feature names", stacklevel=4)
    elif names != fitted:
        unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
        message = "The feature names should match those that were passed during fit.\n"
        if unseen:
            message += f"Feature names unseen at fit time:\n{_listed(unseen)}"
        if missing:
            message += f"Feature names seen at fit time, yet now missing:\n{_listed(missing)}"
        if not unseen and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(message)


def check_n_features(found: int, fitted: int, owner: str) -> None:
    """Raise an error if a table has another number of columns than that of `fit`."""
    if found != fitted:
        message = f"X has {found} features, but {owner} is expecting {fitted} features as input."
        raise ValueError(message)


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
    if isinstance(X, list | tuple) and X and isinstance(X[0], Mapping):
        message = f"X is a {type(X).__name__} of dictionaries; make it a frame, say by pandas.DataFrame(X)"
        raise TypeError(message)
    if X is None or isinstance(X, str | bytes | numbers.Number):
        message = f"Expected 2D array or frame, got {X!r} instead; give an array, a list of rows or a frame"
        raise ValueError(message)


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
        lengths = sorted({len(row) for row in X if isinstance(row, Sized)})
        if len(lengths) > 1:
            message = f"X must have rows of equal length; got rows of {lengths[0]} to {lengths[-1]} values"
            raise ValueError(message) from None
        return X


def _check_array(table: AnyArray) -> None:
    if table.ndim != _TWO_AXES:
        message = f"Expected 2D array, got {table.ndim}D array instead; X must have rows and columns, got {table.shape}"
        if table.ndim == 1:
            message += ". Reshape your data: X.reshape(-1, 1) is one column, X.reshape(1, -1) is one row"
        raise ValueError(message)
    if table.dtype.kind == "c":
        message = f"Complex data not supported: X holds {table.dtype}; give real and imaginary parts as columns"
        raise ValueError(message)
    is_text = table.dtype.kind == "O" and holds_text(table)  # dates among text are found column by column
    if not is_text and holds_dates(table):
        message = f"X holds dates or durations ({table.dtype}); turn them into numbers, say days since a fixed day"
        raise ValueError(message)


def _listed(names: Sequence[str]) -> str:
    lines = [f"- {name}\n" for name in names[:_MAX_LISTED]]
    return "".join([*lines, "- ...\n"] if len(names) > _MAX_LISTED else lines)
