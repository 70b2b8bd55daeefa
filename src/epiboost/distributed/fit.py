"""Reads Dask collections for `fit`: as one table of bins in memory, or as rows that stay in their partitions."""

from dataclasses import dataclass

import numpy as np

from epiboost._binning.bins import BinnedTable, Bins
from epiboost._inputs.dataset import Dataset
from epiboost._inputs.schema import ColumnSchema
from epiboost._inputs.target import Target
from epiboost._inputs.weights import check_weights
from epiboost._typing import AnyArray, Column, Floats, LibraryObject
from epiboost.distributed.partitions import aligned_partitions, collect_column, example_rows
from epiboost.distributed.rows import check_partitions, partition_labels, partitioned_rows
from epiboost.distributed.stream import stream_table


def partitioned_schema(X: LibraryObject, *, categorical_features: object, owner: str) -> ColumnSchema:
    """Return the schema of a Dask collection; categorical columns are refused.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, features)
    categorical_features : "auto", None or list of str and int
    owner : str
        Name of the estimator's class.
    """
    schema, _ = ColumnSchema.fit(example_rows(X), categorical_features=categorical_features, owner=owner)
    if schema.categories:
        positions = np.flatnonzero(schema.is_categorical).tolist()
        message = (
            f"X has categorical columns, at the positions {positions}; a Dask collection must hold numbers. Encode "
            "these columns as numbers, or pass X in memory: X.compute()"
        )
        raise ValueError(message)
    return schema


@dataclass(frozen=True, slots=True)
class PartitionReader:
    """Reads the rows of Dask collections.

    An engine takes either bins in memory (`read_bins`) or rows that stay in their partitions (`read_in_place`).

    Attributes
    ----------
    schema : ColumnSchema
    target_type : type of Target
        Checks the targets, and is fitted to those of the training rows.
    max_bins : int
        Largest number of bins per column.
    """

    schema: ColumnSchema
    target_type: type[Target]
    max_bins: int

    def read_bins(
        self, X: LibraryObject, y: Column, weight: Column, bins: Bins | None
    ) -> tuple[Target, Dataset, AnyArray]:
        """Return the target, the training rows as bins, and which of the given rows these are.

        Without ``bins``, borders are computed from the rows.
        """
        table, y, weight, kept = self._stream(X, y, weight, bins)
        target = self.target_type.fit(y)
        return target, Dataset(table, target.encode(y), weight, target.n_classes, target.objective), kept

    def evaluation(self, target: Target, X: LibraryObject, y: Column, weight: Column, bins: Bins) -> Dataset:
        """Return evaluation rows as bins."""
        table, y, weight, _ = self._stream(X, y, weight, bins)
        return Dataset(table, target.encode(y, name="eval_set"), weight, target.n_classes, target.objective)

    def read_in_place(self, X: LibraryObject, y: Column, weight: Column) -> tuple[Target, Dataset]:
        """Return the target, and training rows that stay in their partitions."""
        n_features = self.schema.n_features
        parts = aligned_partitions(X, y, weight)
        checked = check_partitions(parts, self.schema.transform, self.target_type.check, n_features)
        labels = partition_labels(checked) if self.target_type.has_classes else np.empty(0)
        target = self.target_type.fit(labels)
        rows = partitioned_rows(checked, n_features=n_features, max_bins=self.max_bins, target=target)
        return target, Dataset(rows, np.empty(0), np.empty(0), target.n_classes, target.objective)

    def _stream(
        self, X: LibraryObject, y: Column, weight: Column, bins: Bins | None
    ) -> tuple[BinnedTable, AnyArray, Floats, AnyArray]:
        """Return bins, targets and weights of the rows of positive weight, in memory, and which rows these are."""
        y = self.target_type.check(collect_column(y))
        weight = collect_column(weight)
        weight = np.broadcast_to(1.0, len(y)) if weight is None else check_weights(weight, len(y))
        n_features = self.schema.n_features
        table = stream_table(X, self.schema.transform, weight, bins=bins, n_features=n_features, max_bins=self.max_bins)
        positive = weight > 0
        return (table, y, weight, positive) if positive.all() else (table, y[positive], weight[positive], positive)
