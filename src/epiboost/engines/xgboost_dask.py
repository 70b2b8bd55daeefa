"""SGLB by XGBoost's own distributed training: rows stay on the workers that hold them.

XGBoost shows an objective the rows of one worker, in an order of its own. So each row carries its number in the whole
table, in two fields that no objective of ours reads otherwise (the bounds of a label, 16 bits each, which single
precision holds exactly), and its noise is the function of seed, tree, row and output that it is everywhere. How the
table is cut, and which worker has which partition, does not change it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from epiboost._optional import require
from epiboost._typing import AnyArray, Floats
from epiboost.distributed.members import CANCELLED, current_client, scheduler_gone
from epiboost.distributed.rows import PartitionedRows, RowPart
from epiboost.engines.guard import gradients_of
from epiboost.engines.langevin import LangevinObjective
from epiboost.engines.rows import Rows
from epiboost.engines.steps import Steps
from epiboost.engines.xgboost_leaves import totals_of_workers
from epiboost.members import MemberSpec
from epiboost.objectives import Objective
from epiboost.progress import Progress

LARGEST = float(np.finfo(np.float32).max)
"""XGBoost keeps single precision: a number beyond it is the largest."""

_HALF = 1 << 16
_ATTEMPTS = 3  # at a member whose workers were lost


@dataclass(frozen=True, slots=True)
class DistributedObjective:
    """The gradients of one chain for whatever rows a worker has.

    A worker calls it once a tree, with its own rows; what was read off them is kept between calls.
    """

    objective: Objective
    steps: Steps
    spec: MemberSpec
    total: float
    _chains: dict[int, list[Any]] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, raw: AnyArray, matrix: Any) -> tuple[Floats, Floats]:  # noqa: ANN401 (a DMatrix)
        """Return gradients and hessians at the library's score, shape (n, outputs)."""
        if id(matrix) not in self._chains:
            chain = LangevinObjective(self._rows(matrix), self.steps, self.spec)
            self._chains[id(matrix)] = [gradients_of(chain, totals_of_workers), 0]
        known = self._chains[id(matrix)]
        chain, tree = known
        known[1] = tree + 1
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


def row_numbers(matrix: Any) -> AnyArray:  # noqa: ANN401 (a DMatrix)
    """Return the numbers in the whole table of a worker's rows."""
    low, high = (matrix.get_float_info(name).astype(np.uint32) for name in ("label_lower_bound", "label_upper_bound"))
    numbers: AnyArray = low + high * np.uint32(_HALF)
    return numbers


def train_partitioned(
    rows: PartitionedRows, specs: Sequence[MemberSpec], steps: Steps, settings: Mapping[str, Any], progress: Progress
) -> list[Any]:
    """Train one booster a spec, one after the other, each on all workers."""
    crew = _Crew(rows, specs[0].max_bins)
    trees = specs[0].n_estimators
    boosters: list[Any] = []
    for spec in specs:
        objective = DistributedObjective(rows.objective, steps, spec, rows.total)
        boosters.append(crew.train({**settings, "seed": spec.seed % 2**31}, objective, trees))
        progress(len(boosters) * trees, len(specs) * trees)
    return boosters


class _Crew:
    """The workers of the cluster that is in use, with their rows in bins."""

    def __init__(self, rows: PartitionedRows, max_bins: int) -> None:
        self.library = require("xgboost.dask", extra="xgboost", purpose="engine='xgboost' on a Dask collection")
        self.client = current_client()
        self.rows, self.max_bins = rows, max_bins
        try:
            self.matrix = self._matrix()
        except CANCELLED as error:
            raise scheduler_gone() from error

    def train(self, settings: Mapping[str, Any], objective: DistributedObjective, trees: int) -> Any:  # noqa: ANN401 (a Booster)
        """Train one booster; if workers are lost meanwhile, begin it anew with those that are left."""
        for attempt in range(_ATTEMPTS):
            try:
                trained = self.library.train(
                    self.client, dict(settings), self.matrix, num_boost_round=trees, obj=objective
                )
            except Exception as error:
                if self.client.status != "running":
                    raise scheduler_gone() from error
                if attempt + 1 == _ATTEMPTS or not self._lost_workers():
                    raise
                self.matrix = self._matrix()
            else:
                return trained["booster"]
        raise AssertionError  # the last attempt returns or raises

    def _lost_workers(self) -> bool:
        return not set(self.matrix.worker_map) <= set(self.client.nthreads())

    def _matrix(self) -> Any:  # noqa: ANN401 (a DaskQuantileDMatrix)
        arrays = require("dask.array", extra="dask", purpose="engine='xgboost' on a Dask collection")
        outputs = len(self.rows.objective.start)

        def whole(name: str, *width: int) -> Any:  # noqa: ANN401 (a dask.array.Array)
            delayed = require("dask", extra="dask", purpose="engine='xgboost' on a Dask collection").delayed
            fields = [delayed(_field, pure=True)(part, name, outputs) for part in self.rows.parts]
            sizes = self.rows.lengths
            return arrays.concatenate(
                [
                    arrays.from_delayed(one, (size, *width), dtype=np.float32)
                    for one, size in zip(fields, sizes, strict=True)
                    if size
                ]
            )

        return self.library.DaskQuantileDMatrix(
            self.client,
            whole("X", self.rows.n_features),
            whole("label", outputs),
            weight=whole("weight"),
            label_lower_bound=whole("low"),
            label_upper_bound=whole("high"),
            max_bin=self.max_bins,
        )


def _field(part: RowPart, name: str, outputs: int) -> AnyArray:
    """Return what XGBoost gets of a partition."""
    if name == "X":
        return np.clip(part.X, -LARGEST, LARGEST).astype(np.float32)
    if name == "label":
        return np.tile(part.y[:, np.newaxis], outputs).astype(np.float32)
    if name == "weight":
        return part.weight.astype(np.float32)
    return (part.keys % _HALF if name == "low" else part.keys // _HALF).astype(np.float32)
