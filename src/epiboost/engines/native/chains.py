"""Chains of the native core: pure functions of a binned table, a recipe and a seed, trained here or on a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from epiboost._boosting.objectives import Objective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.step_sizes import step_sizes
from epiboost._native import native
from epiboost._progress import Progress
from epiboost._typing import AnyArray, Bytes, Floats
from epiboost.distributed.members import fan_out
from epiboost.engines.native.rows import BinnedRows

Trees: TypeAlias = tuple[AnyArray, ...]
"""feature, threshold, leaf, count and losses: arrays whose first axis is of members."""


@dataclass(frozen=True, slots=True)
class ChainTable:
    """What the chains of a fit learn from, as plain arrays.

    Attributes
    ----------
    tables : tuple of arrays of shape (n, columns)
        Bins, for each random order of the rows; member m learns from order m modulo their number.
    y, weight : float32 arrays of shape (n,)
        Targets in the units of the score.
    counts : array of shape (columns,)
        How many bins each column has.
    evaluation : (bins, y, weight) or None
        Rows that are watched.
    options : dict
        The recipe of the native core (problem.hpp).
    """

    tables: tuple[Bytes, ...]
    y: AnyArray
    weight: AnyArray
    counts: AnyArray
    evaluation: tuple[Bytes, AnyArray, AnyArray] | None
    options: Mapping[str, Any]

    def samples(self) -> list[Any]:
        """Return each order's rows as the native core takes them."""
        return [_sample(table, self.y, self.weight, self.counts) for table in self.tables]

    def watched(self) -> Any:  # noqa: ANN401 (a class of the native module)
        """Return the rows that are watched as the native core takes them, or None."""
        return None if self.evaluation is None else _sample(*self.evaluation, self.counts)


def chain_table(
    rows: BinnedRows, evaluation: tuple[AnyArray, Floats, Floats] | None, options: Mapping[str, Any]
) -> ChainTable:
    """Return the arrays that chains learn from."""
    watched = None
    if evaluation is not None:
        watched = (evaluation[0], evaluation[1].astype(np.float32), evaluation[2].astype(np.float32))
    y, weight = rows.objective.encode(rows.y).astype(np.float32), rows.weight.astype(np.float32)
    return ChainTable(tuple(rows.tables), y, weight, rows.bins.counts, watched, options)


def train_here(table: ChainTable, seeds: AnyArray, threads: int, progress: Progress) -> Trees:
    """Train one chain a seed on the threads of this machine."""
    samples, watched, options = table.samples(), table.watched(), table.options
    del table  # of a large table every copy counts
    total = len(seeds) * options["trees"]
    trees: Trees = native().train(samples, watched, seeds, options, threads, lambda done: progress(done, total))
    progress(total, total)
    return trees


def train_on_cluster(table: ChainTable, seeds: AnyArray, progress: Progress) -> Trees:
    """Train one chain a seed on the workers of the cluster that is in use; the same bits as those of `train_here`."""
    trees = table.options["trees"]
    members = list(enumerate(seeds.tolist()))
    parts = fan_out(_member, table, members, lambda done: progress(done * trees, len(members) * trees))
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def options_of(spec: MemberSpec, objective: Objective, n: float) -> dict[str, Any]:
    """Return the recipe of the native core (problem.hpp) for a table of weight n."""
    steps = step_sizes(spec, objective, n)
    return {
        "objective": objective.code,
        "outputs": len(objective.start),
        "start": [float(value) for value in objective.start],
        "trees": spec.n_estimators,
        "depth": spec.max_depth,
        "learning_rate": steps.rate,
        "l2": steps.l2,
        "shrink": steps.shrink,
        "noise": steps.noise,
        "subsample": spec.subsample,
        "variance_guard": steps.variance_l2,
        "structure_rows": float(spec.structure_rows or 0),
        "patience": spec.patience or 0,
    }


def _sample(codes: AnyArray, y: AnyArray, weight: AnyArray, counts: AnyArray) -> Any:  # noqa: ANN401 (a native class)
    keys = np.arange(len(y), dtype=np.uint32)
    return native().Sample(np.ascontiguousarray(codes), y, weight, keys, counts)


def _member(table: ChainTable, member: tuple[int, int], *, threads: int) -> Trees:
    """Train one chain: the work of a worker."""
    number, seed = member
    codes = table.tables[number % len(table.tables)]
    sample = _sample(codes, table.y, table.weight, table.counts)
    seeds = np.array([seed], dtype=np.uint64)
    trees: Trees = native().train([sample], table.watched(), seeds, table.options, threads, lambda _done: None)
    return trees
