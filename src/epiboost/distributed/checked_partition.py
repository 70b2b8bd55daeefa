"""The rows of one partition, checked and then encoded for training: the tasks that Dask runs per partition."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from epiboost._boosting.objectives import Objective
from epiboost._inputs.target import Target
from epiboost._inputs.weights import row_weights
from epiboost._typing import AnyArray, Column, Floats, Floats32, Table
from epiboost.distributed.borders import BinMinima, ValueCounts, integer_weights
from epiboost.distributed.partitions import TableTransform, transform_partition
from epiboost.distributed.summary import Moments, TargetSummary

FLOAT32_MAX = float(np.finfo(np.float32).max)
"""Numbers beyond single precision are clipped to it."""


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

    @classmethod
    def check(  # noqa: PLR0917 (arguments of a Dask task are positional)
        cls,
        X: Table,
        y: Column,
        weight: Column,
        transform: TableTransform,
        check_target: Callable[[Column], AnyArray],
        n_features: int,
    ) -> "CheckedPartition":
        """Check the table, the target and the weights of a partition; weights may be None."""
        table = transform_partition(X, transform, n_features)
        values = check_target(y) if len(y) else np.empty(0)
        weights = row_weights(weight, len(values)) if len(values) else np.empty(0)
        if len(table) != len(values):
            message = (
                "Found input variables with inconsistent numbers of samples: a partition of X has "
                f"{len(table)} rows, that of y {len(values)}. Take X and y from one collection"
            )
            raise ValueError(message)
        positive = np.flatnonzero(weights > 0)
        single = np.clip(table[positive], -FLOAT32_MAX, FLOAT32_MAX).astype(np.float32)
        return cls(single, values[positive], weights[positive], positive, len(values))

    def labels(self) -> AnyArray:
        """Return the distinct labels, ascending."""
        return np.unique(self.y)

    def summary(self, target: Target) -> TargetSummary:
        """Return the summary of the target."""
        return TargetSummary.from_rows(self.encode_target(target), self.weight, self.n_rows, target.n_classes)

    def moments(self, midpoint: float, half_range: float) -> Moments:
        """Return the moments of numbers, given the range of the targets of the whole table."""
        return Moments.from_rows(self.y.astype(np.float64), self.weight, midpoint, half_range)

    def value_counts(self, smallest_weight: float, largest_weight: float) -> tuple[ValueCounts, ...]:
        """Return the counts of each column's values, given the extremes of the weights of the whole table."""
        weights = integer_weights(self.weight, smallest_weight, largest_weight)
        return tuple(ValueCounts.from_column(column, weights) for column in self.X.T)

    def encode_target(self, target: Target) -> Floats:
        """Return numbers, or the positions of labels."""
        return target.encode(self.y) if len(self.y) else np.empty(0)


@dataclass(frozen=True, slots=True)
class RowEncoder:
    """Encodes the rows of partitions for training; one for the whole table.

    Attributes
    ----------
    objective : Objective
        Gives the units of the raw score.
    target : Target
    weight_scale : float
        Factor of the weights.
    bin_minima : BinMinima
    """

    objective: Objective
    target: Target
    weight_scale: float
    bin_minima: BinMinima

    def encode(self, part: CheckedPartition, first: int) -> "TrainingPartition":
        """Return a partition for training; ``first`` is the number of its first row in the whole table."""
        keys = ((first + part.positions) % (1 << 32)).astype(np.uint32)
        y = self.objective.encode(part.encode_target(self.target))
        return TrainingPartition(self.bin_minima.transform(part.X), y, part.weight * self.weight_scale, keys)


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
