"""Collections of Dask as lists of partitions, each of which becomes a table in memory when it is its turn."""

import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from epiboost._inputs.dask_collections import dask_kind
from epiboost._optional import require
from epiboost._typing import AnyArray
from epiboost.distributed.cluster import cluster_errors, dealt, default_client, wait_for_a_worker

Reader: TypeAlias = Callable[[Any], AnyArray]
"""Turns a partition into a checked array of floats, shape (n, features)."""

_AHEAD = 2  # partitions a thread whose results may wait here
_AHEAD_ON_CLUSTER = 16  # or at the workers, where each batch costs a message there and back


def partitions_of(collection: Any) -> list[Any]:  # noqa: ANN401 (a collection of Dask)
    """Return the partitions of rows, each as a Delayed."""
    if dask_kind(collection) == "array" and collection.ndim > 1:
        collection = collection.rechunk(dict.fromkeys(range(1, collection.ndim), -1))
    parts = collection.to_delayed()
    return _apart(list(parts.ravel()) if isinstance(parts, np.ndarray) else list(parts))


def aligned_partitions(X: Any, y: Any, weight: Any) -> list[tuple[Any, Any, Any]]:  # noqa: ANN401 (collections of Dask)
    """Return (table, target, weight) of each partition, as Delayed; the weight is None if there are none."""
    for name, column in (("y", y), ("sample_weight", weight)):
        if dask_kind(column) is None and not (name == "sample_weight" and column is None):
            message = f"{name} must be a Dask collection in the partitions of X; got {type(column).__name__}"
            raise TypeError(message)
    columns = [y] if weight is None else [y, weight]
    if dask_kind(X) == "frame" and all(dask_kind(column) in {"series", "frame"} for column in columns):
        _refuse_other_cuts(X, columns)
        # one read of all that is needed: partitions of single columns may be put together when they are read
        pandas = require("pandas", extra="dask", purpose="a table in partitions")
        meta = pandas.Series(dtype=object)
        own = uuid.uuid4().hex  # another fit of the same table must not meet this one's tasks under their names
        joined = X.map_partitions(_together, *columns, own=own, align_dataframes=False, meta=meta)
        parts = _apart(joined.to_delayed())
        return [(part.iloc[0], part.iloc[1], None if weight is None else part.iloc[2]) for part in parts]
    cut = [partitions_of(column) for column in (X, *columns)]
    if len({len(parts) for parts in cut}) > 1:
        raise _other_cuts([len(parts) for parts in cut])
    return [(*parts, None)[:3] for parts in zip(*cut, strict=True)]


def some_rows(X: Any) -> Any:  # noqa: ANN401 (a collection of Dask, a table in memory)
    """Return a small table in memory that has the columns of a collection; its values mean nothing."""
    kind = dask_kind(X)
    if kind == "frame":
        return X._meta_nonempty  # noqa: SLF001 (Dask has no other name for it)
    if kind != "array" or X.ndim != 2:  # noqa: PLR2004 (rows and columns)
        message = "X must be a Dask frame, or a Dask array with rows and columns"
        raise ValueError(message)
    return np.zeros((2, X.shape[1]), dtype=X.dtype)


def in_memory(column: Any) -> Any:  # noqa: ANN401 (anything a user may pass)
    """Return a target or weights as they are, or collected if they are in partitions."""
    if dask_kind(column) is None:
        return column
    parts = [part for batch in batches(partitions_of(column), _values) for part in batch]  # at once: more memory
    return np.concatenate(parts)


