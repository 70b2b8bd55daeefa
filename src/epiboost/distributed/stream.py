"""Bins a Dask collection into one table in memory, a batch of partitions at a time.

A bin takes one byte, an eighth of a float; the floats of all rows are never in memory at once.
"""

import ctypes
import sys
from collections.abc import Sequence

import numpy as np

from epiboost._binning.bins import BinnedTable, Bins
from epiboost._typing import AnyArray, Bytes, Floats, LibraryObject, Table
from epiboost.distributed.partitions import (
    TableTransform,
    map_in_batches,
    map_partitions,
    partitions_of,
    transform_partition,
)
from epiboost.distributed.sketch import sketch_partitions


def stream_table(
    X: LibraryObject,
    transform: TableTransform,
    weight: Floats,
    *,
    bins: Bins | None,
    n_features: int,
    max_bins: int,
) -> BinnedTable:
    """Return the bins of a Dask collection, in memory.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, features)
    transform : callable
        Checks a partition and returns its floats.
    weight : array of shape (n,)
        Rows of weight zero are left out.
    bins : Bins or None
        If None, borders are computed by a sketch, which reads the collection once more.
    n_features, max_bins : int
    """
    parts = partitions_of(X)
    if bins is None:
        is_constant = bool((weight == weight[0]).all())
        weights = None if is_constant else _split(weight, list(map_partitions(parts, len)))
        bins = sketch_partitions(parts, transform, n_features, weights).bins(max_bins)
        release_memory()
    bins.check_width(n_features)
    codes = _codes(parts, transform, bins, weight)
    release_memory()
    return BinnedTable(bins, codes)


def release_memory() -> None:
    """Return memory that allocators keep after partitions were read to the system; training needs it."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # only glibc has it
        if trim is not None:
            trim(0)


def _codes(parts: Sequence[LibraryObject], transform: TableTransform, bins: Bins, weight: Floats) -> Bytes:
    """Return the bins of the rows of positive weight, in the order of the partitions."""
    is_positive = weight > 0
    codes = np.empty((int(np.count_nonzero(is_positive)), bins.n_features), dtype=np.uint8)
    n_read = n_written = 0
    for batch in map_in_batches(parts, _bin_partition, transform, bins):
        for part in batch:
            is_used = is_positive[n_read : n_read + len(part)]
            n_read += len(part)
            if n_read > len(is_positive):
                continue  # too many rows: they are counted for the error below
            rows = part if is_used.all() else part[is_used]
            codes[n_written : n_written + len(rows)] = rows
            n_written += len(rows)
    _check_length(n_read, len(is_positive))
    return codes


def _bin_partition(part: Table, transform: TableTransform, bins: Bins) -> Bytes:
    return bins.transform(transform_partition(part, transform, bins.n_features))


def _split(column: AnyArray, lengths: Sequence[int]) -> list[AnyArray]:
    """Split a column into one array per partition."""
    _check_length(sum(lengths), len(column))
    return np.split(column, np.cumsum(lengths)[:-1])


def _check_length(n_rows: int, n_targets: int) -> None:
    if n_rows != n_targets:
        message = f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y {n_targets}"
        raise ValueError(message)
