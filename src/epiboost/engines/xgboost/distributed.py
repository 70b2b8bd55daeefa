"""SGLB by XGBoost's own distributed training: rows stay on the workers that hold them.

XGBoost shows an objective the rows of one worker, in an order of its own. So each row carries its number in the whole
table, in two fields that no objective of ours reads otherwise (the bounds of a label, 16 bits each, which single
precision holds exactly), and its noise is the function of seed, tree, row and output that it is everywhere.

The trees are the same to the last bit, however the table is cut and wherever its partitions are: values come as
stand-ins of bins, so few that XGBoost's own sketch of them is exact on any worker, and gradients come on a grid, so
that their sums are exact in any order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from epiboost._boosting.gradient_grid import GridObjective
from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.objectives import Objective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import Rows
from epiboost._boosting.step_sizes import Steps
from epiboost._boosting.variance_guard import gradients_of
from epiboost._optional import require
from epiboost._progress import Progress
from epiboost._typing import AnyArray, Floats
from epiboost.distributed.rows import PartitionedRows
from epiboost.engines.xgboost.leaves import totals_of_workers
from epiboost.engines.xgboost.workers import Crew, row_numbers


@dataclass(frozen=True, slots=True)
class DistributedObjective:
    """The gradients of one chain for whatever rows a worker has.

    A worker calls it once a tree, with its own rows; what was read off them is kept between calls.
    """

    objective: Objective
    steps: Steps
    spec: MemberSpec
    _chains: dict[int, list[Any]] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, raw: AnyArray, matrix: Any) -> tuple[Floats, Floats]:  # noqa: ANN401 (a DMatrix)
        """Return gradients and hessians at the library's score, shape (n, outputs)."""
        if id(matrix) not in self._chains:
            chain = GridObjective(LangevinObjective(self._rows(matrix), self.steps, self.spec), _of_all_workers)
            # the matrix is kept, so that no other can have its identity
            self._chains[id(matrix)] = [matrix, gradients_of(chain, totals_of_workers), 0]
        known = self._chains[id(matrix)]
        _, chain, tree = known
        known[2] = tree + 1
        gradient, hessian = chain.gradients(raw, tree)
        return gradient, hessian

    def _rows(self, matrix: Any) -> Rows:  # noqa: ANN401 (a DMatrix)
        y = matrix.get_label().reshape(matrix.num_row(), -1)[:, 0].astype(np.float64)
        return Rows(
            X=np.empty((len(y), 0)),
            y=y,
            weight=matrix.get_weight().astype(np.float64),
            keys=row_numbers(matrix),
            objective=self.objective,
            sizes=(),
            evaluation=None,
        )


def train_partitioned(
    rows: PartitionedRows, specs: Sequence[MemberSpec], steps: Steps, settings: Mapping[str, Any], progress: Progress
) -> list[Any]:
    """Train one booster a spec, one after the other, each on all workers."""
    trees = specs[0].n_estimators
    boosters: list[Any] = []
    with Crew.of(rows, specs[0].max_bins) as crew:
        for spec in specs:
            objective = DistributedObjective(rows.objective, steps, spec)
            boosters.append(crew.train({**settings, "seed": spec.seed % 2**31}, objective, trees))
            progress(len(boosters) * trees, len(specs) * trees)
    return boosters


def _of_all_workers(largest: Floats) -> Floats:
    network = require("xgboost.collective", extra="xgboost", purpose="engine='xgboost' on a Dask collection")
    return np.asarray(network.allreduce(largest, network.Op.MAX))
