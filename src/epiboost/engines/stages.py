"""Predictions of chains after each number of trees.

After k trees, every chain is as it was after k trees. A chain that ends earlier stays as it is at its end; so does a
member of a virtual ensemble at its own truncation.
"""

from collections.abc import Sequence

import numpy as np

from epiboost._typing import AnyArray, Floats, Integers
from epiboost.engines.base import Forest
from epiboost.engines.native.forest import NativeForest


def predict_stages(forest: Forest, table: AnyArray, stages: Sequence[int], ends: Sequence[int]) -> Floats:
    """Return the distribution parameters of all members after each number of trees.

    Parameters
    ----------
    forest : Forest
        Of an engine whose capabilities include prefixes.
    table : array of shape (n, features)
    stages : sequence of int
        Ascending tree counts.
    ends : sequence of int
        Tree counts of the members of each chain, ascending: those of a virtual ensemble, otherwise one.

    Returns
    -------
    array of shape (stages, members, n, outputs)
    """
    truncated = np.minimum.outer(np.asarray(stages), np.asarray(ends))  # (stages, ends)
    needed, position = np.unique(truncated, return_inverse=True)
    position = position.reshape(truncated.shape)
    prefixes = tuple(needed.tolist())
    predicted = forest.predict(table, prefixes=prefixes)
    by_chain = predicted.reshape(-1, len(needed), *predicted.shape[1:])
    members: Floats = by_chain[:, position].transpose(1, 0, 2, 3, 4)  # (stages, chains, ends, n, outputs)
    members = np.ascontiguousarray(members).reshape(len(position), -1, *predicted.shape[1:])
    if isinstance(forest, NativeForest) and members.shape[1] > 1:
        _impute_unseen(forest, table, prefixes, position, members)
    return members


def _impute_unseen(
    forest: NativeForest, table: AnyArray, prefixes: tuple[int, ...], position: Integers, members: Floats
) -> None:
    """Predict rows with unseen categories again: each member replaces them by a value of its own, at all stages."""
    bins, unseen = forest.binned(table)
    rows = np.flatnonzero(unseen)
    if not len(rows):
        return
    n_ends = position.shape[1]
    imputed = forest.binned_encoding.impute_unseen(table[rows], bins[rows], members.shape[1])
    for member, own_bins in enumerate(imputed):
        chain, end = divmod(member, n_ends)
        members[:, member, rows] = forest.predict_bins(own_bins, prefixes, chain)[position[:, end]]
