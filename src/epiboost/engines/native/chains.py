"""Chains of the native core: what they are trained on, and what they become.

A chain is a pure function of a binned table, a recipe and a seed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._boosting.bootstrap import bootstrap_weight
from epiboost._boosting.objectives import Objective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.step_sizes import StepSizes
from epiboost._encoding.encoding import Encoding
from epiboost._native import Sample, native
from epiboost._typing import AnyArray, Bytes, Floats, Floats32
from epiboost.engines.native.chain_recipe import ChainRecipe
from epiboost.engines.native.forest import NativeForest
from epiboost.engines.native.rows import BinnedRows

_MAX_ENCODED = 1e18  # its square is finite in single precision; rows beyond it weigh next to nothing


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
        Losses on the evaluation rows, in the units of the target; no columns if they are not measured.
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
    y : float32 array of shape (n,), or (n, 2) of bounds
        Targets in the units of the score.
    weight : float32 array of shape (n,)
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

    def loss_shift(self) -> float:
        """Return what is added to the losses that the core measures on the evaluation rows."""
        if self.evaluation is None:
            return 0.0
        _, y, weight, _ = self.evaluation
        return self.objective.loss_shift(y.astype(np.float64), weight.astype(np.float64))

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
        held_out = (codes, _single(target), weights.astype(np.float32), _scores(offset))
    y, weight = _single(rows.objective.encode(rows.y)), rows.weight.astype(np.float32)
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
        evaluation=trees.losses,
        n_jobs=n_jobs,
        encoding=encoding,
    )


def _single(encoded: Floats) -> Floats32:
    """Return targets in single precision; what is infinite, or nearly so, becomes finite."""
    return np.clip(encoded, -_MAX_ENCODED, _MAX_ENCODED).astype(np.float32)


def _scores(offset: Floats | None) -> Floats32 | None:
    """Return offsets in single precision, shape (n, outputs)."""
    return None if offset is None else np.ascontiguousarray(offset.reshape(len(offset), -1), dtype=np.float32)


def _sample(arrays: SampleArrays, counts: AnyArray) -> Sample:
    bins, y = np.ascontiguousarray(arrays.bins), _by_column(arrays.y)
    return native().Sample(bins, y, arrays.weight, arrays.keys, counts, arrays.offset)


def _by_column(y: AnyArray) -> AnyArray:
    """Return targets as the native core takes them: all first numbers of the rows, then all second ones."""
    return np.ascontiguousarray(y.T).ravel()
