"""From partitions to one table of bins: a byte a value, an eighth of the floats, which are never in memory at once."""

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from epiboost._binning.bins import BinnedTable, Bins
from epiboost._typing import AnyArray, Bytes, Floats
from epiboost.distributed.partitions import Reader, batches, each_of, partitions_of, read_part
from epiboost.distributed.sketch import sketch_partitions


def stream_table(
    X: Any,  # noqa: ANN401 (a collection of Dask)
    read: Reader,
    weight: Floats,
    *,
    bins: Bins | None,
    n_features: int,
    max_bins: int,
) -> BinnedTable:
    """Bin a table in partitions.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, features)
    read : callable
        Checks a partition and returns its floats.
    weight : array of shape (n,)
        Rows of weight zero are left out.
    bins : Bins or None
        None finds borders by a sketch, which reads the table once more.
    """
    parts = partitions_of(X)
    if bins is None:
        even = bool((weight == weight[0]).all())
        weights = None if even else _pieces(weight, _lengths(parts))
        bins = sketch_partitions(parts, read, n_features, weights).bins(max_bins)
        give_memory_back()
    bins.check_width(n_features)
    codes = _codes(parts, read, bins, weight)
    give_memory_back()
    return BinnedTable(bins, codes)


def give_memory_back() -> None:
    """Return to the system what allocators keep of the partitions that were read; training needs the room."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # there is none but in glibc
        if trim is not None:
            trim(0)


def _codes(parts: Sequence[Any], read: Reader, bins: Bins, weight: Floats) -> Bytes:
    """Return the bins of the rows that count, in the order of the partitions."""
    kept = weight > 0
    codes = np.empty((int(np.count_nonzero(kept)), bins.n_features), dtype=np.uint8)
    row = place = 0
    for batch in batches(parts, _bin, read, bins):
        for part in batch:
            own = kept[row : row + len(part)]
            row += len(part)
            if row > len(kept):
                continue
            counting = part if own.all() else part[own]
            codes[place : place + len(counting)] = counting
            place += len(counting)
    _check_length(row, len(kept))
    return codes


def _bin(part: Any, read: Reader, bins: Bins) -> Bytes:  # noqa: ANN401 (a table in memory)
    return bins.transform(read_part(part, read, bins.n_features))


def _lengths(parts: Sequence[Any]) -> list[int]:
    return list(each_of(parts, len))


def _pieces(column: AnyArray, lengths: Sequence[int]) -> list[AnyArray]:
    """Cut a column into one piece a partition."""
    _check_length(sum(lengths), len(column))
    return np.split(column, np.cumsum(lengths)[:-1])


def _check_length(rows: int, targets: int) -> None:
    if rows != targets:
        message = f"Found input variables with inconsistent numbers of samples: X has {rows} rows, y {targets}"
        raise ValueError(message)
