"""SGLB by XGBoost's distributed training: rows stay on the workers that hold them.

XGBoost shows an objective the rows of one worker, in an unknown order. Each row therefore carries its number in the
whole table, in two fields that our objectives do not use otherwise: the lower and upper bound of a label, with 16 bits
each, which single precision holds exactly. The noise of a row is then the same function of seed, tree, row and output
as everywhere.

The trees have the same bits for any partitioning of the table and any placement of the partitions. Values are
replaced by one representative per bin, so few that XGBoost's sketch of them is exact on any worker, and gradients are
rounded to a grid, so that their sums are exact in any order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from epiboost._boosting.gradient_grid import GridObjective
from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.objectives import Objective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import LearningRows
from epiboost._boosting.step_sizes import StepSizes
from epiboost._boosting.variance_guard import with_variance_guard
from epiboost._optional import require
from epiboost._progress import Progress
from epiboost._typing import AnyArray, Floats, LibraryObject
from epiboost.distributed.rows import PartitionedRows
from epiboost.engines.xgboost.leaves import distributed_leaf_sums
from epiboost.engines.xgboost.workers import WorkerGroup, row_numbers


@dataclass(frozen=True, slots=True)
class DistributedObjective:
    """The gradients of one chain for the rows of the worker that calls it.

    A worker calls it once per tree with its matrix; the objective of a matrix is kept between calls.
    """

    objective: Objective
    steps: StepSizes
    spec: MemberSpec
    _per_matrix: dict[int, list[Any]] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, raw: AnyArray, matrix: LibraryObject) -> tuple[Floats, Floats]:
        """Return gradients and hessians at the library's score, shape (n, outputs)."""
        if id(matrix) not in self._per_matrix:
            chain = GridObjective(LangevinObjective(self._rows(matrix), self.steps, self.spec), _max_over_workers)
            # the matrix is kept, so that no other object can have its id
            self._per_matrix[id(matrix)] = [matrix, with_variance_guard(chain, distributed_leaf_sums), 0]
        state = self._per_matrix[id(matrix)]
        _, objective, tree = state
        state[2] = tree + 1
        gradient, hessian = objective.gradients(raw, tree)
        return gradient, hessian

    def _rows(self, matrix: LibraryObject) -> LearningRows:
        y = matrix.get_label().reshape(matrix.num_row(), -1)[:, 0].astype(np.float64)
        return LearningRows(
            X=np.empty((len(y), 0)),
            y=y,
            weight=matrix.get_weight().astype(np.float64),
            keys=row_numbers(matrix),
            objective=self.objective,
            n_codes=(),
            evaluation=None,
        )


def train_partitioned(
    rows: PartitionedRows,
    specs: Sequence[MemberSpec],
    steps: StepSizes,
    settings: Mapping[str, Any],
    progress: Progress,
) -> list[LibraryObject]:
    """Train one booster per spec, one after the other, each on all workers."""
    trees = specs[0].n_estimators
    boosters: list[LibraryObject] = []
    with WorkerGroup.holding(rows, specs[0].max_bins) as workers:
        for spec in specs:
            objective = DistributedObjective(rows.objective, steps, spec)
            boosters.append(workers.train({**settings, "seed": spec.seed % 2**31}, objective, trees))
            progress(len(boosters) * trees, len(specs) * trees)
    return boosters


def _max_over_workers(largest: Floats) -> Floats:
    collective = require("xgboost.collective", extra="xgboost", purpose="engine='xgboost' on a Dask collection")
    return np.asarray(collective.allreduce(largest, collective.Op.MAX))