def each_of(parts: Sequence[Any], work: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """Return ``work(part, *arguments)`` of all partitions in order, where results are small."""
    dask = require("dask", extra="dask", purpose="a table in partitions")
    own = [dask.delayed(argument, pure=False, traverse=False) for argument in arguments]
    return computed(*[dask.delayed(work, pure=False)(part, *own) for part in parts])


def batches(parts: Sequence[Any], work: Callable[..., Any], *arguments: Any) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
    """Yield ``work(part, *arguments)`` of all partitions in order, so many at a time as can be worked on at once."""
    size = _threads() * (_AHEAD if default_client() is None else _AHEAD_ON_CLUSTER)
    for first in range(0, len(parts), size):
        yield each_of(parts[first : first + size], work, *arguments)


def computed(*delayed: Any) -> tuple[Any, ...]:  # noqa: ANN401 (Delayed)
    """Return what Dask computes, on the cluster that is in use or here."""
    dask = require("dask", extra="dask", purpose="a table in partitions")
    client = default_client()
    with cluster_errors(client):
        if client is not None:
            wait_for_a_worker(client)
        results: tuple[Any, ...] = dask.compute(*delayed)
    return results


def held(delayed: Sequence[Any], sizes: Sequence[int] | None = None, client: Any = None) -> list[Any]:  # noqa: ANN401
    """Return partitions that are computed once and kept by the workers of the cluster in use, dealt out evenly.

    Where there is no cluster they are computed whenever they are asked for.

    Parameters
    ----------
    delayed : sequence of Delayed
    sizes : sequence of int, optional
        Rows of each.
    client : distributed.Client, optional
        Another than the one that Dask would compute with.
    """
    client = client or default_client()
    if client is None:
        return list(delayed)
    with cluster_errors(client):
        wait_for_a_worker(client)
        homes = dealt([1] * len(delayed) if sizes is None else sizes, sorted(client.nthreads()))
        kept = list(delayed)
        for home in sorted(set(homes)):
            places = [place for place, own in enumerate(homes) if own == home]
            own = client.persist([delayed[place] for place in places], workers=[home], allow_other_workers=True)
            for place, part in zip(places, own, strict=True):
                kept[place] = part
    return kept


def read_part(part: Any, read: Reader, n_features: int) -> AnyArray:  # noqa: ANN401 (a table in memory)
    """Return one partition as floats; a partition may be empty."""
    return read(part) if len(part) else np.empty((0, n_features))


def _apart(parts: Sequence[Any]) -> list[Any]:  # Delayed
    """Return partitions that know of their own tasks only; else each step would look through those of all."""
    if not parts:
        return []
    dask = require("dask.delayed", extra="dask", purpose="a table in partitions")
    cull = require("dask.optimization", extra="dask", purpose="a table in partitions").cull
    tasks = dict(parts[0].__dask_graph__())
    return [dask.Delayed(part.key, cull(tasks, [part.key])[0]) for part in parts]


def _together(*columns: Any, own: str) -> Any:  # noqa: ANN401, ARG001 (tables in memory, a pandas.Series of them)
    pandas = require("pandas", extra="dask", purpose="a table in partitions")
    together = pandas.Series([None] * len(columns), dtype=object)
    for place, column in enumerate(columns):
        together.iat[place] = column
    return together


def _refuse_other_cuts(X: Any, columns: Sequence[Any]) -> None:  # noqa: ANN401 (collections of Dask)
    counts = [part.npartitions for part in (X, *columns)]
    if len(set(counts)) > 1:
        raise _other_cuts(counts)


def _other_cuts(counts: Sequence[int]) -> ValueError:
    message = f"X, y and sample_weight must be cut into the same partitions; they have {', '.join(map(str, counts))}"
    return ValueError(message)


def _values(part: Any) -> AnyArray:  # noqa: ANN401 (an array, a series or a frame)
    return part if isinstance(part, np.ndarray) else np.asarray(part.to_numpy())


def _threads() -> int:
    """Return how many partitions are worked on at a time: by the cluster that is in use, or here."""
    client = default_client()
    if client is None:
        return os.cpu_count() or 1
    with cluster_errors(client):
        wait_for_a_worker(client)
        return max(1, sum(int(threads) for threads in client.nthreads().values()))
