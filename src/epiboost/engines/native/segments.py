"""Segments of chains: a member of a virtual ensemble is its chain after so many trees, the sum of segments so far."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from epiboost._boosting.truncation import check_prefixes
from epiboost._typing import AnyArray
from epiboost.engines.cuda.compiled_trees import ForestArrays

if TYPE_CHECKING:
    from epiboost.engines.native.forest import NativeForest


def segment_ends(forest: "NativeForest", prefixes: Sequence[int] | None) -> AnyArray:
    """Return the number of trees after which each member is predicted, shape (chains, prefixes)."""
    if prefixes is None:
        return forest.count[:, np.newaxis].astype(np.int32)
    checked = check_prefixes(prefixes, forest.feature.shape[1])
    return np.minimum(np.asarray(checked, dtype=np.int32), forest.count[:, np.newaxis])


def segment_arrays(forest: "NativeForest", prefixes: tuple[int, ...] | None) -> ForestArrays:
    """Return the arrays of a predictor, one segment per prefix.

    Its leaf values include the shrinkage by the later trees of their segment.
    """
    members, trees = forest.feature.shape[:2]
    end = segment_ends(forest, prefixes)
    begin = np.concatenate([np.zeros((members, 1), dtype=np.int32), end[:, :-1]], axis=1)
    position = np.arange(trees)
    segment = np.stack([np.searchsorted(of_chain, position, side="right") for of_chain in end])
    segment_end = np.take_along_axis(end, np.minimum(segment, end.shape[1] - 1), axis=1)
    shrinkage = forest.decay ** np.maximum(segment_end - 1 - position, 0)
    return ForestArrays(
        forest.feature,
        forest.threshold,
        forest.parent,
        (forest.leaf * shrinkage[:, :, np.newaxis, np.newaxis]).astype(np.float32),
        np.ascontiguousarray(end),
        forest.decay ** (end - begin).astype(np.float64),
    )
