"""Rows that stay in their partitions, for an engine that trains where they are.

Of the target only a summary comes here: what it is before the first tree, and how many rows there are. Each row keeps
its number in the whole table, so that its noise does not depend on how the table is cut.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from epiboost._optional import require
from epiboost._typing import AnyArray, Floats
from epiboost.distributed.partitions import Reader, computed, read_part
from epiboost.objectives import BINARY, Bernoulli, Categorical, Normal, Objective

Target = Callable[[Any], AnyArray]
"""Checks a partition's targets: values, or labels."""

Numbers = Callable[[AnyArray], Floats]
"""Turns checked targets into values or class numbers."""


@dataclass(frozen=True, slots=True)
class RowPart:
    """The rows of one partition that count.

    Attributes
    ----------
    X : array of shape (n, features)
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
    lengths : tuple of int
        Rows that count in each.
    total : float
        What all rows count for.
    """

    parts: tuple[Any, ...]
    lengths: tuple[int, ...]
    n_features: int
    objective: Objective
    total: float

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(self.lengths)


@dataclass(frozen=True, slots=True)
class Summary:
    """What is to be known of the targets of some rows.

    Attributes
    ----------
    rows, counting : int
        All rows, and those of positive weight.
    weight : float
        Of all rows.
    mean, squares : float
        The weighted mean of values, and the weighted sum of squares around it.
    classes : array of shape (classes,)
        The weight of each class number; none for values.
    """

    rows: int
    counting: int
    weight: float
    mean: float
    squares: float
    classes: Floats

    @classmethod
    def of(cls, y: Floats, weight: Floats, rows: int, n_classes: int) -> "Summary":
        """Sum up the rows that count."""
        total = float(weight.sum())
        mean = float((weight * y).sum() / total) if total else 0.0
        classes = np.zeros(n_classes)
        if n_classes:
            classes += np.bincount(y.astype(np.int64), weights=weight, minlength=n_classes)
        return cls(rows, len(y), total, mean, float((weight * (y - mean) ** 2).sum()), classes)

    def joined(self, other: "Summary") -> "Summary":
        """Return the summary of both.

        >>> halves = [Summary.of(np.array([value, value + 2.0]), np.ones(2), 2, 0) for value in (0.0, 4.0)]
        >>> both = halves[0].joined(halves[1])
        >>> both.mean, both.squares
        (3.0, 20.0)
        """
        total = self.weight + other.weight
        apart = other.mean - self.mean
        share = other.weight / total if total else 0.0
        return Summary(
            self.rows + other.rows,
            self.counting + other.counting,
            total,
            self.mean + share * apart,
            self.squares + other.squares + self.weight * share * apart**2,
            self.classes + other.classes,
        )

    def objective(self) -> Objective:
        """Return the loss whose start these targets say."""
        if not len(self.classes):
            spread = float(np.sqrt(self.squares / self.weight))
            return Normal.around(self.mean, spread)
        shares = self.classes / self.weight
        if len(shares) == BINARY:
            return Bernoulli(float(np.log(shares[1]) - np.log(shares[0])))
        return Categorical(tuple(np.log(shares).tolist()))


def distinct_labels_of(parts: Sequence[tuple[Any, Any]], check: Target) -> AnyArray:
    """Return the labels of the rows that count, in order.

    Parameters
    ----------
    parts : sequence of (target, weight)
        Delayed; the weight may be None.
    check : callable
        Checks a partition's labels.
    """
    dask = require("dask", extra="dask", purpose="a table in partitions")
    work = dask.delayed(_distinct, pure=False)
    found = [labels for labels in computed(*[work(*part, check) for part in parts]) if len(labels)]
    return np.unique(np.concatenate(found)) if found else np.empty(0)


def partitioned_rows(
    parts: Sequence[tuple[Any, Any, Any]], read: Reader, numbers: Numbers, *, n_features: int, n_classes: int
) -> PartitionedRows:
    """Return rows in their partitions, having summed up their targets.

    Parameters
    ----------
    parts : sequence of (table, target, weight)
        Delayed; the weight may be None.
    read : callable
        Checks a partition's table.
    numbers : callable
        Checks a partition's target and returns values or class numbers.
    """
    dask = require("dask", extra="dask", purpose="a table in partitions")
    work = dask.delayed(_summary, pure=False)
    own_numbers = dask.delayed(numbers, pure=False, traverse=False)
    summaries: tuple[Summary, ...] = computed(*[work(y, weight, own_numbers, n_classes) for _, y, weight in parts])
    whole = summaries[0]
    for summary in summaries[1:]:
        whole = whole.joined(summary)
    if whole.counting < 2:  # noqa: PLR2004 (a spread needs two)
        message = f"Found {whole.counting} sample(s) of positive weight while a minimum of 2 is required."
        raise ValueError(message)
    objective = whole.objective()
    firsts = np.cumsum([0, *(summary.rows for summary in summaries)]).tolist()
    # weights of less than one on average are no counts: they are scaled up to an average of one
    scale = max(1.0, whole.counting / whole.weight)
    make = dask.delayed(_row_part, pure=False)
    own_read = dask.delayed(read, pure=False, traverse=False)
    rows = [
        make(X, y, weight, own_read, own_numbers, _Place(first, n_features, scale, objective))
        for (X, y, weight), first in zip(parts, firsts, strict=False)
    ]
    return PartitionedRows(
        tuple(rows), tuple(summary.counting for summary in summaries), n_features, objective, whole.weight * scale
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a partition stands in the table, and what is known of all rows."""

    first: int
    n_features: int
    scale: float
    objective: Objective


def _distinct(y: Any, weight: Any, check: Target) -> AnyArray:  # noqa: ANN401 (partitions)
    labels, own = _target(y, weight, check)
    return np.unique(labels[own > 0])


def _summary(y: Any, weight: Any, numbers: Numbers, n_classes: int) -> Summary:  # noqa: ANN401 (partitions)
    values, own = _target(y, weight, numbers)
    counts = own > 0
    return Summary.of(values[counts], own[counts], len(values), n_classes)


def _row_part(X: Any, y: Any, weight: Any, read: Reader, numbers: Numbers, place: _Place) -> RowPart:  # noqa: ANN401, PLR0917
    table = read_part(X, read, place.n_features)
    values, own = _target(y, weight, numbers)
    if len(table) != len(values):
        message = (
            "Found input variables with inconsistent numbers of samples: a partition of X has "
            f"{len(table)} rows, that of y {len(values)}"
        )
        raise ValueError(message)
    counts = np.flatnonzero(own > 0)
    keys = ((place.first + counts) % (1 << 32)).astype(np.uint32)
    return RowPart(table[counts], place.objective.encode(values[counts]), own[counts] * place.scale, keys)


def _target(y: Any, weight: Any, numbers: Numbers) -> tuple[Floats, Floats]:  # noqa: ANN401 (partitions)
    values = numbers(y) if len(y) else np.empty(0)
    own = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=np.float64)
    if own.shape != values.shape or not np.isfinite(own).all() or (own < 0).any():
        message = "sample_weight must hold one number a row, finite and not negative, in the partitions of y"
        raise ValueError(message)
    return values, own
