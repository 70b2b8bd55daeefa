"""Dask collections as lists of partitions, and functions that are computed per partition."""

import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from epiboost._inputs.dask_collections import dask_kind
from epiboost._optional import require
from epiboost._typing import AnyArray, Column, LibraryObject, Table
from epiboost.distributed.cluster import assign_workers, cluster_errors, default_client, wait_for_a_worker

TableTransform: TypeAlias = Callable[[Table], AnyArray]
"""Checks a table in memory and returns it as floats, shape (n, features): `ColumnSchema.transform`."""

_BATCH_PER_THREAD = 2  # partitions per thread whose results may be in memory at once
_BATCH_PER_CLUSTER_THREAD = 16  # more on a cluster, where each batch costs a round trip
_MERGED_AT_ONCE = 8  # results per task of a tree reduction


def import_dask(module: str = "dask") -> LibraryObject:
    """Return Dask, or a module of the extra ``dask``."""
    return require(module, extra="dask", purpose="a Dask collection")


def partitions_of(collection: LibraryObject) -> list[LibraryObject]:
    """Return the partitions of the rows of a Dask collection, one Delayed each."""
    if dask_kind(collection) == "array" and collection.ndim > 1:
        collection = collection.rechunk(dict.fromkeys(range(1, collection.ndim), -1))
    parts = collection.to_delayed()
    return _with_own_graphs(list(parts.ravel()) if isinstance(parts, np.ndarray) else list(parts))


def aligned_partitions(
    X: LibraryObject, y: LibraryObject, weight: LibraryObject | None
) -> list[tuple[LibraryObject, LibraryObject, LibraryObject | None]]:
    """Return (table, target, weight) per partition, each a Delayed; the weight is None if there are no weights."""
    for name, column in (("y", y), ("sample_weight", weight)):
        if dask_kind(column) is None and not (name == "sample_weight" and column is None):
            message = (
                f"{name} must be a Dask collection with the partitions of X; got {type(column).__name__}. Use "
                "dask.array.from_array or dask.dataframe.from_pandas"
            )
            raise TypeError(message)
    columns = [y] if weight is None else [y, weight]
    if dask_kind(X) == "frame" and all(dask_kind(column) in {"series", "frame"} for column in columns):
        return _packed_partitions(X, columns)
    partitions = [partitions_of(column) for column in (X, *columns)]
    _check_same_number([len(parts) for parts in partitions])
    return [(*parts, None)[:3] for parts in zip(*partitions, strict=True)]


def example_rows(X: LibraryObject) -> Table:
    """Return a small table in memory with the columns and types of a collection; its values are arbitrary."""
    kind = dask_kind(X)
    if kind == "frame":
        return X._meta_nonempty  # noqa: SLF001 (Dask has no public name for it)
    if kind != "array" or X.ndim != 2:  # noqa: PLR2004 (rows and columns)
        got = f"{X.ndim} axes" if kind == "array" else f"a Dask {kind}"
        message = f"X must be a Dask frame, or a Dask array with rows and columns; got {got}"
        raise ValueError(message)
    return np.zeros((2, X.shape[1]), dtype=X.dtype)


def collect_column(column: Column) -> Column:
    """Return a target or weights in memory: a Dask collection is computed, anything else is returned as it is."""
    if dask_kind(column) is None:
        return column
    batches = map_in_batches(partitions_of(column), _values)  # all at once would need more memory
    return np.concatenate([part for batch in batches for part in batch])


def map_partitions(parts: Sequence[LibraryObject], function: Callable[..., Any], *arguments: object) -> tuple[Any, ...]:
    """Return ``function(part, *arguments)`` for all partitions, in order; for results that are small."""
    dask = import_dask()
    delayed_arguments = [dask.delayed(argument, pure=False, traverse=False) for argument in arguments]
    return compute(*[dask.delayed(function, pure=False)(part, *delayed_arguments) for part in parts])


def map_in_batches(
    parts: Sequence[LibraryObject], function: Callable[..., Any], *arguments: object
) -> Iterator[tuple[Any, ...]]:
    """Yield the results of `map_partitions` in batches, so that not all of them are in memory at once."""
    per_thread = _BATCH_PER_THREAD if default_client() is None else _BATCH_PER_CLUSTER_THREAD
    size = _n_threads() * per_thread
    for first in range(0, len(parts), size):
        yield map_partitions(parts[first : first + size], function, *arguments)


