"""Encoding of categorical columns as numbers that trees can split on.

=============================== =====================================================================================
categorical column              encoding
=============================== =====================================================================================
at most two values              passthrough
few values, many rows           ordinal: by mean target if that differs by more than chance, else by name; and by
                                frequency
few values, few rows            one-hot
many values                     target: ordered mean target (see `target_statistics`), frequency and, for regression,
                                the mean absolute deviation of the targets from that mean
=============================== =====================================================================================

Selected feature crosses of two or three columns (see `crosses`), of which one may be numeric (see `intervals`), get an
ordered mean target and a frequency too. With more than two classes, there is one mean target for each of the most
common classes, and one for each binary digit of the index of the other classes.

Ordered means of training rows depend on a random order of the rows. Each member has its own order; on large tables,
members share a few. A row to be predicted is encoded with statistics of all training rows. An unseen value gets the
prior; an ensemble does better, see `Encoding.impute_unseen`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from epiboost._encoding.intervals import Intervals
from epiboost._encoding.lookup import ValueLookup, codes_of, lookups_from_file, lookups_to_file
from epiboost._typing import AnyArray, Floats, Integers

_GOLDEN_RATIO = (5.0**0.5 - 1.0) / 2.0  # multiples of it, modulo one, are spread evenly over [0, 1)
_MAX_SHARE = 0.85  # of one value among the draws: of ten members, at least one then draws another value


@dataclass(frozen=True, slots=True)
class EncodedValues:
    """What the known values are encoded as, in numbers or in bins.

    Attributes
    ----------
    encoded : tuple of arrays of shape (m + 1, width)
        For each lookup; the last row is for unseen values.
    passthrough : mapping of arrays of shape (m,)
        For lookups of passthrough columns, by the position of the lookup.
    """

    encoded: tuple[AnyArray, ...]
    passthrough: Mapping[int, AnyArray]


@dataclass(frozen=True, slots=True)
class Encoding:
    """Maps a table with categories to a table of numbers.

    Attributes
    ----------
    sizes : array of shape (features,)
        Number of codes per column, including the one for missing values; 0 for a numeric column.
    passthrough : array of shape (p,)
        Indices of the columns that are not encoded. They come first in the encoded table.
    lookups : tuple of ValueLookup
        Categorical columns, then crosses, in the order of the encoded columns.
    intervals : Intervals
        Intervals of the numeric columns that are part of crosses.
    seed : int
        Seed of the draws of `impute_unseen`.
    """

    sizes: Integers
    passthrough: Integers
    lookups: tuple[ValueLookup, ...]
    intervals: Intervals
    seed: int
    _draws: dict[tuple[int, int], Integers] = field(default_factory=dict, init=False, repr=False, compare=False)
    _positions: dict[int, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def n_features(self) -> int:
        """Number of columns that a table must have."""
        return len(self.sizes)

    @property
    def n_encoded(self) -> int:
        """Number of columns of an encoded table."""
        return len(self.passthrough) + sum(lookup.width for lookup in self.lookups)

    @property
    def sources(self) -> tuple[tuple[int, ...], ...]:
        """The columns that each encoded column is made of: one, or those of a feature cross."""
        passthrough = [(column,) for column in self.passthrough.tolist()]
        return (*passthrough, *(lookup.columns for lookup in self.lookups for _ in range(lookup.width)))

    def transform(self, X: AnyArray) -> tuple[Floats, AnyArray]:
        """Encode a table.

        Returns
        -------
        table : array of shape (n, n_encoded)
        unseen : array of bool, of shape (n,)
            Whether the row has a category that was not seen in training.
        """
        codes, sizes = self.codes(X)
        values = self.values()
        table, unseen = np.empty((len(X), self.n_encoded), order="F"), np.zeros(len(X), dtype=bool)
        table[:, : len(self.passthrough)] = X[:, self.passthrough]
        end = len(self.passthrough)
        for position, (lookup, encoded) in enumerate(zip(self.lookups, values.encoded, strict=True)):
            found = lookup.find(codes, sizes)
            begin, end = end, end + lookup.width
            table[:, begin:end] = encoded[found]
            if not lookup.is_cross:
                is_new = found == len(lookup.keys)
                unseen |= is_new
                if not lookup.width:  # an unseen value of a passthrough column becomes the most common value
                    table[is_new, self.passthrough_position(lookup)] = values.passthrough[position][
                        lookup.weights.argmax()
                    ]
        return table, unseen

    def has_unseen_codes(self, X: AnyArray) -> bool:
        """Return whether a row has a category that the schema does not know. Takes a fraction of an encoding's time."""
        return bool((X[:, self.sizes > 0] < 0.0).any())

    def codes(self, X: AnyArray) -> tuple[dict[int, Integers], Integers]:
        """Return the codes of categorical columns and of intervals, by column index, and the number of codes."""
        return codes_of(X, self.sizes) | self.intervals.codes(X), self.intervals.add_sizes(self.sizes)

    def values(self) -> EncodedValues:
        """Return the numbers that values are encoded as."""
        passthrough = {
            position: self._passthrough_values(lookup)
            for position, lookup in enumerate(self.lookups)
            if not lookup.width
        }
        return EncodedValues(tuple(lookup.values for lookup in self.lookups), passthrough)

    def impute_unseen(
        self, X: AnyArray, encoded: AnyArray, n_members: int, values: EncodedValues | None = None
    ) -> Iterator[AnyArray]:
        """Yield one encoded table per member, in which known values replace unseen ones.

        The effect of a new value is a draw from the effects of known values. So each member replaces an unseen value by
        the value of a training row. Training rows are sorted by their value's statistic and the members are spread
        evenly over them, the first members at the same positions whatever their number. Members then disagree as much
        as the values differ, and their mean is close to the prior. Crosses with an unseen value stay unseen.

        Each yielded array, of shape (n, n_encoded), is overwritten by the next.

        Parameters
        ----------
        X : array of shape (n, features)
        encoded : array of shape (n, n_encoded)
            What `transform` returns for it, or its bins.
        n_members : int
        values : EncodedValues, optional
            What to write, in the units of ``encoded``; numbers by default.
        """
        imputations = list(self._imputations(codes_of(X, self.sizes), n_members, values or self.values()))
        imputed = np.array(encoded, order="F")
        for member in range(n_members):
            for column, rows, drawn in imputations:
                imputed[rows, column] = drawn[member]
            yield imputed

    def _imputations(
        self, codes: Mapping[int, Integers], n_members: int, values: EncodedValues
    ) -> Iterator[tuple[int, Integers, AnyArray]]:
        """Yield encoded columns with their rows of unseen values and the replacements, one per member."""
        end = len(self.passthrough)
        for position, (lookup, encoded) in enumerate(zip(self.lookups, values.encoded, strict=True)):
            begin, end = end, end + lookup.width
            if lookup.is_cross:
                return  # crosses come last
            rows = np.flatnonzero(lookup.find(codes, self.sizes) == len(lookup.keys)).astype(np.int64)
            if not len(rows):
                continue
            drawn = self._draw(lookup, n_members)
            for column, column_values in zip(range(begin, end), encoded.T, strict=True):
                yield column, rows, column_values[drawn]
            if not lookup.width:
                yield self.passthrough_position(lookup), rows, values.passthrough[position][drawn]

    def passthrough_position(self, lookup: ValueLookup) -> int:
        """Return the position of a passthrough column in the encoded table."""
        if not self._positions:
            self._positions.update({column: position for position, column in enumerate(self.passthrough.tolist())})
        return self._positions[lookup.columns[0]]

    def _passthrough_values(self, lookup: ValueLookup) -> Floats:
        """Return the values of a passthrough column: codes, and NaN for a missing value."""
        return np.where(lookup.keys == self.sizes[lookup.columns[0]] - 1, np.nan, lookup.keys)

    def _draw(self, lookup: ValueLookup, n_members: int) -> Integers:
        """Return the position of a known value for each member; cached."""
        key = lookup.columns[0], n_members
        if key not in self._draws:
            self._draws[key] = _draw_values(lookup, n_members, self.seed)
        return self._draws[key]

    def to_file(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Return the header and the arrays of a model file."""
        arrays = {"category_sizes": self.sizes, "plain_columns": self.passthrough}
        return {"seed": self.seed}, arrays | lookups_to_file(self.lookups) | self.intervals.to_file()

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "Encoding":
        """Build an encoding from the parts of a model file; raise ValueError if they are inconsistent."""
        sizes, passthrough = arrays["category_sizes"], arrays["plain_columns"]
        for name, array in (("category_sizes", sizes), ("plain_columns", passthrough)):
            if array.dtype != np.int64 or array.ndim != 1 or (array < 0).any():
                message = f"{name} must be a one-dimensional int64 array without negative numbers"
                raise ValueError(message)
        intervals = Intervals.from_file(arrays, sizes)
        lookups = lookups_from_file(arrays, intervals.add_sizes(sizes))
        single = [lookup.columns[0] for lookup in lookups if not lookup.is_cross]
        not_encoded = [*np.flatnonzero(sizes == 0), *(lookup.columns[0] for lookup in lookups if not lookup.width)]
        if single != np.flatnonzero(sizes).tolist() or sorted(not_encoded) != sorted(passthrough):
            message = "every column must be encoded exactly once; check group_columns and plain_columns"
            raise ValueError(message)
        if type(header["seed"]) is not int or header["seed"] < 0:
            message = f"the seed must be an integer of at least 0; got {header['seed']!r}"
            raise ValueError(message)
        return cls(sizes, passthrough, lookups, intervals, header["seed"])


def _draw_values(lookup: ValueLookup, n_members: int, seed: int) -> Integers:
    """Return positions of known values, spread evenly over the rows in the order of the values' statistics."""
    order = np.argsort(lookup.values[:-1, 0], kind="stable") if lookup.width else np.arange(len(lookup.keys))
    cumulative = np.cumsum(_shares(lookup.weights[order]))
    start = np.random.default_rng([seed, lookup.columns[0]]).uniform()
    quantiles = (start + _GOLDEN_RATIO * np.arange(n_members)) % 1.0
    drawn: Integers = order[np.minimum(np.searchsorted(cumulative, quantiles), len(order) - 1)]
    return drawn


def _shares(weights: Floats) -> Floats:
    """Return each value's share of the weight, with the share of the most common value limited to `_MAX_SHARE`."""
    shares: Floats = weights / weights.sum()
    common = int(shares.argmax())
    if shares[common] > _MAX_SHARE and len(shares) > 1:
        shares *= (1.0 - _MAX_SHARE) / (1.0 - shares[common])
        shares[common] = _MAX_SHARE
    return shares
