"""Training of chains in the native core, on this machine or on a cluster.

A chain is a pure function of a binned table, a recipe and a seed.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._boosting.bootstrap import bootstrap_weight
from epiboost._boosting.objectives import Objective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.step_sizes import StepSizes
from epiboost._boosting.variance_guard import LEAVE_ONE_OUT_FACTOR, SYMMETRIC_TREES_FACTOR
from epiboost._encoding.encoding import Encoding
from epiboost._native import ChainRecipe as NativeRecipe
from epiboost._native import Sample, native
from epiboost._progress import Progress, no_progress
from epiboost._typing import AnyArray, Bytes, Floats, Floats32
from epiboost.distributed.members import fan_out
from epiboost.engines.native.encoded_constraints import encoded_constraints
from epiboost.engines.native.forest import NativeForest
from epiboost.engines.native.rows import BinnedRows
from epiboost.engines.native.split_rows import split_rows
from epiboost.engines.rounds import Rounds

_UNBOUNDED = 255  # levels: a leaf-wise tree has at most 255 leaves, so none is deeper


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRecipe:
    """How to grow one chain; the same fields as ``ChainRecipe`` of the native core (``core/problem.hpp``).

    This class, not the native one, is sent to the workers of a cluster: their machines may have other instruction sets,
    and each build of the native core has a class of its own.

    Attributes
    ----------
    objective : int
        Code of the loss, see `Objective`.
    start : tuple of float
        Score before the first tree, one per output; it is not shrunk.
    trees, depth : int
        Number of trees, and their depth.
    leaves : int
        Number of leaves of a leaf-wise tree; 0 for symmetric trees.
    learning_rate, l2, shrink, noise : float
        See `StepSizes`.
    variance_guard : float
        How often a row's own influence is removed from its residual for the variance.
    subsample : float
        Share of the rows that each tree sees.
    structure_rows : float
        Number of rows that choose the splits of each tree; 0 for all rows.
    random_strength, random_decay : float
        Noise on the scores of candidate splits, and how fast it vanishes, per tree.
    monotone, interactions : tuples
        Constraints on the columns of the binned table, see `Constraints`.
    min_leaf_weight : float
        Least weight of the rows of a leaf; 0 for any.
    column_share : float
        Share of the columns that each tree may split on.
    """

    objective: int
    start: tuple[float, ...]
    trees: int
    depth: int
    leaves: int
    learning_rate: float
    l2: float
    shrink: float
    noise: float
    subsample: float
    variance_guard: float
    structure_rows: float
    random_strength: float
    random_decay: float
    monotone: tuple[int, ...]
    interactions: tuple[tuple[int, ...], ...]
    min_leaf_weight: float
    column_share: float

    @classmethod
    def of(
        cls, spec: MemberSpec, objective: Objective, steps: StepSizes, encoding: Encoding | None = None
    ) -> "ChainRecipe":
        """Return the recipe of a member, given its loss, its step sizes and the encoding of its columns."""
        constraints = encoded_constraints(spec.constraints, encoding)
        return cls(
            objective=objective.code,
            start=tuple(float(value) for value in objective.start),
            trees=spec.n_estimators,
            depth=_UNBOUNDED if spec.max_depth is None else spec.max_depth,
            leaves=spec.max_leaves or 0,
            learning_rate=steps.rate,
            l2=steps.l2,
            shrink=steps.shrink,
            noise=steps.noise,
            subsample=spec.subsample,
            variance_guard=spec.variance_guard * (LEAVE_ONE_OUT_FACTOR if spec.max_leaves else SYMMETRIC_TREES_FACTOR),
            structure_rows=float(split_rows(spec, len(objective.start)) or 0),
            random_strength=spec.random_strength,
            random_decay=spec.learning_rate,
            monotone=constraints.monotone,
            interactions=constraints.groups,
            min_leaf_weight=float(spec.min_samples_leaf) if spec.min_samples_leaf > 1 else 0.0,
            column_share=spec.max_features,
        )

    def to_native(self) -> NativeRecipe:
        """Return the recipe as an object of the native core in use."""
        return native().ChainRecipe(**asdict(self))


class Trees(NamedTuple):
    """Trees of some members.

    Attributes
    ----------
    feature, threshold : arrays of shape (members, trees, splits)
    parent : array of shape (members, trees, splits)
        The leaf that each split of a leaf-wise tree divides; no columns for symmetric trees.
    leaf : array of shape (members, trees, leaves, outputs)
    n_trees : array of shape (members,)
        Number of trees grown.
    losses : array of shape (members, trees)
        Losses on the evaluation rows; no columns if they are not measured.
    """

    feature: AnyArray
    threshold: AnyArray
    parent: AnyArray
    leaf: AnyArray
    n_trees: AnyArray
    losses: Floats


@dataclass(frozen=True, slots=True)
class ChainTable:
    """Chains to train on the same rows, as plain arrays.

    Attributes
    ----------
    tables : tuple of arrays of shape (n, columns)
        Bins, for each random order of the rows; member m uses order m modulo their number.
    y, weight : float32 arrays of shape (n,)
        Targets in the units of the score, and weights.
    counts : array of shape (columns,)
        Number of bins per column.
    evaluation : (bins, y, weight) or None
        Evaluation rows.
    recipe : ChainRecipe
    seeds : array of shape (chains,)
    bootstrap : bool
        Whether each chain is trained on a bootstrap sample of the rows.
    objective : Objective
        Of which scores are parameters.
    given : (feature, threshold, parent, leaf) or None
        Trees with which the chains begin, see `Trees`.
    """

    tables: tuple[Bytes, ...]
    y: AnyArray
    weight: AnyArray
    counts: AnyArray
    evaluation: tuple[Bytes, AnyArray, AnyArray] | None
    recipe: ChainRecipe
    seeds: AnyArray
    bootstrap: bool
    objective: Objective
    given: tuple[AnyArray, AnyArray, Bytes, Floats32] | None = None

    def samples(self) -> list[Sample]:
        """Return the rows of each order, or the bootstrap sample of each chain, as objects of the native core."""
        if not self.bootstrap:
            return [_sample(table, self.y, self.weight, self.counts) for table in self.tables]
        return [self._bootstrap_sample(chain, int(seed)) for chain, seed in enumerate(self.seeds)]

    def _bootstrap_sample(self, chain: int, seed: int) -> Sample:
        keys = np.arange(len(self.y), dtype=np.uint32)
        weight = bootstrap_weight(self.weight.astype(np.float64), keys, seed)
        rows = np.flatnonzero(weight)
        if not rows.size:  # a table of very few rows
            return _sample(self.tables[chain % len(self.tables)], self.y, self.weight, self.counts)
        table = self.tables[chain % len(self.tables)][rows]
        return native().Sample(table, self.y[rows], weight[rows].astype(np.float32), keys[rows], self.counts)

    def evaluation_samples(self) -> list[Sample]:
        """Return the evaluation rows as an object of the native core; none or one."""
        return [] if self.evaluation is None else [_sample(*self.evaluation, self.counts)]

    def of_chain(self, chain: int) -> "ChainTable":
        """Return the table of one of the chains."""
        table = self.tables[chain % len(self.tables)]
        own = slice(chain, chain + 1)
        if self.given is None:
            return replace(self, tables=(table,), seeds=self.seeds[own])
        feature, threshold, parent, leaf = self.given
        given = (feature[own], threshold[own], parent[own], leaf[own])
        return replace(self, tables=(table,), seeds=self.seeds[own], given=given)


def chain_table(
    rows: BinnedRows, evaluation: tuple[AnyArray, Floats, Floats] | None, specs: Sequence[MemberSpec], steps: StepSizes
) -> ChainTable:
    """Return the training data of chains, in single precision; their specs differ in the seeds only."""
    held_out = None
    if evaluation is not None:
        held_out = (evaluation[0], evaluation[1].astype(np.float32), evaluation[2].astype(np.float32))
    y, weight = rows.objective.encode(rows.y).astype(np.float32), rows.weight.astype(np.float32)
    recipe = ChainRecipe.of(specs[0], rows.objective, steps, rows.encoding)
    seeds = np.array([spec.seed for spec in specs], dtype=np.uint64)
    bootstrap, objective = specs[0].bootstrap, rows.objective
    return ChainTable(tuple(rows.tables), y, weight, rows.bins.counts, held_out, recipe, seeds, bootstrap, objective)


def train_here(tables: list[ChainTable], threads: int, progress: Progress, rounds: Rounds | None = None) -> list[Trees]:
    """Train the chains of all tables side by side with threads of this machine; the list is emptied.

    The caller should hold no other reference to the tables: with large ones each copy counts. The loss after each tree
    is measured if the first table has evaluation rows.
    """
    sizes = [len(table.seeds) for table in tables]
    total = sum(len(table.seeds) * table.recipe.trees for table in tables)
    has_losses = tables[0].evaluation is not None
    round_done = None if rounds is None else _round_callback(rounds, sizes, [table.objective for table in tables])
    given = tables[0].given  # of the only table, if there is any
    problems = [_problem(tables.pop(0)) for _ in sizes]
    together = native().train(
        *zip(*problems, strict=True),
        threads=threads,
        progress=lambda done: progress(done, total),
        losses=has_losses,
        round_trees=problems[0][2].trees if rounds is None else rounds.trees,
        round_done=round_done,
        given=given,
    )
    progress(total, total)
    ends = np.cumsum(sizes)[:-1]
    return [Trees(*parts) for parts in zip(*(np.split(array, ends) for array in together), strict=True)]


def _round_callback(
    rounds: Rounds, sizes: Sequence[int], objectives: Sequence[Objective]
) -> Callable[[int, list[tuple[int, AnyArray]]], bool]:
    """Return the callback of the native core, which is given the scores of the evaluation rows of single chains."""
    table_of = np.repeat(np.arange(len(sizes)), sizes)

    def go_on(n_trees: int, evaluated: list[tuple[int, AnyArray]]) -> bool:
        predicted: list[list[Floats]] = [[] for _ in sizes]
        for chain, scores in evaluated:
            table = int(table_of[chain])
            predicted[table].append(objectives[table].parameters(scores.astype(np.float64)))
        return not rounds.done(n_trees, [np.stack(chains) if chains else None for chains in predicted])

    return go_on


def train_on_cluster(tables: list[ChainTable], progress: Progress) -> list[Trees]:
    """Train each chain on a worker of the active cluster; the bits are those of `train_here`."""
    total = sum(len(table.seeds) * table.recipe.trees for table in tables)
    done_before, trained = 0, []
    for table in tables:
        n_chains, trees = len(table.seeds), table.recipe.trees

        def report(done: int, before: int = done_before, trees: int = trees) -> None:
            progress(before + done * trees, total)

        parts = fan_out(_train_chain, table, range(n_chains), report)
        trained.append(Trees(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True))))
        done_before += n_chains * trees
    return trained


def forest_of(
    trees: Trees,
    bins: Bins,
    objective: Objective,
    steps: StepSizes,
    *,
    n_jobs: int | str | None,
    encoding: Encoding | None = None,
) -> NativeForest:
    """Return the forest of trained trees, without those that no member uses."""
    n_used = int(trees.n_trees.max())
    return NativeForest(
        bins=bins,
        objective=objective,
        feature=np.ascontiguousarray(trees.feature[:, :n_used]),
        threshold=np.ascontiguousarray(trees.threshold[:, :n_used]),
        parent=np.ascontiguousarray(trees.parent[:, :n_used]),
        leaf=np.ascontiguousarray(trees.leaf[:, :n_used]),
        count=trees.n_trees,
        decay=steps.decay,
        evaluation=trees.losses + np.log(objective.units[1]),
        n_jobs=n_jobs,
        encoding=encoding,
    )


def _sample(codes: AnyArray, y: AnyArray, weight: AnyArray, counts: AnyArray) -> Sample:
    keys = np.arange(len(y), dtype=np.uint32)
    return native().Sample(np.ascontiguousarray(codes), y, weight, keys, counts)


def _problem(table: ChainTable) -> tuple[list[Sample], list[Sample], NativeRecipe, AnyArray]:
    """Return samples, evaluation rows, recipe and seeds as objects of the native core."""
    return table.samples(), table.evaluation_samples(), table.recipe.to_native(), table.seeds


def _train_chain(table: ChainTable, chain: int, *, threads: int) -> Trees:
    """Train one chain on a worker."""
    return train_here([table.of_chain(chain)], threads, no_progress)[0]
