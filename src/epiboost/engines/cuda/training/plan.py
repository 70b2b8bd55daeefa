"""How training is laid out on a device: sizes of grids, shared memory, and how many chains fit the memory at once.

Everything here is arithmetic, without a device.

>>> shape = Shape(rows=41_157, columns=9, outputs=2, depth=6, cells=256, trees=1000, packs=True)
>>> plan_launches(shape, members=10, limits=Limits(processors=132, shared_bytes=232_448)).subtracts
True
"""

from collections.abc import Sequence
from dataclasses import dataclass

from epiboost.engines.cuda.training.backend import Launch, Limits
from epiboost.engines.cuda.training.shape import Shape

BLOCK = 64  # arrays with one entry per row are padded to it, as in core/constants.hpp
_WAVES = 8  # blocks of rows per multiprocessor
_LEVEL_WAVES = 2  # of blocks that find splits
_CROWDED_WAVES = 4  # of blocks that find splits, from which on they take several columns
_BLOCKS_AT_ONCE = 2  # that a multiprocessor should hold
_MAX_COLUMNS = 2  # that a block takes
_MIN_TILE_ROWS = 4096  # that one block sums into a histogram; with fewer, merging takes longer than summing
_SUM_BYTES = 32 * 1024  # of shared memory for leaf sums
_GLOBAL_BYTES = 1 << 28  # for histograms that do not fit shared memory
_OPEN_LEAVES = 2  # of a leaf-wise tree, whose splits one block finds
_DIVIDED_ROWS = 16  # per thread of a block that divides a leaf, if the leaf has all rows
_STATIC_BYTES = 9 * 1024  # of shared memory that kernels have without being asked


@dataclass(frozen=True, slots=True)
class Plan:
    """Launches of one tree of a group of chains.

    Attributes
    ----------
    grown, given : tuple of Launch
        Launches for a tree that is grown, and for one that is there already.
    leaves_per_pass : int
        Leaves of a level whose histograms are summed at once.
    subtracts : bool
        Whether of two sibling leaves only the lighter one is summed.
    row_tiles : int
        Blocks that share the rows of a column.
    tile_rows : int
        Rows that one of them sums at least, if a leaf-wise tree has fewer in a leaf.
    sum_copies : int
        Copies of the leaf sums in shared memory; 0 if they do not fit.
    global_blocks : int
        Blocks whose histograms are in global memory; 0 if they fit shared memory.
    """

    grown: tuple[Launch, ...]
    given: tuple[Launch, ...]
    leaves_per_pass: int
    subtracts: bool
    row_tiles: int
    sum_copies: int
    global_blocks: int
    tile_rows: int = 0

    def global_bytes(self, shape: Shape) -> int:
        """Return the bytes of the histograms in global memory."""
        return self.global_blocks * self.leaves_per_pass * shape.leaf_bytes


