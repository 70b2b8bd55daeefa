"""Rows that stay in their partitions, for engines that train where the rows are.

Only summaries of the target and the bins of the columns are collected. Each row keeps its number in the whole table,
which is the key of its noise. So the model does not depend on the partitioning.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from epiboost._boosting.objectives import Objective
from epiboost._inputs.target import Target
from epiboost._inputs.weights import check_weight_range
from epiboost._typing import AnyArray, Column, Floats32, LibraryObject
from epiboost.distributed.borders import BinMinima, ValueCounts, merge_columns
from epiboost.distributed.checked_partition import CheckedPartition, RowEncoder
from epiboost.distributed.partitions import (
    TableTransform,
    compute,
    import_dask,
    map_partitions,
    persist_partitions,
    tree_reduce,
)
from epiboost.distributed.summary import Moments, TargetSummary


@dataclass(frozen=True, slots=True)
class PartitionedRows:
    """Training rows that stay in their partitions.

    Attributes
    ----------
    parts : tuple of Delayed
        One `checked_partition.TrainingPartition` each.
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
    dask = import_dask()
    checks = [dask.delayed(check, pure=False, traverse=False) for check in (transform, check_target)]
    check_one = dask.delayed(CheckedPartition.check, pure=False)
    return persist_partitions([check_one(*part, *checks, n_features) for part in parts])


def partition_labels(checked: Sequence[LibraryObject]) -> AnyArray:
    """Return the distinct labels of the rows of positive weight, ascending."""
    labels = [found for found in map_partitions(checked, CheckedPartition.labels) if len(found)]
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
    dask = import_dask()
    summaries: tuple[TargetSummary, ...] = map_partitions(checked, CheckedPartition.summary, target)
    summary = reduce(TargetSummary.merge, summaries)
    if not summary.n_rows:
        message = "Found array with 0 sample(s) while a minimum of 2 is required."
        raise ValueError(message)
    check_weight_range(summary.smallest_weight, summary.largest_weight, summary.n_rows)
    objective = summary.objective(None if target.n_classes else _moments(checked, summary))
    # weights below one on average do not count rows: they are scaled to an average of one
    scale = max(1.0, summary.n_positive / summary.total_weight)
    encoder = RowEncoder(objective, target, scale, _bin_minima(checked, summary, n_features, max_bins))
    firsts = np.cumsum([0, *(part.n_rows for part in summaries)]).tolist()
    encode = dask.delayed(RowEncoder.encode, pure=False)
    delayed_encoder = dask.delayed(encoder, pure=False, traverse=False)
    return PartitionedRows(
        tuple(encode(delayed_encoder, part, first) for part, first in zip(checked, firsts, strict=False)),
        tuple(checked),
        tuple(part.n_positive for part in summaries),
        n_features,
        objective,
        summary.total_weight * scale,
    )


def _moments(checked: Sequence[LibraryObject], summary: TargetSummary) -> Moments:
    """Return the moments of the target over all partitions."""
    parts: tuple[Moments, ...] = map_partitions(checked, CheckedPartition.moments, summary.midpoint, summary.half_range)
    return reduce(Moments.merge, parts)


def _bin_minima(checked: Sequence[LibraryObject], summary: TargetSummary, n_features: int, max_bins: int) -> BinMinima:
    """Return the bins of each column, from the counts of its values over all partitions."""
    if not n_features:
        return BinMinima(())
    dask = import_dask()
    count = dask.delayed(CheckedPartition.value_counts, pure=False)
    bin_columns = dask.delayed(_bin_columns, pure=False)
    counts = [count(part, summary.smallest_weight, summary.largest_weight) for part in checked]
    return BinMinima(compute(bin_columns(tree_reduce(counts, merge_columns), max_bins))[0])


def _bin_columns(columns: Sequence[ValueCounts], max_bins: int) -> tuple[Floats32, ...]:
    return tuple(column.bin_minima(max_bins) for column in columns)
