"""Columns of numbers cut into intervals, so that they can make pairs with categories.

Trees cut numbers anywhere, but for all categories at once. Where the target of a category changes along a number, say
that of a shop from week to week, a tree would have to find the category first.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._files.checks import require_facts
from epiboost._typing import AnyArray, Bytes, Floats, Integers

_MOST_INTERVALS = 63
_LEAST_INTERVALS = 8
_ROWS_AN_INTERVAL = 500  # which the categories share among them


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where some columns of a table are cut.

    Attributes
    ----------
    columns : array of shape (k,)
        Their positions, ascending.
    bins : Bins
        The borders of these columns.
    """

    columns: Integers
    bins: Bins

    @classmethod
    def fit(cls, bins: Bins, codes: Bytes, weight: Floats, columns: Integers) -> "Cuts":
        """Cut columns into intervals of about the same weight, at borders of their bins.

        Parameters
        ----------
        bins : Bins
            Of the columns of numbers.
        codes : array of shape (n, k)
            The bins of the rows.
        weight : array of shape (n,)
        columns : array of shape (k,)
            Where these columns stand in the table.
        """
        coarse = Bins.fit(np.where(codes == 0, np.nan, codes), weight, _intervals(len(codes)))
        borders = []
        for place in range(len(columns)):
            own = np.floor(coarse.borders_of(place)).astype(np.int64)  # bins on the left of a border
            borders.append(bins.borders_of(place)[own - 1])
        return cls(columns, Bins.of_columns(borders))

    def only(self, columns: Integers) -> "Cuts":
        """Return the cuts of some of the columns."""
        places = np.searchsorted(self.columns, columns)
        return Cuts(columns, Bins.of_columns([self.bins.borders_of(place) for place in places]))

    def codes(self, X: AnyArray) -> dict[int, Integers]:
        """Return the interval of each row by the columns' positions; 0 for a missing value."""
        if not len(self.columns):
            return {}
        codes = self.bins.transform(np.ascontiguousarray(X[:, self.columns], dtype=np.float64))
        return {column: codes[:, place].astype(np.int64) for place, column in enumerate(self.columns.tolist())}

    def sizes(self, sizes: Integers) -> Integers:
        """Return how many codes each column has, given those of the categories."""
        all_sizes = sizes.copy()
        all_sizes[self.columns] = self.bins.counts
        return all_sizes

    def to_file(self) -> dict[str, AnyArray]:
        """Return the arrays that a model file must hold."""
        return {"cut_columns": self.columns, "cut_borders": self.bins.borders, "cut_offsets": self.bins.offsets}

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray], sizes: Integers) -> "Cuts":
        """Build cuts from the arrays of a model file; anything that does not fit together is a ValueError.

        ``sizes`` says how many codes each column has, 0 for a column of numbers.
        """
        columns = arrays["cut_columns"]
        require_facts({"cut_columns must be a row of whole numbers": columns.dtype == np.int64 and columns.ndim == 1})
        bins = Bins.from_file(arrays["cut_borders"], arrays["cut_offsets"])
        facts = {
            "columns that are cut must ascend": bool((np.diff(columns) > 0).all()),
            "columns that are cut must hold numbers": bool(np.isin(columns, np.flatnonzero(sizes == 0)).all()),
            "every column that is cut must have borders": bins.n_features == len(columns),
        }
        require_facts(facts)
        return cls(columns, bins)


def _intervals(n_rows: int) -> int:
    """Return into how many intervals a column is cut."""
    return max(_LEAST_INTERVALS, min(_MOST_INTERVALS, n_rows // _ROWS_AN_INTERVAL))
