"""Novelty of rows: distance to the nearest training row, and the strangest single value.

The **distance** to the nearest of the kept training rows sums the distances of all columns; it finds values that do not
go together. The **strangest value** is the largest surprise of any single column; it finds values beyond the training
rows, in gaps between them, and new categories. Each is turned into its surprise, minus the logarithm of the probability
that a row of the domain has as large a value. The kept rows themselves, each compared with the others, tell that
probability, so no rows are held out.

>>> rng = np.random.default_rng(0)
>>> novelty = Novelty.fit(rng.normal(size=(500, 2)), [0, 0])
>>> novelty(np.array([[0.0, 0.1], [2.0, -2.0], [9.0, 0.0]])).round(1)
array([0.3, 4. , 6.4])
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from epiboost._display import short_repr
from epiboost._inputs.categories import UNSEEN
from epiboost._native import native
from epiboost._novelty.arrays import NoveltyArrays
from epiboost._novelty.scales import ColumnScales
from epiboost._novelty.surprise import Surprise
from epiboost._novelty.values import StrangeValues, new_categories, surprise_of_kept_rows
from epiboost._typing import AnyArray, Floats, Floats32, Integers

_BLOCK = 16_384  # rows that are compared at once, which bounds memory
_DIGITS = 5


@dataclass(frozen=True, slots=True, eq=False)
class NoveltyParts:
    """What makes rows novel.

    Attributes
    ----------
    distance : array of shape (n,)
        Surprise of the distance to the nearest kept row.
    strangest : array of shape (n,)
        Surprise of the strangest value of the row.
    nearest : integer array of shape (n,)
        Position of the nearest kept row.
    """

    distance: Floats
    strangest: Floats
    nearest: Integers

    @property
    def sum(self) -> Floats:
        """Sum of both surprises, shape (n,)."""
        return self.distance + self.strangest


@dataclass(frozen=True, slots=True, eq=False)
class _Comparison:
    """What rows are compared with, prepared from the arrays.

    Attributes
    ----------
    values : StrangeValues
    reference : array of shape (expanded columns, m)
    weight : array of shape (expanded columns,)
    distance, strangest, total : Surprise
        Of the distance to the nearest row, of the strangest value, and of the sum of their surprises.
    """

    values: StrangeValues
    reference: Floats32
    weight: Floats32
    distance: Surprise
    strangest: Surprise
    total: Surprise


@dataclass(frozen=True, eq=False)
class Novelty:
    """Measures how novel rows are.

    Attributes
    ----------
    arrays : NoveltyArrays
    """

    arrays: NoveltyArrays

    __repr__ = short_repr

    @cached_property
    def _comparison(self) -> _Comparison:
        """Prepared at the first use: many models are never asked."""
        arrays = self.arrays
        is_category = arrays.scales.weight > 0.0
        values = StrangeValues.fit(arrays.rows, arrays.ends, is_category, arrays.new_category, arrays.groups)
        expanded, weight = _expand(arrays.rows, arrays.scales, values.has_missing)
        distance, strangest = Surprise.of(arrays.distance), Surprise.of(arrays.strangest)
        total = Surprise.of(distance.left_out(arrays.distance) + strangest.left_out(arrays.strangest))
        return _Comparison(values, np.ascontiguousarray(expanded.T), weight, distance, strangest, total)

    @classmethod
    def fit(
        cls,
        table: AnyArray,
        n_codes: Sequence[int],
        *,
        groups: Integers | None = None,
        ranges: AnyArray | None = None,
        categories: tuple[Floats, AnyArray] | None = None,
        threads: int = 1,
    ) -> Self:
        """Return the novelty with respect to rows that are kept.

        Parameters
        ----------
        table : array of shape (m, features)
            At least two rows.
        n_codes : sequence of int
            Number of codes per column; 0 for numbers.
        groups : array of shape (m,), optional
            Rows of one group are not compared with each other; by default each row is a group of its own.
        ranges : array of shape (2, features), optional
            Smallest and largest value of each numeric column in all training rows; those of the table by default.
        categories : tuple, optional
            What `new_categories` returns for all training rows; for the table by default.
        threads : int
        """
        scales = ColumnScales.fit(np.asarray(table, dtype=np.float64), n_codes)
        rows = scales.transform(table)
        if ranges is None:
            ranges = np.stack([np.fmin.reduce(table), np.fmax.reduce(table)])
        own_groups = np.arange(len(table)) if groups is None else groups.astype(np.int64)
        new_category, is_single = categories or new_categories(table, n_codes, np.arange(len(table)), groups)
        ends, is_category = scales.transform(ranges), scales.weight > 0.0
        expanded, weight = _expand(rows, scales, np.asarray(np.isnan(rows).any(axis=0)))
        distance, _ = native().nearest_rows(expanded, np.ascontiguousarray(expanded.T), weight, own_groups, threads)
        distance = np.where(np.isfinite(distance), distance, np.float32(0.0))  # of one group alone
        strangest = surprise_of_kept_rows(rows, is_category, new_category, is_single, own_groups).max(axis=1)
        return cls(NoveltyArrays(rows, scales, ends, new_category, is_single, own_groups, distance, strangest))

    def __len__(self) -> int:
        """Return the number of kept rows."""
        return len(self.arrays.rows)

    def __call__(self, table: AnyArray) -> Floats:
        """Return the novelty of each row, in nats, shape (n,).

        It is minus the logarithm of the probability that a row of the domain is as novel: 3 means one row in twenty.
        """
        return self._comparison.total(self.parts(table).sum)

    def parts(self, table: AnyArray) -> NoveltyParts:
        """Return what makes each row novel.

        Parameters
        ----------
        table : array of shape (n, features)
            As `ColumnSchema.transform` returns it.
        """
        blocks = range(0, max(len(table), 1), _BLOCK)
        found = [self._parts(table[first : first + _BLOCK]) for first in blocks]
        distance, strangest, nearest = (np.concatenate(part) for part in zip(*found, strict=True))
        comparison = self._comparison
        return NoveltyParts(comparison.distance(distance), comparison.strangest(strangest), nearest)

    def columns(self, table: AnyArray) -> Floats:
        """Return the surprise of each value, shape (n, features)."""
        return self._comparison.values(self.arrays.scales.transform(table))

    def _parts(self, table: AnyArray) -> tuple[Floats32, Floats, Integers]:
        """Return the distance of the nearest kept row, the surprise of the strangest value, and that row's position."""
        scales, comparison = self.arrays.scales, self._comparison
        rows = scales.transform(table)
        expanded, _ = _expand(rows, scales, comparison.values.has_missing)
        no_groups = np.empty(0, dtype=np.int64)
        distance, nearest = native().nearest_rows(expanded, comparison.reference, comparison.weight, no_groups)
        newly_missing = np.isnan(rows) & ~comparison.values.has_missing & (scales.weight == 0.0)
        if newly_missing.any():
            distance = distance + newly_missing @ scales.missing_weight
        return distance, comparison.values(rows).max(axis=1, initial=0.0), nearest

    def nearest_rows(self, table: AnyArray, n_rows: int) -> Integers:
        """Return the positions of the nearest kept rows of each row, the nearest first, shape (n, n_rows)."""
        everyone = np.arange(len(self))
        found = np.empty((len(table), min(n_rows, len(self))), dtype=np.int64)
        for row in range(len(table)):
            distance = self.distances_to(table[row : row + 1], everyone).sum(axis=1)
            found[row] = np.argsort(distance, kind="stable")[: found.shape[1]]
        return found

    def of_kept_rows(self) -> Floats:
        """Return the sum of both surprises of each kept row, among the others, shape (m,)."""
        distance, strangest = self._comparison.distance, self._comparison.strangest
        return distance.left_out(self.arrays.distance) + strangest.left_out(self.arrays.strangest)

    def left_out_rows(self) -> Floats32:
        """Return the scaled kept rows as they would be read if each had been left out, shape (m, features).

        A category that no other training row has is then an unseen one.
        """
        return np.where(self.arrays.single, np.float32(UNSEEN), self.arrays.rows)

    def distances_to(self, table: AnyArray, nearest: Integers) -> Floats:
        """Return the distance of each row to a kept row, column by column, shape (n, features)."""
        scales, rows, other = self.arrays.scales, self.arrays.scales.transform(table), self.arrays.rows[nearest]
        both = np.isnan(rows) & np.isnan(other)
        differs = np.where(rows == other, 0.0, scales.weight)
        numbers = np.where(np.isnan(rows) | np.isnan(other), scales.missing_weight, np.abs(rows - other))
        return np.where(both, 0.0, np.where(scales.weight > 0.0, differs, numbers)).astype(np.float64)

    def kept_rows(self, positions: Integers) -> Floats:
        """Return kept rows in the units of the table, to six digits of their column's spread, shape (k, features)."""
        rows = self.arrays.rows[positions].astype(np.float64)
        scales = self.arrays.scales
        digits = np.clip(_DIGITS - np.floor(np.log10(scales.spread)), -300, 300)
        step = 10.0**-digits
        numbers = np.round((rows * scales.spread + scales.centre) / step)
        return np.where(scales.weight > 0.0, rows, np.where(digits > 0, numbers / 10.0**digits, numbers * step))

    def to_file(self) -> dict[str, AnyArray]:
        """Return the arrays of a model file."""
        return self.arrays.to_file()

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray], n_codes: Sequence[int]) -> "Novelty | None":
        """Return the novelty that `to_file` described; None if the file has none, a ValueError if it is not valid."""
        read = NoveltyArrays.from_file(arrays, n_codes)
        return None if read is None else cls(read)


def _expand(rows: Floats32, scales: ColumnScales, missing: AnyArray) -> tuple[Floats32, Floats32]:
    """Return rows and weights of columns without missing values.

    A missing number is replaced by the centre. If numbers of a column were missing in training, another column says
    which. Missing categories get a code of their own.
    """
    is_number = scales.weight == 0.0
    filled = np.where(np.isnan(rows), np.where(is_number, np.float32(0.0), np.float32(-2.0)), rows)
    flagged = np.flatnonzero(missing & is_number)
    values = np.concatenate([filled, np.isnan(rows[:, flagged])], axis=1, dtype=np.float32)
    return np.ascontiguousarray(values), np.concatenate([scales.weight, scales.missing_weight[flagged]])
