"""Rows that stay in their partitions, for an engine that trains where they are.

Of the target only a summary comes here, and of the columns only the borders of their bins. Each row keeps its number in
the whole table, so that its noise does not depend on how the table is cut; nor does anything else.
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
from epiboost._typing import AnyArray, Column, Floats, Table
from epiboost.distributed.borders import Counts, StandIns, counts_of, merged_columns, whole_weights
from epiboost.distributed.partitions import Reader, computed, each_of, held, read_part
from epiboost.distributed.summary import Moments, Summary

LARGEST = float(np.finfo(np.float32).max)
"""Single precision: a number beyond it is the largest."""

_AT_ONCE = 8  # partitions whose counts are merged in one step


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """The rows of one partition that count, as they were read.

    Attributes
    ----------
    X : float32 array of shape (n, features)
    y, weight : arrays of shape (n,)
        Values or labels.
    places : array of shape (n,)
        The rows' numbers in the partition.
    rows : int
        Rows of the partition, those that do not count included.
    """

    X: AnyArray
    y: AnyArray
    weight: Floats
    places: AnyArray
    rows: int


@dataclass(frozen=True, slots=True)
class RowPart:
    """The rows of one partition that count, as an engine learns from them.

    Attributes
    ----------
    X : float32 array of shape (n, features)
        What stands for their bins.
    y, weight : arrays of shape (n,)
        Targets in the units of the score.
    keys : array of shape (n,)
        The rows' numbers in the whole table.
    """

    X: AnyArray
    y: Floats
    weight: Floats
    keys: AnyArray


@dataclass(frozen=True, slots=True)
class PartitionedRows:
    """A table to learn from.

    Attributes
    ----------
    parts : tuple of Delayed
        A `RowPart` each.
    checked : tuple of Delayed
        A `CheckedPart` each, which they are made of.
    lengths : tuple of int
        Rows that count in each.
    total : float
        What all rows count for.
    """

    parts: tuple[Any, ...]
    checked: tuple[Any, ...]
    lengths: tuple[int, ...]
    n_features: int
    objective: Objective
    total: float

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(self.lengths)


def checked_parts(
    parts: Sequence[tuple[Any, Any, Any]], read: Reader, check: Callable[[Any], AnyArray], n_features: int
) -> list[Any]:
    """Return partitions that are read and checked, a `CheckedPart` each, as Delayed; a cluster keeps them.

    Parameters
    ----------
    parts : sequence of (table, target, weight)
        Delayed; the weight may be None.
    read, check : callable
        Check a partition's table and its target.
    """
    dask = require("dask", extra="dask", purpose="a table in partitions")
    own_read, own_check = (dask.delayed(one, pure=False, traverse=False) for one in (read, check))
    work = dask.delayed(_checked, pure=False)
    return held([work(X, y, weight, own_read, own_check, n_features) for X, y, weight in parts])


def distinct_labels_of(checked: Sequence[Any]) -> AnyArray:
    """Return the labels of the rows that count, in order."""
    found = [labels for labels in each_of(checked, _distinct) if len(labels)]
    return np.unique(np.concatenate(found)) if found else np.empty(0)


def partitioned_rows(checked: Sequence[Any], *, n_features: int, max_bins: int, target: Target) -> PartitionedRows:
    """Return rows in their partitions, having summed up their targets and binned their columns.

    Parameters
    ----------
    checked : sequence of Delayed
        Of `checked_parts`.
    """
    dask = require("dask", extra="dask", purpose="a table in partitions")
    summaries: tuple[Summary, ...] = each_of(checked, _summary, target)
    whole = reduce(Summary.joined, summaries)
    if not whole.rows:
        message = "Found array with 0 sample(s) while a minimum of 2 is required."
        raise ValueError(message)
    check_largest_weight(whole.heaviest, whole.rows)
    moments = None
    if not target.n_classes:
        moments = reduce(Moments.joined, each_of(checked, _moments, whole.ruler))
    objective = whole.objective(moments)
    # weights of less than one on average are no counts: they are scaled up to an average of one
    scale = max(1.0, whole.counting / whole.total)
    table = _Table(objective, target, scale, _stand_ins(checked, whole, n_features, max_bins))
    firsts = np.cumsum([0, *(summary.rows for summary in summaries)]).tolist()
    make, own_table = dask.delayed(_row_part, pure=False), dask.delayed(table, pure=False, traverse=False)
    return PartitionedRows(
        tuple(make(part, first, own_table) for part, first in zip(checked, firsts, strict=False)),
        tuple(checked),
        tuple(summary.counting for summary in summaries),
        n_features,
        objective,
        whole.total * scale,
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """What is known of all rows."""

    objective: Objective
    target: Target
    scale: float
    stand_ins: StandIns


def _stand_ins(checked: Sequence[Any], whole: Summary, n_features: int, max_bins: int) -> StandIns:
    """Return what stands for the bins of each column, its values counted over all partitions."""
    dask = require("dask", extra="dask", purpose="a table in partitions")
    count, merge = dask.delayed(_counts, pure=False), dask.delayed(merged_columns, pure=False)
    level = [count(part, whole.lightest, whole.heaviest) for part in checked]
    while len(level) > 1:
        level = [merge(level[first : first + _AT_ONCE]) for first in range(0, len(level), _AT_ONCE)]
    finish = dask.delayed(_finished, pure=False)
    columns = computed(finish(level[0], max_bins))[0] if n_features else ()
    return StandIns(tuple(columns))


def _checked(  # noqa: PLR0917 (a task of Dask takes positions)
    X: Table, y: Column, weight: Column, read: Reader, check: Callable[[Any], AnyArray], n_features: int
) -> CheckedPart:
    table = read_part(X, read, n_features)
    values = check(y) if len(y) else np.empty(0)
    own = row_weights(weight, len(values)) if len(values) else np.empty(0)
    if len(table) != len(values):
        message = (
            "Found input variables with inconsistent numbers of samples: a partition of X has "
            f"{len(table)} rows, that of y {len(values)}"
        )
        raise ValueError(message)
    counts = np.flatnonzero(own > 0)
    single = np.clip(table[counts], -LARGEST, LARGEST).astype(np.float32)
    return CheckedPart(single, values[counts], own[counts], counts, len(values))


def _distinct(part: CheckedPart) -> AnyArray:
    return np.unique(part.y)


def _numbers(part: CheckedPart, target: Target) -> Floats:
    return target.encode(part.y) if len(part.y) else np.empty(0)


def _summary(part: CheckedPart, target: Target) -> Summary:
    return Summary.of(_numbers(part, target), part.weight, part.rows, target.n_classes)


def _moments(part: CheckedPart, ruler: tuple[float, float]) -> Moments:
    return Moments.of(part.y.astype(np.float64), part.weight, ruler)


def _counts(part: CheckedPart, lightest: float, heaviest: float) -> tuple[Counts, ...]:
    return counts_of(part.X, whole_weights(part.weight, lightest, heaviest))


def _finished(columns: Sequence[Counts], max_bins: int) -> list[AnyArray]:
    return [column.stand_ins(max_bins) for column in columns]


def _row_part(part: CheckedPart, first: int, table: _Table) -> RowPart:
    keys = ((first + part.places) % (1 << 32)).astype(np.uint32)
    y = table.objective.encode(_numbers(part, table.target))
    return RowPart(table.stand_ins.of(part.X), y, part.weight * table.scale, keys)
