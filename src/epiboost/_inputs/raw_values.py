"""A table as people see it: its values as they were given, and the names of its columns.

>>> import numpy as np
>>> cells(np.array([[1.0, 2.0]]))
array([[1.0, 2.0]], dtype=object)
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from epiboost._typing import AnyArray


def cells(X: Any, names: Sequence[str] | None = None, rows: AnyArray | None = None) -> AnyArray:  # noqa: ANN401
    """Return the values of a table, whatever their types.

    Parameters
    ----------
    X : table of shape (n, columns)
    names : sequence of str, optional
        The columns of a frame in their order, where it may hold them in another; those of the frame by default.
    rows : integer array of shape (k,), optional
        Which rows; all by default.

    Returns
    -------
    array of object, of shape (n, columns) or (k, columns)
    """
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        if names is not None and set(names) <= set(frame.columns):
            frame = frame.select(list(names))
        if rows is not None:
            frame = frame[rows.tolist()]
        found = np.empty(frame.shape, dtype=object)
        for place, column in enumerate(frame.iter_columns()):
            found[:, place] = np.array([*column.to_list(), None], dtype=object)[:-1]
        return found
    array = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    return (array if rows is None else array[rows]).astype(object)


def names_of(model: Any, n_columns: int) -> tuple[str, ...]:  # noqa: ANN401 (any model)
    """Return the names of the columns that a model knows, and x0, x1, … if they had none."""
    names = getattr(model, "feature_names_in_", None)
    return tuple(f"x{place}" for place in range(n_columns)) if names is None else tuple(map(str, names))


def column_names(X: Any, model: Any = None) -> tuple[str, ...]:  # noqa: ANN401 (anything a model reads)
    """Return the names of a table's columns: those that the model knows, its own, or x0, x1 and so on.

    >>> column_names([[1.0, 2.0]])
    ('x0', 'x1')
    """
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return tuple(map(str, names))
    if nw.dependencies.is_into_dataframe(X):
        return tuple(nw.from_native(X, eager_only=True).columns)
    return names_of(None, np.shape(X)[1])


def rows_of(X: Any, rows: AnyArray) -> Any:  # noqa: ANN401 (anything a model reads)
    """Return some rows of a table, in its own library.

    >>> rows_of([[1.0], [2.0], [3.0]], np.array([2, 0]))
    [[3.0], [1.0]]
    """
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[rows.tolist()].to_native()
    if isinstance(X, np.ndarray):
        return X[rows]
    return [X[row] for row in rows.tolist()]
