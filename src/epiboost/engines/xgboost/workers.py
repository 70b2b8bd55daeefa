"""The workers of a Dask cluster that train XGBoost together, and the rows that each of them holds."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from epiboost._optional import require
from epiboost._typing import AnyArray, LibraryObject
from epiboost.distributed.checked_partition import TrainingPartition
from epiboost.distributed.cluster import assign_workers, cluster_in_use, scheduler_is_lost, scheduler_lost_error
from epiboost.distributed.partitions import persist_partitions
from epiboost.distributed.rows import PartitionedRows

_HALF = 1 << 16
_ATTEMPTS = 3  # to train a booster when workers are lost
_DETECTION_SECONDS = 5.0  # within which a scheduler detects that a worker is lost
_PURPOSE = "engine='xgboost' on a Dask collection"


class WorkerGroup:
    """The workers of the current cluster, with their rows as XGBoost takes them.

    Attributes
    ----------
    parts : list of Future
        The fields of each partition. If a worker is lost, Dask computes its partitions again.
    sizes : list of int
        Number of rows of each partition.
    matrix : DaskQuantileDMatrix or None
        Maps workers to partitions; None if it must be built.
    """

    def __init__(
        self, client: LibraryObject, parts: Sequence[Any], sizes: Sequence[int], max_bins: int, columns: int
    ) -> None:
        self.library = require("xgboost.dask", extra="xgboost", purpose=_PURPOSE)
        self.client, self.parts, self.sizes = client, parts, sizes
        self.max_bins, self.columns = max_bins, columns
        self.matrix: LibraryObject = None

    @classmethod
    @contextmanager
    def holding(cls, rows: PartitionedRows, max_bins: int) -> Iterator["WorkerGroup"]:
        """Place the rows on the workers, about the same number on each, and release them at the end."""
        dask = require("dask", extra="dask", purpose=_PURPOSE)
        with cluster_in_use() as client:
            fields, outputs = dask.delayed(fields_of, pure=False), len(rows.objective.start)
            chosen = [(part, size) for part, size in zip(rows.parts, rows.lengths, strict=True) if size]
            sizes = [size for _, size in chosen]
            futures = client.futures_of(
                persist_partitions([fields(part, outputs) for part, _ in chosen], sizes, client)
            )
            for future in client.futures_of(list(rows.checked)):
                future.release()  # not needed any more
            try:
                yield cls(client, futures, sizes, max_bins, rows.n_features)
            finally:
                for future in futures:
                    future.release()

    def train(self, settings: Mapping[str, Any], objective: Callable[..., Any], trees: int) -> LibraryObject:
        """Train one booster; if workers are lost meanwhile, start again with the remaining ones."""
        for attempt in range(_ATTEMPTS):
            try:
                self.matrix = self.matrix or self._matrix()
                return self.library.train(
                    self.client, dict(settings), self.matrix, num_boost_round=trees, obj=objective
                )["booster"]
            except Exception as error:
                if scheduler_is_lost(self.client, error):
                    raise scheduler_lost_error() from error
                if attempt + 1 == _ATTEMPTS or not self._lost_workers():
                    raise
                self.matrix = None
        raise AssertionError  # the last attempt returns or raises

    def _lost_workers(self) -> bool:
        """Return whether a worker with rows is lost, which the scheduler may detect a little later than we do."""
        workers = set(self.matrix.worker_map) if self.matrix is not None else set()
        begin = time.monotonic()
        while workers <= set(self.client.nthreads()):
            if time.monotonic() - begin > _DETECTION_SECONDS:
                return False
            time.sleep(_DETECTION_SECONDS / 50)
        return True

    def _matrix(self) -> LibraryObject:
        """Return a DaskQuantileDMatrix whose partitions are on the workers that `assign_workers` assigns them to."""
        arrays = require("dask.array", extra="dask", purpose=_PURPOSE)
        distributed = require("distributed", extra="dask", purpose=_PURPOSE)
        distributed.wait(self.parts)
        for part in self.parts:
            if part.status != "finished":
                part.result()  # raises the error of the computation
        homes = assign_workers(self.sizes, sorted(self.client.nthreads()))
        for home in set(homes):
            self.client.replicate(
                [part for part, assigned in zip(self.parts, homes, strict=True) if assigned == home], workers=[home]
            )
        holders = self.client.who_has(self.parts)
        # XGBoost would use partitions where they are, even if all are on one worker; so it gets one row, then the map
        matrix = self.library.DaskQuantileDMatrix(
            self.client, arrays.zeros((1, self.columns), dtype=np.float32), max_bin=self.max_bins
        )
        matrix.worker_map = {}
        for part, home in zip(self.parts, homes, strict=True):
            holder = home if home in holders[part.key] else min(holders[part.key])
            matrix.worker_map.setdefault(holder, []).append(part)
        return matrix


def fields_of(part: TrainingPartition, outputs: int) -> dict[str, AnyArray]:
    """Return the fields of a partition that XGBoost is given."""
    return {
        "data": part.X,
        "label": np.tile(part.y[:, np.newaxis], outputs).astype(np.float32),
        "weight": part.weight.astype(np.float32),
        "label_lower_bound": (part.keys % _HALF).astype(np.float32),
        "label_upper_bound": (part.keys // _HALF).astype(np.float32),
    }


def row_numbers(matrix: LibraryObject) -> AnyArray:
    """Return the numbers in the whole table of the rows of a worker's matrix."""
    low, high = (matrix.get_float_info(name).astype(np.uint32) for name in ("label_lower_bound", "label_upper_bound"))
    numbers: AnyArray = low + high * np.uint32(_HALF)
    return numbers