def padded(rows: int) -> int:
    """Return the number of rows, padded to whole blocks.

    >>> padded(65)
    128
    """
    return -(-rows // BLOCK) * BLOCK


def plan_launches(shape: Shape, members: int, limits: Limits) -> Plan:
    """Return the launches of one tree of so many chains."""
    if shape.max_leaves:
        return _plan_leafwise(shape, members, limits)
    fits = _fitting_leaves(shape, limits)
    subtracts = fits >= max(shape.leaves // 4, 1)
    tiles = _row_tiles(shape, members, limits)
    blocks = tiles * (shape.column_groups + 1)  # one more moves rows to their new leaves
    global_blocks = 0 if fits else blocks * members
    at_once = fits or max(1, _GLOBAL_BYTES // (global_blocks * shape.leaf_bytes))
    leaves_per_pass = min(shape.leaves // 2, at_once)
    copies = _sum_copies(shape, limits)
    levels = []
    for level in range(shape.depth):
        slots = 1 << max(level - 1, 0) if subtracts else min(1 << level, leaves_per_pass)
        shared_bytes = 0 if global_blocks else slots * shape.leaf_bytes * shape.columns_at_once
        levels.append(Launch("find_split", (blocks, members), limits.level_threads, shared_bytes, level))
    gradients, sample, *after = _row_launches(shape, members, limits, copies)
    return Plan(
        grown=(gradients, sample, *levels, *after),
        given=(gradients, *after),
        leaves_per_pass=leaves_per_pass,
        subtracts=subtracts,
        row_tiles=tiles,
        sum_copies=copies,
        global_blocks=global_blocks,
    )


def _plan_leafwise(shape: Shape, members: int, limits: Limits) -> Plan:
    """Return the launches of one leaf-wise tree: two for each split, see ``leafwise/growth.cuh``."""
    tiles, copies = _row_tiles(shape, members, limits), _sum_copies(shape, limits)
    blocks = tiles * shape.columns
    global_blocks = 0 if _fitting_leaves(shape, limits) >= _OPEN_LEAVES else blocks * members
    shared_bytes = 0 if global_blocks else _OPEN_LEAVES * shape.leaf_bytes
    most = max(1, shape.splitting_rows // (limits.row_threads * _DIVIDED_ROWS))
    row_blocks = min(most, -(-_WAVES * limits.processors // members))
    growth = []
    for split in range(shape.splits):
        growth.append(Launch("find_leaf_splits", (blocks, members), limits.level_threads, shared_bytes, split))
        growth.append(Launch("divide_leaf", (row_blocks, members), limits.row_threads, 0, split))
    gradients, sample, *after = _row_launches(shape, members, limits, copies)
    return Plan(
        grown=(gradients, sample, *growth, *after),
        given=(gradients, *after),
        leaves_per_pass=_OPEN_LEAVES,
        subtracts=False,
        row_tiles=tiles,
        sum_copies=copies,
        global_blocks=global_blocks,
        tile_rows=_MIN_TILE_ROWS,
    )


def _fitting_leaves(shape: Shape, limits: Limits) -> int:
    """Return how many histograms of a leaf and a column fit the shared memory of a block."""
    return max(0, limits.shared_bytes - _STATIC_BYTES - 4 * shape.outputs) // shape.leaf_bytes


def is_crowded(shape: Shape, members: int, limits: Limits) -> bool:
    """Return whether blocks of one column each fill the device several times over."""
    return members * shape.columns > _CROWDED_WAVES * limits.processors


def columns_at_once(shape: Shape, members: int, limits: Limits) -> int:
    """Return how many columns one block takes: reading rows once for several saves time where blocks are many.

    >>> shape = Shape(rows=41_157, columns=9, outputs=2, depth=6, cells=256, trees=1000, packs=True)
    >>> limits = Limits(processors=132, shared_bytes=232_448)
    >>> columns_at_once(shape, 1, limits), columns_at_once(shape, 100, limits)
    (1, 2)
    """
    if shape.max_leaves or not is_crowded(shape, members, limits):
        return 1
    slots = max(shape.leaves // 4, 1) * shape.leaf_bytes
    fits = (limits.shared_bytes // _BLOCKS_AT_ONCE - _STATIC_BYTES) // slots
    return max(1, min(_MAX_COLUMNS, fits, shape.columns))


def _row_tiles(shape: Shape, members: int, limits: Limits) -> int:
    """Return into how many parts the rows of a column are divided, so that all multiprocessors have work."""
    wanted = _LEVEL_WAVES * limits.processors // (members * shape.column_groups)
    return max(1, min(wanted, shape.splitting_rows // _MIN_TILE_ROWS))


def _sum_copies(shape: Shape, limits: Limits) -> int:
    """Return how many copies of the leaf sums a block has."""
    one = shape.leaves * shape.sum_lanes * 8
    return min(_SUM_BYTES // one, limits.row_threads // 32)


def _row_launches(shape: Shape, members: int, limits: Limits, copies: int) -> tuple[Launch, ...]:
    """Return the launches that go through rows: gradients, sample, leaf sums, and the evaluation rows."""
    threads = limits.row_threads
    most = max(1, -(-shape.rows // threads))
    wanted = -(-_WAVES * limits.processors // members)
    blocks = min(most, wanted)
    sum_bytes = copies * shape.leaves * shape.sum_lanes * 8
    launches = [
        Launch("compute_gradients", (blocks, members), threads),
        Launch("prepare_sample", (blocks, members), threads, threads * 8 if shape.sample_rows else 0),
        Launch("sum_leaves", (blocks, members), threads, sum_bytes),
    ]
    if shape.is_monotone:
        launches.append(Launch("order_leaves", (1, members), threads))
    if shape.evaluation_rows:
        launches.append(Launch("evaluate_rows", (-(-shape.evaluation_rows // threads), members), threads))
    return tuple(launches)


def member_bytes(shape: Shape) -> int:
    """Return the bytes of one chain's arrays, without the rows that it shares with others."""
    stride, sample = padded(shape.rows), padded(shape.splitting_rows)
    lanes = shape.sum_lanes
    guard = 4 * (shape.guards_variance + shape.keeps_own_gradients + shape.is_monotone)
    state = stride * (4 * shape.outputs * 2 + 1 + guard + (8 if shape.subsamples else 0))
    drawn = sample * shape.columns if shape.sample_rows else 0
    splitting = sample * ((4 if shape.packs else shape.outputs) + 2 + (4 if shape.weighs_sample else 0)) + drawn
    trees = shape.trees * ((4 if shape.max_leaves else 3) * shape.splits + 4 * shape.leaves * shape.outputs + 20)
    leaves = shape.leaves * 24 * lanes
    if shape.max_leaves:
        kept = shape.splits * shape.keeps_sums + shape.shared_leaves
        leaves += shape.leaves * (56 + 8 * shape.group_words) + shape.columns * kept * shape.leaf_bytes + 8 * sample
        leaves += shape.is_monotone * (4 * shape.splits * shape.leaves + 12 * shape.most_pairs)
    else:
        leaves += shape.columns * shape.leaves * (shape.leaf_bytes + 1)
    evaluation = padded(shape.evaluation_rows) * (4 * shape.outputs + 1)
    return state + splitting + trees + leaves + evaluation


def sample_bytes(shape: Shape) -> int:
    """Return the bytes of the rows that chains share: bins, targets, and weights in all their forms."""
    trained = shape.columns + 4 * (5 + shape.targets) + 1
    return padded(shape.rows) * trained + padded(shape.evaluation_rows) * (shape.columns + 4 * (1 + shape.targets))


def groups_of(sizes: Sequence[int], free: int) -> list[range]:
    """Return ranges of chains that fit the memory together; a range has at least one chain.

    Parameters
    ----------
    sizes : sequence of int
        Bytes of each chain.
    free : int

    >>> groups_of([4, 4, 4, 20, 4], 10)
    [range(0, 2), range(2, 3), range(3, 4), range(4, 5)]
    """
    groups, first, used = [], 0, 0
    for chain, size in enumerate(sizes):
        if chain > first and used + size > free:
            groups.append(range(first, chain))
            first, used = chain, 0
        used += size
    return [*groups, range(first, len(sizes))]
