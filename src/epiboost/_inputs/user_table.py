"""Reads a table as the user passed it: its original values, its column names, and a selection of its rows.

>>> import numpy as np
>>> original_values(np.array([[1.0, 2.0]]))
array([[1.0, 2.0]], dtype=object)
"""

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from epiboost._inputs.sparse_table import is_sparse
from epiboost._typing import AnyArray, Estimator, Table


def original_values(X: Table, names: Sequence[str] | None = None, rows: AnyArray | None = None) -> AnyArray:
    """Return the values of a table without converting them.

    Parameters
    ----------
    X : table of shape (n, columns)
    names : sequence of str, optional
        Order of the columns. By default, and for a frame without these columns, the order of the table.
    rows : integer array of shape (k,), optional
        Positions of the rows to return; all rows by default.

    Returns
    -------
    array of object, of shape (n, columns) or (k, columns)
    """
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        if names is not None and list(names) != frame.columns and set(names) <= set(frame.columns):
            frame = frame.select(list(names))
        if rows is not None:
            frame = frame[rows.tolist()]
        values = np.empty(frame.shape, dtype=object)
        for position, column in enumerate(frame.iter_columns()):
            values[:, position] = np.array([*column.to_list(), None], dtype=object)[:-1]
        return values
    if is_sparse(X):
        return (X if rows is None else X.tocsr()[rows]).toarray().astype(object)  # type: ignore[no-any-return]
    array = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    return (array if rows is None else array[rows]).astype(object)


def fitted_feature_names(estimator: Estimator, n_features: int) -> tuple[str, ...]:
    """Return the feature names that an estimator was fitted with, or x0, x1, … if it has none."""
    names = getattr(estimator, "feature_names_in_", None)
    return _numbered_names(n_features) if names is None else tuple(map(str, names))


def column_names(X: Table, estimator: Estimator = None) -> tuple[str, ...]:
    """Return the names of a table's columns: those of the estimator, those of the table, or x0, x1, ….

    >>> column_names([[1.0, 2.0]])
    ('x0', 'x1')
    """
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        return tuple(map(str, names))
    if nw.dependencies.is_into_dataframe(X):
        return tuple(nw.from_native(X, eager_only=True).columns)
    return _numbered_names(np.shape(X)[1])


def select_rows(X: Table, rows: AnyArray) -> Table:
    """Return rows of a table by position, as a table of the same library.

    >>> select_rows([[1.0], [2.0], [3.0]], np.array([2, 0]))
    [[3.0], [1.0]]
    """
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[rows.tolist()].to_native()
    if isinstance(X, np.ndarray):
        return X[rows]
    if is_sparse(X):
        return X.tocsr()[rows]
    return [X[row] for row in rows.tolist()]


def _numbered_names(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{position}" for position in range(n_features))
