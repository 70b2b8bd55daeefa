"""Predictions of tables in partitions: lazy, partition by partition, index and divisions kept.

A method of a fitted model that is marked `lazily` takes Dask arrays and frames too. It is then called for each
partition when the result is computed, wherever Dask runs it; the model travels to each worker once. What comes back is

=====================  ============================  =================================================
the method returns     of an array                   of a frame
=====================  ============================  =================================================
one number a row       array                         series
several numbers a row  array                         frame, with a column for each
an `Uncertainty`       frame: total, data, knowledge frame: total, data, knowledge
several of these       a tuple of these              a tuple of these
=====================  ============================  =================================================
"""

import copy
import functools
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from epiboost._inputs.dask_collections import kind_of
from epiboost._optional import require
from epiboost._typing import AnyArray

Method = TypeVar("Method", bound=Callable[..., Any])

_UNCERTAINTY = ("total", "data", "knowledge")
_FEW_ROWS = 2  # that a result's form is learned from


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a model for each partition: one of its methods, with arguments."""

    method: str
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]

    def ask(self, model: Any, rows: Any) -> Any:  # noqa: ANN401 (a fitted model, a table in memory, any answer)
        """Return what the model says of rows that are in memory."""
        return getattr(model, self.method)(rows, *self.arguments, **self.options)

    @property
    def levels(self) -> list[float]:
        """The coverages or quantiles that are asked for, if they are several."""
        asked = next(iter([*self.arguments, *self.options.values()]), None)
        return [] if asked is None or np.ndim(asked) == 0 else np.asarray(asked).tolist()


def lazily(method: Method) -> Method:
    """Let a method of a fitted model, ``method(X, ...)``, take Dask collections."""

    @functools.wraps(method)
    def called(model: Any, X: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (what the method takes)
        kind = kind_of(X)
        if kind is None:
            return method(model, X, *arguments, **options)
        if kind == "series":
            message = "X must be a Dask frame or array with columns; got a Dask series"
            raise TypeError(message)
        question = Question(method.__name__, arguments, options)
        kept = copy.copy(model)  # fitting it anew does not reach what is computed later
        return _of_frame(X, kept, question) if kind == "frame" else _of_array(X, kept, question)

    return called  # type: ignore[return-value]  # it has the method's own signature


def _of_frame(X: Any, model: Any, question: Question) -> Any:  # noqa: ANN401 (a dask.dataframe.DataFrame; a model)
    dask = require("dask", extra="dask", purpose="predictions of Dask frames")
    form = X._meta_nonempty  # noqa: SLF001 (rows of the types that the partitions will have)
    answer = question.ask(model, form)
    columns = _columns(answer, model, question)
    meta = _as_frame(answer, form.index, columns).iloc[:0]
    held = dask.delayed(model, pure=False, traverse=False)
    lazy = X.map_partitions(_partition, held, question, columns, meta, meta=meta, enforce_metadata=False)
    return tuple(lazy[name] for name in columns or ()) if isinstance(answer, tuple) else lazy


def _of_array(X: Any, model: Any, question: Question) -> Any:  # noqa: ANN401 (a dask.array.Array; a model)
    dask = require("dask", extra="dask", purpose="predictions of Dask arrays")
    if X.ndim != 2:  # noqa: PLR2004 (rows and columns)
        message = f"X must have rows and columns; got a Dask array of {X.ndim} axes"
        raise ValueError(message)
    X = X.rechunk({1: -1})
    answer = question.ask(model, np.zeros((_FEW_ROWS, X.shape[1]), dtype=X.dtype))
    form = _as_array(answer)
    lazy = X.map_blocks(
        _block,
        model=dask.delayed(model, pure=False, traverse=False),
        question=question,
        empty=form[:0],
        dtype=form.dtype,
        chunks=(X.chunks[0], *((size,) for size in form.shape[1:])),
        drop_axis=[1] if form.ndim == 1 else None,
        new_axis=list(range(2, form.ndim)) or None,
        meta=form[:0],
    )
    if isinstance(answer, tuple):
        return tuple(lazy[:, place] for place in range(len(answer)))
    if hasattr(answer, "knowledge"):
        frames = require("dask.dataframe", extra="dask", purpose="uncertainties of Dask arrays")
        return frames.from_dask_array(lazy, columns=list(_UNCERTAINTY))
    return lazy


def _columns(answer: Any, model: Any, question: Question) -> list[Any] | None:  # noqa: ANN401 (any answer of a model)
    """Return the names of the columns of a frame; None for a series."""
    if isinstance(answer, tuple):
        return ["mean", "std"]
    if hasattr(answer, "knowledge"):
        return list(_UNCERTAINTY)
    if answer.ndim == 1:
        return None
    levels = question.levels
    if question.method == "predict_quantile":
        return [f"quantile_{level}" for level in levels]
    each = ["lower", "upper"] if question.method == "predict_interval" else list(map(str, model.classes_.tolist()))
    return [f"{name}_{level}" for level, name in itertools.product(levels, each)] if levels else each


def _partition(
    rows: Any,  # noqa: ANN401 (a pandas.DataFrame)
    model: Any,  # noqa: ANN401 (a fitted model)
    question: Question,
    columns: list[Any] | None,
    empty: Any,  # noqa: ANN401 (a pandas.DataFrame or Series)
) -> Any:  # noqa: ANN401 (a pandas.DataFrame or Series)
    """Return what is said of one partition of a frame."""
    return _as_frame(question.ask(model, rows), rows.index, columns) if len(rows) else empty.reindex(rows.index)


def _block(rows: AnyArray, model: Any, question: Question, empty: AnyArray) -> AnyArray:  # noqa: ANN401 (a model)
    """Return what is said of one block of an array."""
    return _as_array(question.ask(model, rows)) if len(rows) else empty


def _as_array(answer: Any) -> AnyArray:  # noqa: ANN401 (any answer of a model)
    if isinstance(answer, tuple):
        return np.stack(answer, axis=1)
    if hasattr(answer, "knowledge"):
        return np.stack([getattr(answer, name) for name in _UNCERTAINTY], axis=1)
    return np.asarray(answer)


def _as_frame(answer: Any, index: Any, columns: list[Any] | None) -> Any:  # noqa: ANN401 (pandas)
    pandas = require("pandas", extra="dask", purpose="predictions of Dask frames")
    array = _as_array(answer)
    if columns is None:
        return pandas.Series(array, index=index)
    return pandas.DataFrame(array.reshape(len(array), -1), index=index, columns=columns)
