"""Bin borders of a table in partitions, from weighted quantile sketches.

The summary of a column is a list of points: distinct values and the weight of the rows at each of them. It is exact
while there are few points. A summary of many points is pruned: points at evenly spaced ranks remain, each with an equal
share of the weight. Summaries of partitions are merged by combining their points and pruning again. Each pruning shifts
a rank by at most half a share, so the bins of a table in many partitions hold equal weight within some hundredths.

>>> import numpy as np
>>> halves = [np.arange(4.0)[:, np.newaxis], np.arange(2.0, 6.0)[:, np.newaxis]]
>>> merged = Sketch.merge([Sketch.from_table(half) for half in halves])
>>> merged.columns[0].values
array([0., 1., 2., 3., 4., 5.])
>>> merged.bins(max_bins=3).borders
array([2.5, 3.5])
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._typing import AnyArray, Floats, LibraryObject, Table
from epiboost.distributed.partitions import TableTransform, compute, import_dask, transform_partition, tree_reduce

_MAX_POINTS = 1 << 14  # per column: about sixty for each of 255 bins


@dataclass(frozen=True, slots=True)
class QuantileSummary:
    """Weighted points of one column.

    Attributes
    ----------
    values : array of shape (points,)
        Distinct, ascending.
    weights : array of shape (points,)
    """

    values: Floats
    weights: Floats

    @classmethod
    def from_weighted(cls, values: Floats, weights: Floats) -> "QuantileSummary":
        """Summarise weighted values."""
        order = np.argsort(values, kind="stable")
        values, weights = values[order], weights[order]
        if not len(values):
            return cls(values, weights)
        firsts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        return cls(values[firsts], np.add.reduceat(weights, firsts)).prune()

    @classmethod
    def from_values(cls, values: Floats) -> "QuantileSummary":
        """Summarise values of weight one: the points of `from_weighted`, faster."""
        values = np.sort(values)
        changes = values[1:] != values[:-1]
        share = 1.0
        if np.count_nonzero(changes) >= _MAX_POINTS:  # pruned before equal values are counted
            share = len(values) / _MAX_POINTS
            values = values[np.ceil((np.arange(_MAX_POINTS) + 0.5) * share).astype(np.int64) - 1]
            changes = values[1:] != values[:-1]
        firsts = np.flatnonzero(np.concatenate([[True] if len(values) else [], changes]))
        counts = np.diff(np.concatenate([firsts, [len(values)]]))
        return cls(values[firsts], counts * share)

    def prune(self, max_points: int = _MAX_POINTS) -> "QuantileSummary":
        """Return a summary of at most ``max_points`` points, with the same total weight."""
        if len(self.values) <= max_points:
            return self
        ranks = np.cumsum(self.weights)
        share = ranks[-1] / max_points
        chosen = np.searchsorted(ranks, (np.arange(max_points) + 0.5) * share)
        points, n_shares = np.unique(np.minimum(chosen, len(ranks) - 1), return_counts=True)
        return QuantileSummary(self.values[points], n_shares * share)


@dataclass(frozen=True, slots=True)
class Sketch:
    """Quantile summaries of all columns of a table, without missing values."""

    columns: tuple[QuantileSummary, ...]

    @classmethod
    def from_table(cls, table: AnyArray, weight: Floats | None = None) -> "Sketch":
        """Sketch a table in memory, shape (n, features); rows of weight zero are left out."""
        return cls(tuple(_summary(np.asarray(column, dtype=np.float64), weight) for column in table.T))

    @classmethod
    def merge(cls, sketches: Sequence["Sketch"]) -> "Sketch":
        """Return the sketch of the rows of all sketches."""
        if len(sketches) == 1:
            return sketches[0]
        return cls(
            tuple(
                QuantileSummary.from_weighted(
                    np.concatenate([summary.values for summary in summaries]),
                    np.concatenate([summary.weights for summary in summaries]),
                )
                for summaries in zip(*(sketch.columns for sketch in sketches), strict=True)
            )
        )

    def bins(self, max_bins: int) -> Bins:
        """Return the borders that split each column's weight most evenly."""
        columns = [Bins.fit(summary.values[:, np.newaxis], summary.weights, max_bins) for summary in self.columns]
        return Bins.of([column.borders.tolist() for column in columns], max_bins)


def sketch_partitions(
    parts: Sequence[LibraryObject],
    transform: TableTransform,
    n_features: int,
    weights: Sequence[Floats] | None = None,
) -> Sketch:
    """Sketch a table in partitions.

    Parameters
    ----------
    parts : sequence of Delayed
    transform : callable
        Checks a partition and returns its floats.
    n_features : int
    weights : sequence of arrays of shape (n,), optional
        One array per partition.
    """
    dask = import_dask()
    delayed_transform = dask.delayed(transform, pure=False, traverse=False)
    sketch_one = dask.delayed(_sketch_partition, pure=False)
    sketches = [
        sketch_one(part, delayed_transform, n_features, weight)
        for part, weight in zip(parts, [None] * len(parts) if weights is None else weights, strict=True)
    ]
    sketch: Sketch = compute(tree_reduce(sketches, Sketch.merge))[0]
    return sketch


def _sketch_partition(part: Table, transform: TableTransform, n_features: int, weight: Floats | None) -> Sketch:
    return Sketch.from_table(transform_partition(part, transform, n_features), weight)


def _summary(column: Floats, weight: Floats | None) -> QuantileSummary:
    is_present = ~np.isnan(column)
    if weight is None:
        return QuantileSummary.from_values(column[is_present])
    is_present &= weight > 0
    return QuantileSummary.from_weighted(column[is_present], weight[is_present])
