"""Shapes of launches and sizes of chunks: numbers only, for any GPU.

>>> launch_of(rows=91_460, columns=9, trees=TreeSizes(splits=6, leaves=64, outputs=2, chains=10, is_symmetric=True))
Launch(grid=(179, 10), threads=128, shared_bytes=13568, planes=2, is_staged=True)
"""

from dataclasses import dataclass
from typing import NamedTuple

from epiboost.engines.cuda.compiled_trees import TREES_PER_BATCH
from epiboost.engines.cuda.device import check_fits

THREADS = 128
PADDING = 512  # rows are padded to the largest tile
STAGED_ROWS, STAGED_COLUMNS = 128, 32  # of a block that finds bins
_TILE_OF_SYMMETRIC, _TILE_OF_LEAF_WISE = 512, 128
_MAX_STAGED_BYTES = 96 << 10  # of a block: two fit a multiprocessor of 227 KB
_CHUNK_BYTES = 1 << 30  # larger chunks are no faster
_MAX_BIN_BYTES = 1 << 31  # offsets of bins have 32 bits
_HOST_CHUNK_BYTES = 32 << 20  # of a table that is copied: the copy of one chunk hides the computation of another


class TreeSizes(NamedTuple):
    """Sizes of the arrays of a forest."""

    splits: int
    leaves: int
    outputs: int
    chains: int
    is_symmetric: bool


@dataclass(frozen=True, slots=True)
class Launch:
    """How the kernel that sums leaf values is launched.

    Attributes
    ----------
    grid : (tiles of rows, chains times groups of outputs)
    threads : int
        Per block.
    shared_bytes : int
        Shared memory per block: a batch of trees and, if they fit, the bins of a tile.
    planes : int
        Outputs that a block sums.
    is_staged : bool
        Whether the bins are in shared memory.
    """

    grid: tuple[int, int]
    threads: int
    shared_bytes: int
    planes: int
    is_staged: bool


def launch_of(rows: int, columns: int, trees: TreeSizes) -> Launch:
    """Return the launch for a table of bins."""
    tile = _TILE_OF_SYMMETRIC if trees.is_symmetric else _TILE_OF_LEAF_WISE
    planes = min(trees.outputs, 2)
    batch_bytes = TREES_PER_BATCH * (4 * planes * trees.leaves + 8 * trees.splits)
    staged = batch_bytes + columns * tile
    is_staged = staged <= max(_MAX_STAGED_BYTES, batch_bytes)
    grid = (-(-rows // tile), trees.chains * -(-trees.outputs // planes))
    return Launch(grid, THREADS, staged if is_staged else batch_bytes, planes, is_staged)


def padded(rows: int) -> int:
    """Return the number of rows of the arrays on the GPU.

    >>> padded(1), padded(512)
    (512, 512)
    """
    return -(-rows // PADDING) * PADDING


def chunk_rows(rows: int, row_bytes: int, columns: int, table_bytes: int, free: int) -> int:
    """Return the number of rows that are predicted at once, a multiple of `PADDING`.

    Parameters
    ----------
    rows : int
        Of the table.
    row_bytes : int
        Of all arrays on the GPU together, per row.
    columns : int
    table_bytes : int
        Per row, of a table that is copied to the GPU; 0 for one that is there.
    free : int
        Bytes of GPU memory that can be used. Two chunks are under way at the same time.

    Raises
    ------
    DeviceError
        If even the smallest chunk does not fit.

    Examples
    --------
    >>> chunk_rows(1_000_000, row_bytes=700, columns=28, table_bytes=224, free=8 << 30)
    149504
    """
    check_fits(2 * PADDING * (row_bytes + table_bytes), free, f"predictions of {PADDING} rows at a time")
    most = min(_CHUNK_BYTES, free // 2) // (row_bytes + table_bytes)
    most = min(most, _MAX_BIN_BYTES // columns)
    if table_bytes:
        most = min(most, max(_HOST_CHUNK_BYTES // table_bytes, 16 * PADDING))
    return min(max(most // PADDING, 1) * PADDING, padded(rows))
