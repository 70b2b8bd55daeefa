"""Quantile binning: one byte per value, bin 0 for missing values.

Borders are midpoints of neighbouring values at quantiles of the weighted training rows, so that bins have about equal
weight. A value that is heavier than a bin has one of its own, and the ends of a column have finer bins. A column with
few distinct values gets one bin per value. Training depends on the order of values only.

>>> import numpy as np
>>> table = np.array([[1.0], [2.0], [np.nan], [4.0]])
>>> bins = Bins.fit(table, np.ones(4), max_bins=255)
>>> bins.borders_of(0)
array([1.5, 3. ])
>>> bins.transform(table).ravel()
array([1, 2, 0, 3], dtype=uint8)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._files.requirements import require_arrays, require_facts
from epiboost._native import native
from epiboost._typing import AnyArray, Bytes, Floats, Integers

MAX_BINS = 255
"""Largest number of bins per column, without the one for missing values."""


@dataclass(frozen=True, slots=True)
class Bins:
    """Borders of all columns in one array.

    Attributes
    ----------
    borders : array of shape (sum of the columns' borders,)
        Ascending within a column. The bin of a value is one plus the number of borders below it.
    offsets : array of shape (features + 1,)
        Column j has ``borders[offsets[j]:offsets[j + 1]]``.
    """

    borders: Floats
    offsets: Integers

    @classmethod
    def of(cls, borders: Sequence[Sequence[float]], max_bins: int) -> "Bins":
        """Return bins with borders given by the user, one ascending sequence per column.

        >>> Bins.of([[0.0, 1.0], []], max_bins=255).offsets
        array([0, 2, 2])
        """
        columns = [np.asarray(column, dtype=np.float64) for column in borders]
        for index, column in enumerate(columns):
            if column.ndim != 1 or not np.isfinite(column).all() or (np.diff(column) <= 0).any():
                message = f"borders must be finite, ascending numbers for each column; column {index} has {column}"
                raise ValueError(message)
            if len(column) >= max_bins:
                message = (
                    f"max_bins={max_bins} allows {max_bins - 1} borders per column; column {index} has {len(column)}"
                )
                raise ValueError(message)
        return cls.of_columns(columns)

    @classmethod
    def fit(cls, X: AnyArray, weight: Floats, max_bins: int, *, threads: int = 1) -> "Bins":
        """Find the borders that split each column's weight most evenly into at most ``max_bins`` bins."""
        weights = np.empty(0) if are_ones(weight) else weight
        return cls.of_columns(native().find_borders(X, weights, max_bins, threads))

    @classmethod
    def of_columns(cls, columns: Sequence[Floats]) -> "Bins":
        """Return bins with one array of valid borders per column."""
        sizes = [len(column) for column in columns]
        return cls(np.concatenate([*columns, np.empty(0)]), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    @classmethod
    def from_file(cls, borders: AnyArray, offsets: AnyArray) -> "Bins":
        """Build bins from the arrays of a model file; raise ValueError if they are inconsistent."""
        require_arrays({"borders": borders, "offsets": offsets}, {"borders": (np.float64, 1), "offsets": (np.int64, 1)})
        sizes, ascending = np.diff(offsets), np.diff(borders) > 0
        ascending[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(borders))] - 1] = (
            True  # from one column to the next
        )
        facts = {
            "offsets must ascend from 0 to the number of borders": len(offsets) > 0
            and offsets[0] == 0
            and offsets[-1] == len(borders)
            and bool(((sizes >= 0) & (sizes < MAX_BINS)).all()),
            "borders must ascend and be finite": bool(np.isfinite(borders).all() and ascending.all()),
        }
        require_facts(facts)
        return cls(borders, offsets)

    def check_width(self, columns: int) -> None:
        """Raise ValueError unless there are borders for exactly this number of columns."""
        if self.n_features != columns:
            message = f"borders are given for {self.n_features} columns; X has {columns}"
            raise ValueError(message)

    def joined(self, other: "Bins") -> "Bins":
        """Return the bins of these columns followed by those of others."""
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]])
        return Bins(np.concatenate([self.borders, other.borders]), offsets)

    @property
    def n_features(self) -> int:
        """Number of columns that a table must have."""
        return len(self.offsets) - 1

    @property
    def counts(self) -> AnyArray:
        """Number of bins per column, including the one for missing values; int32 of shape (features,)."""
        return np.asarray(np.diff(self.offsets) + 2, dtype=np.int32)

    def borders_of(self, column: int) -> Floats:
        """Return the borders of one column."""
        return self.borders[self.offsets[column] : self.offsets[column + 1]]

    def select(self, columns: Iterable[int]) -> "Bins":
        """Return the bins of some of the columns."""
        return Bins.of_columns([self.borders_of(column) for column in columns])

    def transform(self, X: AnyArray, *, threads: int = 1) -> Bytes:
        """Return the bins of a table, shape (n, features)."""
        return native().bin_table(X, self.borders, self.offsets, threads)


def are_ones(weight: Floats) -> bool:
    """Return whether all weights are the same and count one row each; weights below one do not count copies."""
    return bool((weight == np.minimum(weight[:1], 1.0)).all())


@dataclass(frozen=True, slots=True)
class BinnedTable:
    """A table that is stored as bins only.

    Attributes
    ----------
    codes : array of shape (n, features)
    """

    bins: Bins
    codes: Bytes

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns, as of an array."""
        return self.codes.shape[0], self.codes.shape[1]

    def __getitem__(self, rows: Integers) -> "BinnedTable":
        """Return some of the rows."""
        return BinnedTable(self.bins, self.codes[rows])

    def numbers(self) -> Floats:
        """Return a table of numbers with these bins; NaN for missing values.

        >>> BinnedTable(Bins.of([[0.0, 1.0]], 255), np.array([[0], [1], [2], [3]], dtype=np.uint8)).numbers().ravel()
        array([nan,  0.,  1.,  2.])
        """
        table = np.empty(self.codes.shape)
        for column, codes in enumerate(self.codes.T):
            borders = self.bins.borders_of(column)
            above = np.nextafter(borders[-1:] + 1.0, np.inf) if len(borders) else np.zeros(1)
            table[:, column] = np.concatenate([[np.nan], borders, above])[codes]
        return table
