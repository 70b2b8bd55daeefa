"""Exact Shapley values of the score of a forest: what each player adds, where players are columns or groups of columns.

The score of an ensemble is a sum of trees, so its Shapley values are the sums of those of the trees. Background rows
give the values of the columns that are not known (the interventional game). An encoded column belongs to the player of
its column. A feature cross of columns of several players belongs to none of them: it is a player of its own, and its
value is shared equally.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._native import native
from epiboost._threads import shared_threads
from epiboost._typing import AnyArray, Bytes, Floats, Integers
from epiboost.engines.native.forest import NativeForest
from epiboost.engines.native.segments import segment_ends

_MAX_PLAYERS_ON_PATH = 64  # of the native core


@dataclass(frozen=True, slots=True, eq=False)
class ForestPlayers:
    """The players of a forest's encoded columns.

    Attributes
    ----------
    of_encoded : integer array of shape (encoded columns,)
        Player of each; those from ``n_players`` on are feature crosses.
    n_players : int
        Without crosses.
    crosses : tuple of tuples of int
        The players of each feature cross that belongs to several of them.
    """

    of_encoded: Integers
    n_players: int
    crosses: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, forest: NativeForest, players: Integers) -> "ForestPlayers":
        """Return the players of encoded columns, given those of the columns of the table."""
        n_players = int(players.max()) + 1
        crosses: dict[tuple[int, ...], int] = {}
        of_encoded = []
        for columns in _sources(forest):
            own = tuple(sorted({int(players[column]) for column in columns}))
            of_encoded.append(own[0] if len(own) == 1 else n_players + crosses.setdefault(own, len(crosses)))
        return cls(np.array(of_encoded, dtype=np.int64), n_players, tuple(crosses))

    def share_crosses(self, values: Floats) -> Floats:
        """Divide the values of crosses equally among their players, shape (n, n_players)."""
        shared = values[:, : self.n_players].copy()
        for position, own in enumerate(self.crosses, start=self.n_players):
            shared[:, own] += values[:, position : position + 1] / len(own)
        return shared


def shapley_values(
    forest: NativeForest,
    table: AnyArray,
    background: AnyArray,
    *,
    players: Integers,
    coefficients: Floats,
    prefixes: Sequence[int] | None,
) -> tuple[Floats, float]:
    """Divide a linear combination of the outputs of the mean score among players.

    Parameters
    ----------
    forest : NativeForest
    table : array of shape (n, features)
        Rows to explain, as `ColumnSchema.transform` returns them.
    background : array of shape (m, features)
    players : integer array of shape (features,)
        The player that each column belongs to, from 0.
    coefficients : array of shape (outputs,)
        Of the outputs in the combination.
    prefixes : sequence of int or None
        As for `Forest.predict`.

    Returns
    -------
    values : array of shape (n, players)
    base : float
        Mean over the background rows. ``base + values.sum(axis=1)`` is the score of each row.
    """
    own = ForestPlayers.of(forest, players)
    values = np.zeros((len(table), own.n_players + len(own.crosses)))
    base = float(coefficients @ forest.objective.start)
    for member in _members(forest, table, background, prefixes):
        trees = member.weight > 0.0
        part = np.empty_like(values)
        with shared_threads(forest.threads) as threads:
            base += native().tree_shapley_values(
                forest.feature[trees],
                forest.threshold[trees],
                forest.parent[trees],
                (forest.leaf[trees] @ coefficients) * member.weight[trees][:, np.newaxis],
                own.of_encoded.astype(np.int32),
                np.ascontiguousarray(member.rows.T),
                np.ascontiguousarray(member.background.T),
                threads,
                part,
            )
        values += part
    return own.share_crosses(values), base


def is_exact(forest: NativeForest, players: Integers) -> bool:
    """Return whether `shapley_values` are those of the players' game.

    They are not if a feature cross belongs to several players.
    """
    if ForestPlayers.of(forest, players).crosses:
        return False
    return int(players.max()) < _MAX_PLAYERS_ON_PATH or _deepest(forest.parent) <= _MAX_PLAYERS_ON_PATH


@dataclass(frozen=True, slots=True, eq=False)
class _WeightedTrees:
    """Trees whose weighted sum is explained, and the bins that they see.

    Attributes
    ----------
    weight : array of shape (chains, trees)
        Share of the mean score, with the shrinkage by later trees; 0 for trees that are not in use.
    rows, background : arrays of shape (n, encoded columns)
    """

    weight: Floats
    rows: Bytes
    background: Bytes


def _members(
    forest: NativeForest, table: AnyArray, background: AnyArray, prefixes: Sequence[int] | None
) -> Iterator[_WeightedTrees]:
    """Yield the trees of all members together, or of one after the other if these see different bins."""
    ends = segment_ends(forest, prefixes)
    (rows, rows_unseen), (typical, typical_unseen) = forest.binned(table), forest.binned(background)
    n_members = ends.size
    position = np.arange(forest.feature.shape[1])
    weight = np.where(
        position < ends[:, :, np.newaxis], forest.decay ** np.maximum(ends[:, :, np.newaxis] - 1 - position, 0), 0.0
    )
    weight /= n_members
    if n_members == 1 or not (rows_unseen.any() or typical_unseen.any()):
        yield _WeightedTrees(weight.sum(axis=1), rows, typical)
        return
    imputed = zip(
        _imputed(forest, table, rows, rows_unseen, n_members),
        _imputed(forest, background, typical, typical_unseen, n_members),
        strict=True,
    )
    for member, (own_rows, own_typical) in enumerate(imputed):
        chain, segment = divmod(member, ends.shape[1])
        only = np.zeros_like(weight[:, 0])
        only[chain] = weight[chain, segment]
        yield _WeightedTrees(only, own_rows, own_typical)


def _imputed(forest: NativeForest, table: AnyArray, bins: Bytes, unseen: AnyArray, n_members: int) -> Iterator[Bytes]:
    """Yield the bins that each member sees: rows with unseen categories are encoded differently for each."""
    rows = np.flatnonzero(unseen)
    own = np.array(bins)
    if not len(rows):
        yield from (own for _ in range(n_members))
        return
    for of_member in forest.binned_encoding.impute_unseen(table[rows], bins[rows], n_members):
        own[rows] = of_member
        yield own


def _sources(forest: NativeForest) -> Sequence[tuple[int, ...]]:
    """Return the columns of the table that each binned column is made of."""
    if forest.encoding is None:
        return [(column,) for column in range(forest.n_features)]
    return forest.encoding.sources


def _deepest(parent: Bytes) -> int:
    """Return the number of splits on the longest path of leaf-wise trees, shape (members, trees, splits)."""
    n_splits = parent.shape[2]
    of_tree = parent.reshape(-1, n_splits)
    depth = np.zeros((len(of_tree), n_splits + 1), dtype=np.int64)
    for split in range(n_splits):
        trees = np.flatnonzero(of_tree[:, split] <= split)
        divided = of_tree[trees, split]
        depth[trees, divided] += 1
        depth[trees, split + 1] = depth[trees, divided]
    return int(depth.max(initial=0))
