"""Sums over leaves whose rows are on several workers, which exchange them through XGBoost's collective operations."""

import numpy as np

from epiboost._boosting.variance_guard import leaves_of, step_tolerance, sum_per_leaf
from epiboost._optional import require
from epiboost._typing import AnyArray, Floats, Integers, LibraryObject


def distributed_leaf_sums(after: AnyArray, before: AnyArray, gradient: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the sums of gradients and of weights in the leaf of each row, including rows of other workers.

    Each worker shares the smallest and largest step of each of its leaves, and their sums. Leaves whose steps overlap,
    up to rounding, are one leaf: the same that one worker with all rows would find.
    """
    collective = require("xgboost.collective", extra="xgboost", purpose="engine='xgboost' on a Dask collection")
    tolerance = float(collective.allreduce(np.array([step_tolerance(after, before)]), collective.Op.MAX)[0])
    leaf, step = leaves_of(after, before, tolerance), after.astype(np.float64) - before
    smallest, largest = np.full(leaf.max() + 1, np.inf), np.full(leaf.max() + 1, -np.inf)
    np.minimum.at(smallest, leaf, step)
    np.maximum.at(largest, leaf, step)
    local = np.stack([smallest, largest, sum_per_leaf(leaf, gradient), sum_per_leaf(leaf, weight)], axis=1)
    every, first = gather(local, collective)
    merged = merge_leaves(every[:, 0], every[:, 1], tolerance)
    of_rows = merged[first : first + len(local)][leaf]
    return sum_per_leaf(merged, every[:, 2])[of_rows], sum_per_leaf(merged, every[:, 3])[of_rows]


def merge_leaves(smallest: Floats, largest: Floats, tolerance: float) -> Integers:
    """Return the number of the leaf that each worker's leaf is a part of.

    >>> merge_leaves(np.array([0.5, 2.0, 0.6]), np.array([0.7, 2.0, 0.8]), tolerance=1e-9)
    array([0, 1, 0])
    """
    order = np.argsort(smallest, kind="stable")
    reached = np.maximum.accumulate(largest[order])
    is_next = np.concatenate([[0], smallest[order[1:]] - reached[:-1] > tolerance])
    merged = np.empty(len(smallest), dtype=np.int64)
    merged[order] = np.cumsum(is_next)
    return merged


def gather(local: Floats, collective: LibraryObject) -> tuple[Floats, int]:
    """Return the rows of all workers, one worker after the other, and the position of this worker's first row."""
    rank = collective.get_rank()
    lengths = np.zeros(collective.get_world_size())
    lengths[rank] = len(local)
    lengths = collective.allreduce(lengths, collective.Op.SUM).astype(np.int64)
    first = int(lengths[:rank].sum())
    every = np.zeros((int(lengths.sum()), local.shape[1]))
    every[first : first + len(local)] = local
    return collective.allreduce(every, collective.Op.SUM).reshape(every.shape), first
