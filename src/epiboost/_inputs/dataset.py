"""The checked table with its target that an engine learns from."""

from dataclasses import dataclass, replace
from typing import Any

from epiboost._typing import Floats, Integers


@dataclass(frozen=True, slots=True)
class Dataset:
    """A checked table with its target.

    Attributes
    ----------
    X : array of shape (n, features)
        float32 or float64; NaN is a missing value. An engine that takes sparse tables may get a `SparseTable` instead,
        if a dense array would be large. An engine that takes partitions may get a `BinnedTable` or
        `PartitionedRows` instead. The latter holds its targets itself: then y and weight are empty.
    y : array of shape (n,)
        Target values, or class codes 0, 1, …
    weight : array of shape (n,)
        Weight of each row: weight two is the same as the row twice. All weights are positive.
    n_classes : int
        0 for regression.
    objective : str
        Name of the loss to fit: "normal", "bernoulli", "categorical" or another family of distributions.
    evaluation : Dataset or None
        Rows on which the loss is measured after each tree. They are not trained on.
    n_codes : tuple of int
        Number of codes per column, the one for missing values included; 0 for a numeric column. Empty if no column is
        categorical. Codes count from 0; -1 is a category that was not seen in training, NaN a missing value.
    settings : tuple of float
        Numbers of the family that all chains share, whatever rows they see.
    offset : array of shape (n,) for two classes, (n, classes) for more, or None
        A known part of the scores of classes. That of a regression has been taken off y.
    """

    X: Any
    y: Floats
    weight: Floats
    n_classes: int
    objective: str = "normal"
    evaluation: "Dataset | None" = None
    n_codes: tuple[int, ...] = ()
    offset: Floats | None = None
    settings: tuple[float, ...] = ()

    def take(self, rows: Integers) -> "Dataset":
        """Return the data of some of the rows; evaluation rows stay."""
        offset = None if self.offset is None else self.offset[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], weight=self.weight[rows], offset=offset)