def tree_reduce(results: Sequence[LibraryObject], merge: Callable[[Sequence[Any]], Any]) -> LibraryObject:
    """Return a Delayed that merges the results of all partitions, a few per task.

    Parameters
    ----------
    results : sequence of Delayed
    merge : callable
        Returns one result for a sequence of results.
    """
    dask = import_dask()
    level, delayed_merge = list(results), dask.delayed(merge, pure=False)
    while len(level) > 1:
        level = [
            delayed_merge(level[first : first + _MERGED_AT_ONCE]) for first in range(0, len(level), _MERGED_AT_ONCE)
        ]
    return level[0]


def compute(*delayed: LibraryObject) -> tuple[Any, ...]:
    """Return the results of Delayed objects, computed by the current cluster or in this process."""
    dask = import_dask()
    client = default_client()
    with cluster_errors(client):
        if client is not None:
            wait_for_a_worker(client)
        results: tuple[Any, ...] = dask.compute(*delayed)
    return results


def persist_partitions(
    delayed: Sequence[LibraryObject], sizes: Sequence[int] | None = None, client: LibraryObject | None = None
) -> list[LibraryObject]:
    """Compute partitions once and keep them on the workers of a cluster, spread evenly over the workers.

    Without a cluster the partitions are returned as they are, and computed each time that they are used.

    Parameters
    ----------
    delayed : sequence of Delayed
    sizes : sequence of int, optional
        Number of rows per partition; equal by default.
    client : distributed.Client, optional
        By default the one that Dask computes with.
    """
    client = client or default_client()
    if client is None:
        return list(delayed)
    with cluster_errors(client):
        wait_for_a_worker(client)
        assigned = assign_workers([1] * len(delayed) if sizes is None else sizes, sorted(client.nthreads()))
        persisted = list(delayed)
        for worker in sorted(set(assigned)):
            positions = [position for position, name in enumerate(assigned) if name == worker]
            parts = [delayed[position] for position in positions]
            parts = client.persist(parts, workers=[worker], allow_other_workers=True)
            for position, part in zip(positions, parts, strict=True):
                persisted[position] = part
    return persisted


def transform_partition(part: Table, transform: TableTransform, n_features: int) -> AnyArray:
    """Return one partition as floats, shape (n, features); it may be empty."""
    return transform(part) if len(part) else np.empty((0, n_features))


def _packed_partitions(
    X: LibraryObject, columns: Sequence[LibraryObject]
) -> list[tuple[LibraryObject, LibraryObject, LibraryObject | None]]:
    """Return the aligned partitions of frames and series.

    Table and columns are read by one task per partition: Dask may fuse partitions when it reads single columns.
    """
    _check_same_number([collection.npartitions for collection in (X, *columns)])
    pandas = import_dask("pandas")
    meta = pandas.Series(dtype=object)
    unique_name = uuid.uuid4().hex  # so that another fit to the same table does not share these tasks
    packed = X.map_partitions(_pack, *columns, unique_name=unique_name, align_dataframes=False, meta=meta)
    parts = _with_own_graphs(packed.to_delayed())
    has_weight = len(columns) > 1
    return [(part.iloc[0], part.iloc[1], part.iloc[2] if has_weight else None) for part in parts]


def _pack(*columns: Table, unique_name: str) -> LibraryObject:  # noqa: ARG001 (makes the name of the task unique)
    """Return a pandas series whose entries are the tables of a partition."""
    pandas = import_dask("pandas")
    packed = pandas.Series([None] * len(columns), dtype=object)
    for position, column in enumerate(columns):
        packed.iat[position] = column
    return packed


def _with_own_graphs(parts: Sequence[LibraryObject]) -> list[LibraryObject]:
    """Return partitions whose task graphs hold their own tasks only; else each step would search those of all."""
    if not parts:
        return []
    delayed = import_dask("dask.delayed")
    cull = import_dask("dask.optimization").cull
    tasks = dict(parts[0].__dask_graph__())
    return [delayed.Delayed(part.key, cull(tasks, [part.key])[0]) for part in parts]


def _check_same_number(n_partitions: Sequence[int]) -> None:
    if len(set(n_partitions)) > 1:
        counts = ", ".join(map(str, n_partitions))
        message = (
            f"X, y and sample_weight must have the same partitions; they have {counts} partitions. Repartition them, "
            "or take them from one collection"
        )
        raise ValueError(message)


def _values(part: Column) -> AnyArray:
    return part if isinstance(part, np.ndarray) else np.asarray(part.to_numpy())


def _n_threads() -> int:
    """Return the number of threads that compute: those of the current cluster, or of this machine."""
    client = default_client()
    if client is None:
        return os.cpu_count() or 1
    with cluster_errors(client):
        wait_for_a_worker(client)
        return max(1, sum(int(threads) for threads in client.nthreads().values()))
