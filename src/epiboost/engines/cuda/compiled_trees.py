"""A forest in the form that the prediction kernels read, with the integers that the CPU adds.

Values of leaves are integer multiples of a unit that a batch of at most sixteen trees shares; see
``prediction/compiled_trees.hpp`` of the native core. This module is the same computation in NumPy, for the same bits.

>>> batches_of(0, 40)
[(0, 14), (14, 13), (27, 13)]
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from epiboost._typing import AnyArray, Bytes, Floats, Floats32

TREES_PER_BATCH = 16
_VALUE_BITS = 24  # of an integer leaf value, including its sign
_NOT_MADE = 255  # parent of a split that was not made


class ForestArrays(NamedTuple):
    """Trees and segments of a forest.

    Attributes
    ----------
    feature, threshold : arrays of shape (chains, trees, splits)
    parent : array of shape (chains, trees, splits)
        No columns for symmetric trees.
    leaf : array of shape (chains, trees, leaves, outputs)
        Includes the shrinkage by the later trees of the segment.
    end : array of shape (chains, segments)
        One past the last tree of each segment.
    decay : array of shape (chains, segments)
        Factor on the score before the segment.
    """

    feature: AnyArray
    threshold: Bytes
    parent: Bytes
    leaf: Floats32
    end: AnyArray
    decay: Floats


@dataclass(frozen=True, slots=True)
class CompiledTrees:
    """Trees of all chains, one after the other.

    Attributes
    ----------
    split : uint32 array of shape (trees, splits, 2)
        Column and threshold (in the upper half), and for leaf-wise trees the two children, of 16 bits each.
    leaf : int32 array of shape (trees, outputs, leaves)
        In units of the batch.
    batches : int32 array of shape (batches, 2)
        First tree and number of trees.
    unit : float32 array of shape (batches, outputs)
    segments : int32 array of shape (chains, segments, 2)
        First batch, and the one after the last.
    decay : array of shape (chains, segments)
    is_symmetric : bool
    """

    split: AnyArray
    leaf: AnyArray
    batches: AnyArray
    unit: Floats32
    segments: AnyArray
    decay: Floats
    is_symmetric: bool

    @classmethod
    def of(cls, forest: ForestArrays) -> Self:
        """Return the compiled trees of a forest."""
        chains, trees, splits = forest.feature.shape
        batches: list[tuple[int, int]] = []
        segments = np.empty((*forest.end.shape, 2), dtype=np.int32)
        for chain, ends in enumerate(forest.end.tolist()):
            for number, (begin, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
                first = len(batches)
                batches += batches_of(chain * trees + begin, chain * trees + end)
                segments[chain, number] = first, len(batches)
        leaf, unit = _integers(forest.leaf.reshape(chains * trees, *forest.leaf.shape[2:]), batches)
        is_symmetric = forest.parent.shape[2] == 0
        split = np.zeros((chains * trees, splits, 2), dtype=np.uint32)
        split[:, :, 0] = (forest.feature | forest.threshold.astype(np.uint32) << 16).reshape(-1, splits)
        if not is_symmetric:
            split[:, :, 1] = _children(forest.parent.reshape(-1, splits), leaf.shape[2])
        return cls(
            split,
            leaf,
            np.array(batches, dtype=np.int32).reshape(-1, 2),
            unit,
            segments,
            np.ascontiguousarray(forest.decay),
            is_symmetric,
        )

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return len(self.segments)

    @property
    def n_members(self) -> int:
        """Number of chains times segments."""
        return int(self.segments.shape[0] * self.segments.shape[1])

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(self.leaf.shape[1])


def batches_of(begin: int, end: int) -> list[tuple[int, int]]:
    """Return first tree and size of the batches of a segment, which have about equal size."""
    batches = []
    while begin < end:
        left = -(-(end - begin) // TREES_PER_BATCH)
        size = -(-(end - begin) // left)
        batches.append((begin, size))
        begin += size
    return batches


def _integers(leaf: Floats32, batches: list[tuple[int, int]]) -> tuple[AnyArray, Floats32]:
    """Return integer leaf values, shape (trees, outputs, leaves), and the units of the batches.

    The unit is a power of two such that the largest value of a batch is less than 2^23 units.
    """
    largest = np.abs(leaf).max(axis=1)  # (trees, outputs)
    of_batch = np.array([largest[first : first + size].max(axis=0) for first, size in batches], dtype=np.float32)
    of_batch = of_batch.reshape(len(batches), leaf.shape[2])
    exponent = np.frexp(of_batch)[1] - 1
    power = np.where(of_batch > 0.0, np.maximum(exponent + 2 - _VALUE_BITS, -126), 0)
    unit = np.ldexp(np.float32(1.0), power).astype(np.float32)
    of_tree = np.ones_like(largest)  # trees that no segment has are not read
    for number, (first, size) in enumerate(batches):
        of_tree[first : first + size] = unit[number]
    most = (1 << (_VALUE_BITS - 1)) - 1
    in_units = leaf.astype(np.float64) / of_tree[:, np.newaxis]
    rounded = np.copysign(np.floor(np.abs(in_units) + 0.5), in_units)  # halves away from zero
    integers = np.clip(rounded, -most, most).astype(np.int32)
    return np.ascontiguousarray(integers.transpose(0, 2, 1)), unit


def _children(parent: Bytes, leaves: int) -> AnyArray:
    """Return both children of each split, of 16 bits each: a later split, or the complement of a leaf.

    Going backwards, ``target`` holds where a row in each leaf goes.
    """
    trees, splits = parent.shape
    children = np.full((trees, splits), 0xFFFFFFFF, dtype=np.uint32)
    target = np.broadcast_to(~np.arange(leaves, dtype=np.int16), (trees, leaves)).copy()
    for split in range(splits - 1, -1, -1):
        made = np.flatnonzero(parent[:, split] != _NOT_MADE)
        divided = parent[made, split]
        below, above = (target[made, side].astype(np.uint16).astype(np.uint32) for side in (divided, split + 1))
        children[made, split] = below | above << 16
        target[made, divided] = split
    return children
