"""The workers of a cluster that train XGBoost together, and the rows that each of them has."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from epiboost._optional import require
from epiboost._typing import AnyArray
from epiboost.distributed.checked_partition import TrainingPartition
from epiboost.distributed.cluster import assign_workers, cluster_in_use, scheduler_is_lost, scheduler_lost_error
from epiboost.distributed.partitions import persist_partitions
from epiboost.distributed.rows import PartitionedRows

_HALF = 1 << 16
_ATTEMPTS = 3  # at a member whose workers were lost
_NOTICED = 5.0  # seconds in which a scheduler notices that a worker is lost
_PURPOSE = "engine='xgboost' on a Dask collection"


class Crew:
    """The workers of the cluster that is in use, with their rows as XGBoost takes them.

    Attributes
    ----------
    parts : list of Future
        The fields of each partition. Should a worker be lost, Dask makes those that it had anew.
    matrix : DaskQuantileDMatrix or None
        Which worker has which of them; None if that is not known, or not any more.
    """

    def __init__(self, client: Any, parts: Sequence[Any], sizes: Sequence[int], max_bins: int, columns: int) -> None:  # noqa: ANN401
        self.library = require("xgboost.dask", extra="xgboost", purpose=_PURPOSE)
        self.client, self.parts, self.sizes = client, parts, sizes
        self.max_bins, self.columns = max_bins, columns
        self.matrix: Any = None

    @classmethod
    @contextmanager
    def of(cls, rows: PartitionedRows, max_bins: int) -> Iterator["Crew"]:
        """Bring rows to the workers, about as many to each; errors of the cluster are our own."""
        dask = require("dask", extra="dask", purpose=_PURPOSE)
        with cluster_in_use() as client:
            fields, outputs = dask.delayed(fields_of, pure=False), len(rows.objective.start)
            chosen = [(part, size) for part, size in zip(rows.parts, rows.lengths, strict=True) if size]
            sizes = [size for _, size in chosen]
            futures = client.futures_of(
                persist_partitions([fields(part, outputs) for part, _ in chosen], sizes, client)
            )
            for future in client.futures_of(list(rows.checked)):
                future.release()  # what they are made of need not be kept
            try:
                yield cls(client, futures, sizes, max_bins, rows.n_features)
            finally:
                for future in futures:
                    future.release()

    def train(self, settings: Mapping[str, Any], objective: Callable[..., Any], trees: int) -> Any:  # noqa: ANN401 (a Booster)
        """Train one booster; if workers are lost meanwhile, begin it anew with those that are left."""
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
        """Tell whether a worker that had rows is gone, which may be known a little later than its effects."""
        had = set(self.matrix.worker_map) if self.matrix is not None else set()
        begun = time.monotonic()
        while had <= set(self.client.nthreads()):
            if time.monotonic() - begun > _NOTICED:
                return False
            time.sleep(_NOTICED / 50)
        return True

    def _matrix(self) -> Any:  # noqa: ANN401 (a DaskQuantileDMatrix)
        """Return the matrix whose parts are where they are, or rather where they were dealt to."""
        arrays = require("dask.array", extra="dask", purpose=_PURPOSE)
        distributed = require("distributed", extra="dask", purpose=_PURPOSE)
        distributed.wait(self.parts)
        for part in self.parts:
            if part.status != "finished":
                part.result()  # raises what has happened to it
        homes = assign_workers(self.sizes, sorted(self.client.nthreads()))
        for home in set(homes):
            self.client.replicate(
                [part for part, own in zip(self.parts, homes, strict=True) if own == home], workers=[home]
            )
        holders = self.client.who_has(self.parts)
        # XGBoost takes parts where it finds them, be it all on one worker; so it is given one row, and then the map
        matrix = self.library.DaskQuantileDMatrix(
            self.client, arrays.zeros((1, self.columns), dtype=np.float32), max_bin=self.max_bins
        )
        matrix.worker_map = {}
        for part, home in zip(self.parts, homes, strict=True):
            holder = home if home in holders[part.key] else min(holders[part.key])
            matrix.worker_map.setdefault(holder, []).append(part)
        return matrix


def fields_of(part: TrainingPartition, outputs: int) -> dict[str, AnyArray]:
    """Return what XGBoost gets of a partition."""
    return {
        "data": part.X,
        "label": np.tile(part.y[:, np.newaxis], outputs).astype(np.float32),
        "weight": part.weight.astype(np.float32),
        "label_lower_bound": (part.keys % _HALF).astype(np.float32),
        "label_upper_bound": (part.keys // _HALF).astype(np.float32),
    }


def row_numbers(matrix: Any) -> AnyArray:  # noqa: ANN401 (a DMatrix)
    """Return the numbers in the whole table of a worker's rows."""
    low, high = (matrix.get_float_info(name).astype(np.uint32) for name in ("label_lower_bound", "label_upper_bound"))
    numbers: AnyArray = low + high * np.uint32(_HALF)
    return numbers
