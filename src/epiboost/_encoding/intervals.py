"""Intervals of numeric columns, so that these can form feature crosses with categories.

A split of a numeric column applies to all categories at once. Where the target of one category changes along a number,
say that of a shop from week to week, a tree would have to isolate the category first.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._files.requirements import require_facts
from epiboost._typing import AnyArray, Bytes, Floats, Integers

_MAX_INTERVALS = 63  # a cross with more values would have too few rows per value
_MIN_INTERVALS = 8
_ROWS_PER_INTERVAL = 500  # these are shared by the categories of the cross


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of some numeric columns of a table.

    Attributes
    ----------
    columns : array of shape (k,)
        Indices of the columns, ascending.
    bins : Bins
        Borders of the intervals.
    """

    columns: Integers
    bins: Bins

    @classmethod
    def fit(cls, bins: Bins, codes: Bytes, weight: Floats, columns: Integers) -> "Intervals":
        """Find intervals of about equal weight, at borders of the bins.

        Parameters
        ----------
        bins : Bins
            Bins of the numeric columns.
        codes : array of shape (n, k)
            Binned rows.
        weight : array of shape (n,)
        columns : array of shape (k,)
            Indices of these columns in the table.
        """
        coarse = Bins.fit(np.where(codes == 0, np.nan, codes), weight, _n_intervals(len(codes)))
        borders = []
        for position in range(len(columns)):
            left_bins = np.floor(coarse.borders_of(position)).astype(np.int64)
            borders.append(bins.borders_of(position)[left_bins - 1])
        return cls(columns, Bins.of_columns(borders))

    def select(self, columns: Integers) -> "Intervals":
        """Return the intervals of some of the columns."""
        positions = np.searchsorted(self.columns, columns)
        return Intervals(columns, self.bins.select(positions.tolist()))

    def codes(self, X: AnyArray) -> dict[int, Integers]:
        """Return the interval of each row, by column index; 0 for a missing value."""
        if not len(self.columns):
            return {}
        codes = self.bins.transform(np.ascontiguousarray(X[:, self.columns], dtype=np.float64))
        return {column: codes[:, position].astype(np.int64) for position, column in enumerate(self.columns.tolist())}

    def add_sizes(self, sizes: Integers) -> Integers:
        """Return the number of codes per column, given that of the categorical columns."""
        all_sizes = sizes.copy()
        all_sizes[self.columns] = self.bins.counts
        return all_sizes

    def to_file(self) -> dict[str, AnyArray]:
        """Return the arrays of a model file."""
        return {"cut_columns": self.columns, "cut_borders": self.bins.borders, "cut_offsets": self.bins.offsets}

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray], sizes: Integers) -> "Intervals":
        """Build intervals from the arrays of a model file; raise ValueError if they are inconsistent.

        ``sizes`` is the number of codes per column, 0 for a numeric column.
        """
        columns = arrays["cut_columns"]
        require_facts(
            {"cut_columns must be a one-dimensional int64 array": columns.dtype == np.int64 and columns.ndim == 1}
        )
        bins = Bins.from_file(arrays["cut_borders"], arrays["cut_offsets"])
        facts = {
            "cut_columns must ascend": bool((np.diff(columns) > 0).all()),
            "cut_columns must be numeric columns": bool(np.isin(columns, np.flatnonzero(sizes == 0)).all()),
            "cut_borders must have borders for each of cut_columns": bins.n_features == len(columns),
        }
        require_facts(facts)
        return cls(columns, bins)


def _n_intervals(n_rows: int) -> int:
    """Return the number of intervals per column."""
    return max(_MIN_INTERVALS, min(_MAX_INTERVALS, n_rows // _ROWS_PER_INTERVAL))
