"""Rows that stay in their partitions, for engines that train where the rows are.

Only summaries of the target and the bins of the columns are collected. Each row keeps its number in the whole table,
which is the key of its noise. So the model does not depend on the partitioning.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from epiboost._boosting.objectives import Objective
from epiboost._inputs.target import Target
from epiboost._inputs.weights import check_largest_weight, row_weights
from epiboost._optional import require
from epiboost._typing import AnyArray, Column, Floats, Floats32, LibraryObject, Table
from epiboost.distributed.borders import BinMinima, ValueCounts, count_values, integer_weights, merge_columns
from epiboost.distributed.partitions import (
    TableTransform,
    compute,
    map_partitions,
    persist_partitions,
    transform_partition,
    tree_reduce,
)
from epiboost.distributed.summary import Moments, TargetSummary

FLOAT32_MAX = float(np.finfo(np.float32).max)
"""Numbers beyond single precision are clipped to it."""

_PURPOSE = "a Dask collection"


@dataclass(frozen=True, slots=True)
class CheckedPartition:
    """The rows of positive weight of one partition, checked.

    Attributes
    ----------
    X : float32 array of shape (n, features)
    y : array of shape (n,)
        Numbers or labels.
    weight : array of shape (n,)
    positions : array of shape (n,)
        Positions of the rows in the partition.
    n_rows : int
        Number of rows of the partition, with those of weight zero.
    """

    X: Floats32
    y: AnyArray
    weight: Floats
    positions: AnyArray
    n_rows: int


@dataclass(frozen=True, slots=True)
class TrainingPartition:
    """The rows of positive weight of one partition, encoded for training.

    Attributes
    ----------
    X : float32 array of shape (n, features)
        The smallest value of the bin of each value.
    y : array of shape (n,)
        In the units of the raw score.
    weight : array of shape (n,)
    keys : uint32 array of shape (n,)
        Numbers of the rows in the whole table, modulo 2^32; the keys of their noise.
    """

    X: Floats32
    y: Floats
    weight: Floats
    keys: AnyArray


@dataclass(frozen=True, slots=True)
class PartitionedRows:
    """Training rows that stay in their partitions.

    Attributes
    ----------
    parts : tuple of Delayed
        One `TrainingPartition` each.
    checked : tuple of Delayed
        The `CheckedPartition` of each part, from which it is computed.
    lengths : tuple of int
        Number of rows of positive weight per partition.
    n_features : int
    objective : Objective
    total_weight : float
    """

    parts: tuple[LibraryObject, ...]
    checked: tuple[LibraryObject, ...]
    lengths: tuple[int, ...]
    n_features: int
    objective: Objective
    total_weight: float

    def __len__(self) -> int:
        """Return the number of rows of positive weight."""
        return sum(self.lengths)


def check_partitions(
    parts: Sequence[tuple[LibraryObject, LibraryObject, LibraryObject | None]],
    transform: TableTransform,
    check_target: Callable[[Column], AnyArray],
    n_features: int,
) -> list[LibraryObject]:
    """Return checked partitions, one Delayed `CheckedPartition` each; a cluster keeps them in memory.

    Parameters
    ----------
    parts : sequence of (table, target, weight)
        Delayed; the weight may be None.
    transform, check_target : callable
        Check the table and the target of a partition.
    n_features : int
    """
    dask = require("dask", extra="dask", purpose=_PURPOSE)
    checks = [dask.delayed(check, pure=False, traverse=False) for check in (transform, check_target)]
    check_one = dask.delayed(_check_partition, pure=False)
    return persist_partitions([check_one(*part, *checks, n_features) for part in parts])


def partition_labels(checked: Sequence[LibraryObject]) -> AnyArray:
    """Return the distinct labels of the rows of positive weight, ascending."""
    labels = [found for found in map_partitions(checked, _distinct_labels) if len(found)]
    return np.unique(np.concatenate(labels)) if labels else np.empty(0)


def partitioned_rows(
    checked: Sequence[LibraryObject], *, n_features: int, max_bins: int, target: Target
) -> PartitionedRows:
    """Summarise the target, bin the columns, and return rows that are encoded in their partitions.

    Parameters
    ----------
    checked : sequence of Delayed
        Returned by `check_partitions`.
    n_features, max_bins : int
    target : Target
    """
    dask = require("dask", extra="dask", purpose=_PURPOSE)
    summaries: tuple[TargetSummary, ...] = map_partitions(checked, _summarise, target)
    summary = reduce(TargetSummary.merge, summaries)
    if not summary.n_rows:
        message = "Found array with 0 sample(s) while a minimum of 2 is required."
        raise ValueError(message)
    check_largest_weight(summary.largest_weight, summary.n_rows)
    objective = summary.objective(None if target.n_classes else _moments(checked, summary))
    # weights below one on average do not count rows: they are scaled to an average of one
    scale = max(1.0, summary.n_positive / summary.total_weight)
    encoder = _RowEncoder(objective, target, scale, _bin_minima(checked, summary, n_features, max_bins))
    firsts = np.cumsum([0, *(part.n_rows for part in summaries)]).tolist()
    encode = dask.delayed(_encode_partition, pure=False)
    delayed_encoder = dask.delayed(encoder, pure=False, traverse=False)
    return PartitionedRows(
        tuple(encode(part, first, delayed_encoder) for part, first in zip(checked, firsts, strict=False)),
        tuple(checked),
        tuple(part.n_positive for part in summaries),
        n_features,
        objective,
        summary.total_weight * scale,
    )


@dataclass(frozen=True, slots=True)
class _RowEncoder:
    """What the encoding of a row depends on: one value for the whole table."""

    objective: Objective
    target: Target
    weight_scale: float
    bin_minima: BinMinima

    def encode(self, part: CheckedPartition, first: int) -> TrainingPartition:
        """Return the rows of a partition whose first row has the number ``first`` in the whole table."""
        keys = ((first + part.positions) % (1 << 32)).astype(np.uint32)
        y = self.objective.encode(_encode_target(part, self.target))
        return TrainingPartition(self.bin_minima.transform(part.X), y, part.weight * self.weight_scale, keys)


def _moments(checked: Sequence[LibraryObject], summary: TargetSummary) -> Moments:
    parts: tuple[Moments, ...] = map_partitions(checked, _partition_moments, summary.midpoint, summary.half_range)
    return reduce(Moments.merge, parts)


def _bin_minima(checked: Sequence[LibraryObject], summary: TargetSummary, n_features: int, max_bins: int) -> BinMinima:
    """Return the bins of each column, from the counts of its values over all partitions."""
    if not n_features:
        return BinMinima(())
    dask = require("dask", extra="dask", purpose=_PURPOSE)
    count = dask.delayed(_count_partition, pure=False)
    counts = [count(part, summary.smallest_weight, summary.largest_weight) for part in checked]
    bin_columns = dask.delayed(_bin_columns, pure=False)
    return BinMinima(compute(bin_columns(tree_reduce(counts, merge_columns), max_bins))[0])


def _check_partition(  # noqa: PLR0917 (arguments of a Dask task are positional)
    X: Table,
    y: Column,
    weight: Column,
    transform: TableTransform,
    check_target: Callable[[Column], AnyArray],
    n_features: int,
) -> CheckedPartition:
    table = transform_partition(X, transform, n_features)
    values = check_target(y) if len(y) else np.empty(0)
    weights = row_weights(weight, len(values)) if len(values) else np.empty(0)
    if len(table) != len(values):
        message = (
            "Found input variables with inconsistent numbers of samples: a partition of X has "
            f"{len(table)} rows, that of y {len(values)}"
        )
        raise ValueError(message)
    positive = np.flatnonzero(weights > 0)
    X_single = np.clip(table[positive], -FLOAT32_MAX, FLOAT32_MAX).astype(np.float32)
    return CheckedPartition(X_single, values[positive], weights[positive], positive, len(values))


def _distinct_labels(part: CheckedPartition) -> AnyArray:
    return np.unique(part.y)


def _encode_target(part: CheckedPartition, target: Target) -> Floats:
    return target.encode(part.y) if len(part.y) else np.empty(0)


def _summarise(part: CheckedPartition, target: Target) -> TargetSummary:
    return TargetSummary.from_rows(_encode_target(part, target), part.weight, part.n_rows, target.n_classes)


def _partition_moments(part: CheckedPartition, midpoint: float, half_range: float) -> Moments:
    return Moments.from_rows(part.y.astype(np.float64), part.weight, midpoint, half_range)


def _count_partition(part: CheckedPartition, smallest_weight: float, largest_weight: float) -> tuple[ValueCounts, ...]:
    return count_values(part.X, integer_weights(part.weight, smallest_weight, largest_weight))


def _bin_columns(columns: Sequence[ValueCounts], max_bins: int) -> tuple[Any, ...]:
    return tuple(column.bin_minima(max_bins) for column in columns)


def _encode_partition(part: CheckedPartition, first: int, encoder: _RowEncoder) -> TrainingPartition:
    return encoder.encode(part, first)
