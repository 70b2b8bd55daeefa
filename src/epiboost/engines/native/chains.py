"""Chains of the native core: what they are trained on, and what they become.

A chain is a pure function of a binned table, a recipe and a seed.
"""

from collections.abc import Iterator, Sequence
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
from epiboost._typing import AnyArray, Bytes, Floats, Floats32
from epiboost.engines.native.encoded_constraints import encoded_constraints
from epiboost.engines.native.forest import NativeForest
from epiboost.engines.native.rows import BinnedRows
from epiboost.engines.native.split_rows import split_rows

_UNBOUNDED = 255  # levels: a leaf-wise tree has at most 255 leaves, so none is deeper
_MAX_ENCODED = 1e18  # its square is finite in single precision; rows beyond it weigh next to nothing


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
    constants : tuple of float
        Numbers of the family that are the same for all rows.
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
    constants: tuple[float, ...]
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
            constants=tuple(objective.constants),
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


class SampleArrays(NamedTuple):
    """Rows that a chain is trained on, as plain arrays; see `ChainTable`.

    Attributes
    ----------
    bins : array of shape (n, columns)
    y, weight : float32 arrays of shape (n,)
    keys : uint32 array of shape (n,)
        Keys of the rows in the noise function.
    offset : float32 array of shape (n, outputs) or None
    """

    bins: Bytes
    y: AnyArray
    weight: AnyArray
    keys: AnyArray
    offset: Floats32 | None


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
    evaluation : (bins, y, weight, offset) or None
        Evaluation rows.
    recipe : ChainRecipe
    seeds : array of shape (chains,)
    bootstrap : bool
        Whether each chain is trained on a bootstrap sample of the rows.
    objective : Objective
        Of which scores are parameters.
    given : (feature, threshold, parent, leaf) or None
        Trees with which the chains begin, see `Trees`.
    offset : float32 array of shape (n, outputs) or None
        A known part of the scores.
    """

    tables: tuple[Bytes, ...]
    y: AnyArray
    weight: AnyArray
    counts: AnyArray
    evaluation: tuple[Bytes, AnyArray, AnyArray, Floats32 | None] | None
    recipe: ChainRecipe
    seeds: AnyArray
    bootstrap: bool
    objective: Objective
    given: tuple[AnyArray, AnyArray, Bytes, Floats32] | None = None
    offset: Floats32 | None = None

    def samples(self) -> list[Sample]:
        """Return the rows of each order, or the bootstrap sample of each chain, as objects of the native core."""
        return [_sample(arrays, self.counts) for arrays in self.sample_arrays()]

    def sample_arrays(self) -> Iterator[SampleArrays]:
        """Yield the rows of each order, or the bootstrap sample of each chain.

        Chain m is trained on sample m modulo their number.
        """
        keys = np.arange(len(self.y), dtype=np.uint32)
        whole = (SampleArrays(table, self.y, self.weight, keys, self.offset) for table in self.tables)
        if not self.bootstrap:
            yield from whole
            return
        for chain, seed in enumerate(self.seeds):
            weight = bootstrap_weight(self.weight.astype(np.float64), keys, int(seed))
            rows = np.flatnonzero(weight)
            table = self.tables[chain % len(self.tables)]
            if not rows.size:  # a table of very few rows
                yield SampleArrays(table, self.y, self.weight, keys, self.offset)
                continue
            offset = None if self.offset is None else self.offset[rows]
            yield SampleArrays(table[rows], self.y[rows], weight[rows].astype(np.float32), keys[rows], offset)

    def evaluation_samples(self) -> list[Sample]:
        """Return the evaluation rows as an object of the native core; none or one."""
        arrays = self.evaluation_arrays()
        return [] if arrays is None else [_sample(arrays, self.counts)]

    def evaluation_arrays(self) -> SampleArrays | None:
        """Return the evaluation rows, if there are any."""
        if self.evaluation is None:
            return None
        bins, y, weight, offset = self.evaluation
        return SampleArrays(bins, y, weight, np.arange(len(y), dtype=np.uint32), offset)

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
    rows: BinnedRows,
    evaluation: tuple[AnyArray, Floats, Floats, Floats | None] | None,
    specs: Sequence[MemberSpec],
    steps: StepSizes,
) -> ChainTable:
    """Return the training data of chains, in single precision; their specs differ in the seeds only."""
    held_out = None
    if evaluation is not None:
        codes, target, weights, offset = evaluation
        held_out = (codes, target.astype(np.float32), weights.astype(np.float32), _scores(offset))
    encoded = np.clip(rows.objective.encode(rows.y), -_MAX_ENCODED, _MAX_ENCODED)
    y, weight = encoded.astype(np.float32), rows.weight.astype(np.float32)
    recipe = ChainRecipe.of(specs[0], rows.objective, steps, rows.encoding)
    seeds = np.array([spec.seed for spec in specs], dtype=np.uint64)
    return ChainTable(
        tables=tuple(rows.tables),
        y=y,
        weight=weight,
        counts=rows.bins.counts,
        evaluation=held_out,
        recipe=recipe,
        seeds=seeds,
        bootstrap=specs[0].bootstrap,
        objective=rows.objective,
        offset=_scores(rows.offset),
    )


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


def _scores(offset: Floats | None) -> Floats32 | None:
    """Return offsets in single precision, shape (n, outputs)."""
    return None if offset is None else np.ascontiguousarray(offset.reshape(len(offset), -1), dtype=np.float32)


def _sample(arrays: SampleArrays, counts: AnyArray) -> Sample:
    bins = np.ascontiguousarray(arrays.bins)
    return native().Sample(bins, arrays.y, arrays.weight, arrays.keys, counts, arrays.offset)
