"""Checks of a table of targets.

>>> values, names = read_targets([[1.0, 2.0], [3.0, 4.0]])
>>> values.shape, names
((2, 2), ('target 0', 'target 1'))
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from epiboost._estimators.training_rows import evaluation_parts, is_collection
from epiboost._inputs.labels import to_array
from epiboost._inputs.target import Numbers
from epiboost._typing import Floats, Table

_TABLE_AXES = 2


def read_targets(y: Table, argument: str = "y") -> tuple[Floats, tuple[str, ...]]:
    """Return targets as finite numbers, shape (n, targets), and their names, those of a frame's columns.

    Errors of a target begin with the name of the argument and its own.
    """
    if y is None:
        message = "MultiTargetRegressor requires y to be passed, but the target y is None"
        raise ValueError(message)
    columns = getattr(y, "columns", None)
    table = check_array(to_array(y), dtype=None, input_name="y", ensure_all_finite=False, ensure_2d=False)
    if table.ndim != _TABLE_AXES:
        message = f"y must have the shape (n, targets), got {table.shape}; EpiBoostRegressor is for one target"
        raise ValueError(message)
    if table.shape[1] == 0:
        message = "y must have one column per target, got none"
        raise ValueError(message)
    names = [str(name) for name in columns] if columns is not None else [f"target {k}" for k in range(table.shape[1])]
    if len(set(names)) < len(names):
        message = f"targets must have different names, got {', '.join(names)}"
        raise ValueError(message)
    values = []
    for name, column in zip(names, table.T, strict=True):
        with errors_about(f"{argument} of {name}"):
            values.append(Numbers.check(column))
    return np.stack(values, axis=1), tuple(names)


@contextmanager
def errors_about(what: str) -> Iterator[None]:
    """Begin every ValueError with what it is about."""
    try:
        yield
    except ValueError as error:
        message = f"{what}: {error}"
        raise ValueError(message) from error


def evaluation_per_target(eval_set: Table, n_targets: int) -> list[tuple[Any, ...] | None]:
    """Return the evaluation rows of each target, with one column of their targets.

    >>> [part[1].tolist() for part in evaluation_per_target(([[0.0], [1.0]], [[1.0, 2.0], [3.0, 4.0]]), 2)]
    [[1.0, 3.0], [2.0, 4.0]]
    """
    parts = evaluation_parts(eval_set)
    if parts is None:
        return [None] * n_targets
    table, y, weight, offset = parts
    if offset is not None:
        message = "eval_set has an offset; several targets take none"
        raise ValueError(message)
    targets, names = read_targets(y, "eval_set")
    if len(names) != n_targets:
        message = f"eval_set must have as many targets as y, {n_targets}; got {len(names)}"
        raise ValueError(message)
    return [(table, column) if weight is None else (table, column, weight) for column in targets.T]


def refuse_collections(*tables: Table) -> None:
    """Raise a ValueError for a Dask collection."""
    if any(is_collection(table) for table in tables):
        message = "several targets are for tables in memory, not for Dask collections; train one model per target"
        raise ValueError(message)
