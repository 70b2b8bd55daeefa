"""Lazy predictions for Dask collections: one partition at a time, index and divisions kept.

A method of a fitted model that is marked ``takes_dask`` accepts Dask arrays and frames too. It is then called for each
partition when the result is computed, wherever Dask runs it; the model is sent to each worker once. The result is

=====================  ============================  =================================================
the method returns     of an array                   of a frame
=====================  ============================  =================================================
one number per row     array                         series
several per row        array                         frame, one column each
an `Uncertainty`       frame: total, data, knowledge frame: total, data, knowledge
several of these       a tuple of these              a tuple of these
=====================  ============================  =================================================
"""

import copy
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from epiboost._inputs.dask_collections import dask_kind
from epiboost._optional import require
from epiboost._typing import AnyArray, Estimator, LibraryObject, Table

_UNCERTAINTY = ("total", "data", "knowledge")
_SAMPLE_ROWS = 2  # to learn the form of a result from


@dataclass(frozen=True, slots=True)
class MethodCall:
    """The call of a model's method that is made for each partition."""

    method: str
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]

    def __call__(self, model: Estimator, rows: Table) -> Any:  # noqa: ANN401 (any result of a method)
        """Return the result for rows in memory."""
        return getattr(model, self.method)(rows, *self.arguments, **self.options)

    @property
    def levels(self) -> list[float]:
        """The coverages or quantiles of the call, if they are several."""
        first = next(iter([*self.arguments, *self.options.values()]), None)
        return [] if first is None or np.ndim(first) == 0 else np.asarray(first).tolist()


def score_lazily(
    method: str, model: Estimator, X: LibraryObject, arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> LibraryObject:
    """Return the lazy result of a model's method for a Dask collection.

    Parameters
    ----------
    method : str
        Name of the method: ``method(X, *arguments, **options)``.
    model : fitted model
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, features)
    """
    kind = dask_kind(X)
    if kind == "series":
        message = "X must be a Dask frame or array with columns; got a Dask series"
        raise TypeError(message)
    call = MethodCall(method, arguments, options)
    fitted = copy.copy(model)  # a later fit of the model does not change what is computed
    return _of_frame(X, fitted, call) if kind == "frame" else _of_array(X, fitted, call)


def _of_frame(X: LibraryObject, model: Estimator, call: MethodCall) -> LibraryObject:
    dask = require("dask", extra="dask", purpose="predictions of Dask frames")
    form = X._meta_nonempty  # noqa: SLF001 (rows of the types that the partitions will have)
    result = call(model, form)
    columns = _columns(result, model, call)
    meta = _as_frame(result, form.index, columns).iloc[:0]
    held = dask.delayed(model, pure=False, traverse=False)
    lazy = X.map_partitions(_partition, held, call, columns, meta, meta=meta, enforce_metadata=False)
    return tuple(lazy[name] for name in columns or ()) if isinstance(result, tuple) else lazy


def _of_array(X: LibraryObject, model: Estimator, call: MethodCall) -> LibraryObject:
    dask = require("dask", extra="dask", purpose="predictions of Dask arrays")
    if X.ndim != 2:  # noqa: PLR2004 (rows and columns)
        message = f"X must have rows and columns; got a Dask array of {X.ndim} axes"
        raise ValueError(message)
    X = X.rechunk({1: -1})
    result = call(model, np.zeros((_SAMPLE_ROWS, X.shape[1]), dtype=X.dtype))
    form = _as_array(result)
    lazy = X.map_blocks(
        _block,
        model=dask.delayed(model, pure=False, traverse=False),
        call=call,
        empty=form[:0],
        dtype=form.dtype,
        chunks=(X.chunks[0], *((size,) for size in form.shape[1:])),
        drop_axis=[1] if form.ndim == 1 else None,
        new_axis=list(range(2, form.ndim)) or None,
        meta=form[:0],
    )
    if isinstance(result, tuple):
        return tuple(lazy[:, place] for place in range(len(result)))
    if hasattr(result, "knowledge"):
        frames = require("dask.dataframe", extra="dask", purpose="uncertainties of Dask arrays")
        return frames.from_dask_array(lazy, columns=list(_UNCERTAINTY))
    return lazy


def _columns(result: LibraryObject, model: Estimator, call: MethodCall) -> list[Any] | None:
    """Return the names of the columns of a frame; None for a series."""
    if isinstance(result, tuple):
        return ["mean", "std"]
    if hasattr(result, "knowledge"):
        return list(_UNCERTAINTY)
    if result.ndim == 1:
        return None
    levels = call.levels
    if call.method == "predict_quantile":
        return [f"quantile_{level}" for level in levels]
    each = ["lower", "upper"] if call.method == "predict_interval" else list(map(str, model.classes_.tolist()))
    return [f"{name}_{level}" for level, name in itertools.product(levels, each)] if levels else each


def _partition(
    rows: Table,
    model: Estimator,
    call: MethodCall,
    columns: list[Any] | None,
    empty: LibraryObject,
) -> LibraryObject:
    """Return the result for one partition of a frame."""
    return _as_frame(call(model, rows), rows.index, columns) if len(rows) else empty.reindex(rows.index)


def _block(rows: AnyArray, model: Estimator, call: MethodCall, empty: AnyArray) -> AnyArray:
    """Return the result for one block of an array."""
    return _as_array(call(model, rows)) if len(rows) else empty


def _as_array(result: LibraryObject) -> AnyArray:
    if isinstance(result, tuple):
        return np.stack(result, axis=1)
    if hasattr(result, "knowledge"):
        return np.stack([getattr(result, name) for name in _UNCERTAINTY], axis=1)
    return np.asarray(result)


def _as_frame(result: LibraryObject, index: LibraryObject, columns: list[Any] | None) -> LibraryObject:
    pandas = require("pandas", extra="dask", purpose="predictions of Dask frames")
    array = _as_array(result)
    if columns is None:
        return pandas.Series(array, index=index)
    return pandas.DataFrame(array.reshape(len(array), -1), index=index, columns=columns)
