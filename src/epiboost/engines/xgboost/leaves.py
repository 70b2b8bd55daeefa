"""Leaves whose rows are spread over workers: all workers ask together, through XGBoost's own network."""

from typing import Any

import numpy as np

from epiboost._boosting.variance_guard import leaves_of, rounding_of, sums_of
from epiboost._optional import require
from epiboost._typing import AnyArray, Floats, Integers


def totals_of_workers(after: AnyArray, before: AnyArray, gradient: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the sums of gradients and of weights in the leaf of each row, rows of other workers included.

    Each worker tells how far its leaves moved, from the least to the most, and their sums. Those that overlap, up to
    rounding, are one leaf: the same that one worker with all rows would find.
    """
    network = require("xgboost.collective", extra="xgboost", purpose="engine='xgboost' on a Dask collection")
    rounding = float(network.allreduce(np.array([rounding_of(after, before)]), network.Op.MAX)[0])
    leaf, moved = leaves_of(after, before, rounding), after.astype(np.float64) - before
    least, most = np.full(leaf.max() + 1, np.inf), np.full(leaf.max() + 1, -np.inf)
    np.minimum.at(least, leaf, moved)
    np.maximum.at(most, leaf, moved)
    own = np.stack([least, most, sums_of(leaf, gradient), sums_of(leaf, weight)], axis=1)
    everyone, place = gathered(own, network)
    joined = joined_leaves(everyone[:, 0], everyone[:, 1], rounding)
    mine = joined[place : place + len(own)][leaf]
    return sums_of(joined, everyone[:, 2])[mine], sums_of(joined, everyone[:, 3])[mine]


def joined_leaves(least: Floats, most: Floats, rounding: float) -> Integers:
    """Return which leaf each worker's leaf is a part of.

    >>> joined_leaves(np.array([0.5, 2.0, 0.6]), np.array([0.7, 2.0, 0.8]), rounding=1e-9)
    array([0, 1, 0])
    """
    order = np.argsort(least, kind="stable")
    reached = np.maximum.accumulate(most[order])
    gaps = np.concatenate([[0], least[order[1:]] - reached[:-1] > rounding])
    joined = np.empty(len(least), dtype=np.int64)
    joined[order] = np.cumsum(gaps)
    return joined


def gathered(own: Floats, network: Any) -> tuple[Floats, int]:  # noqa: ANN401 (a module)
    """Return the rows of all workers, one worker after the other, and where one's own begin."""
    rank = network.get_rank()
    lengths = np.zeros(network.get_world_size())
    lengths[rank] = len(own)
    lengths = network.allreduce(lengths, network.Op.SUM).astype(np.int64)
    place = int(lengths[:rank].sum())
    everyone = np.zeros((int(lengths.sum()), own.shape[1]))
    everyone[place : place + len(own)] = own
    return network.allreduce(everyone, network.Op.SUM).reshape(everyone.shape), place
