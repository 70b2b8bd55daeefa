"""Lazy predictions for Dask collections, one partition at a time; index and divisions are kept.

A method of a fitted estimator that is marked ``takes_remote_tables`` accepts Dask arrays and frames too. It is then
called for each partition when the result is computed, and the estimator is sent to each worker once. The result is

=====================  ============================  =================================================
the method returns     for an array                  for a frame
=====================  ============================  =================================================
one number per row     array                         series
several per row        array                         frame, one column each
an `Uncertainty`       frame: its columns            frame: its columns
a tuple of these       a tuple of these              a tuple of these
=====================  ============================  =================================================
"""

import copy
import itertools
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from epiboost._inputs.dask_collections import dask_kind
from epiboost._optional import require
from epiboost._typing import AnyArray, Estimator, LibraryObject, Table
from epiboost.distributed.cluster import require_data

_EXAMPLE_ROWS = 2  # rows of the example call from which shape and type of a result are known


@dataclass(frozen=True, slots=True)
class MethodCall:
    """A method of an estimator and its arguments after X."""

    method: str
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]

    def __call__(self, estimator: Estimator, rows: Table) -> LibraryObject:
        """Return the result of the method for rows in memory."""
        return getattr(estimator, self.method)(rows, *self.arguments, **self.options)

    @property
    def levels(self) -> list[float]:
        """The coverages or quantile levels of the call if it has a list of them; else empty."""
        first = next(iter([*self.arguments, *self.options.values()]), None)
        return [] if first is None or np.ndim(first) == 0 else np.asarray(first).tolist()


def score_lazily(
    method: str, estimator: Estimator, X: LibraryObject, arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> LibraryObject:
    """Return the lazy result of ``estimator.method(X, *arguments, **options)`` for a Dask collection.

    Parameters
    ----------
    method : str
        Name of the method.
    estimator : fitted estimator
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, features)
    arguments : tuple
    options : dict
    """
    kind = dask_kind(X)
    if kind == "series":
        message = "X must be a Dask frame or array with columns; got a Dask series. Use X.to_frame()"
        raise TypeError(message)
    require_data(X)
    call = MethodCall(method, arguments, options)
    fitted = copy.copy(estimator)  # a later fit of the estimator does not change the result
    return _score_frame(X, fitted, call) if kind == "frame" else _score_array(X, fitted, call)


def _score_frame(X: LibraryObject, estimator: Estimator, call: MethodCall) -> LibraryObject:
    dask = require("dask", extra="dask", purpose="predictions of Dask frames")
    example = X._meta_nonempty  # noqa: SLF001 (rows with the column types of the partitions)
    result = _example_result(call, estimator, example)
    columns = _column_names(result, estimator, call)
    meta = _as_frame(result, example.index, columns).iloc[:0]
    delayed_estimator = dask.delayed(estimator, pure=False, traverse=False)
    lazy = X.map_partitions(_score_partition, delayed_estimator, call, columns, meta, meta=meta, enforce_metadata=False)
    return tuple(lazy[name] for name in columns or ()) if isinstance(result, tuple) else lazy


def _score_array(X: LibraryObject, estimator: Estimator, call: MethodCall) -> LibraryObject:
    dask = require("dask", extra="dask", purpose="predictions of Dask arrays")
    if X.ndim != 2:  # noqa: PLR2004 (rows and columns)
        message = f"X must have rows and columns; got a Dask array of {X.ndim} axes. Use X.reshape"
        raise ValueError(message)
    X = X.rechunk({1: -1})
    result = _example_result(call, estimator, np.zeros((_EXAMPLE_ROWS, X.shape[1]), dtype=X.dtype))
    example = _as_array(result)
    lazy = X.map_blocks(
        _score_block,
        estimator=dask.delayed(estimator, pure=False, traverse=False),
        call=call,
        empty=example[:0],
        dtype=example.dtype,
        chunks=(X.chunks[0], *((size,) for size in example.shape[1:])),
        drop_axis=[1] if example.ndim == 1 else None,
        new_axis=list(range(2, example.ndim)) or None,
        meta=example[:0],
    )
    if isinstance(result, tuple):
        return tuple(lazy[:, position] for position in range(len(result)))
    if hasattr(result, "knowledge"):
        frames = require("dask.dataframe", extra="dask", purpose="uncertainties of Dask arrays")
        return frames.from_dask_array(lazy, columns=list(result.to_frame().columns))
    return lazy


def _example_result(call: MethodCall, estimator: Estimator, rows: Table) -> LibraryObject:
    """Return the result for made-up rows; a warning about their groups would mean nothing."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* too few calibration rows", category=UserWarning)
        return call(estimator, rows)


def _column_names(result: LibraryObject, estimator: Estimator, call: MethodCall) -> list[str] | None:
    """Return the column names of a frame, or None for a series."""
    if isinstance(result, tuple):
        return ["mean", "std"]
    if hasattr(result, "knowledge"):
        return list(result.to_frame().columns)
    if result.ndim == 1:
        return None
    levels = call.levels
    if call.method == "predict_quantile":
        return [f"quantile_{level}" for level in levels]
    is_interval = call.method == "predict_interval"
    names = ["lower", "upper"] if is_interval else list(map(str, estimator.classes_.tolist()))
    return [f"{name}_{level}" for level, name in itertools.product(levels, names)] if levels else names


def _score_partition(
    rows: Table, estimator: Estimator, call: MethodCall, columns: list[str] | None, empty: LibraryObject
) -> LibraryObject:
    """Return the result for one partition of a frame."""
    return _as_frame(call(estimator, rows), rows.index, columns) if len(rows) else empty.reindex(rows.index)


def _score_block(rows: AnyArray, estimator: Estimator, call: MethodCall, empty: AnyArray) -> AnyArray:
    """Return the result for one block of an array."""
    return _as_array(call(estimator, rows)) if len(rows) else empty


def _as_array(result: LibraryObject) -> AnyArray:
    if isinstance(result, tuple):
        return np.stack(result, axis=1)
    if hasattr(result, "knowledge"):
        return np.asarray(result.to_frame())
    return np.asarray(result)


def _as_frame(result: LibraryObject, index: LibraryObject, columns: list[str] | None) -> LibraryObject:
    pandas = require("pandas", extra="dask", purpose="predictions of Dask frames")
    array = _as_array(result)
    if columns is None:
        return pandas.Series(array, index=index)
    return pandas.DataFrame(array.reshape(len(array), -1), index=index, columns=columns)
