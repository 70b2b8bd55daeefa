"""Bins of a table in partitions that do not depend on the partitioning, in single precision.

The bits of a float in single precision, reordered, are an integer key of the same order. The distinct keys of a column
are counted. If there are too many, the lowest bit of all keys is dropped until there are few enough. The result depends
on the values alone, neither on the partitioning nor on the order of merging. Weights are rounded to integers, so that
their sums are exact.

>>> import numpy as np
>>> halves = [np.array(half, dtype=np.float32) for half in ([1.0, 2.0], [2.0, 4.0])]
>>> merged = ValueCounts.merge([ValueCounts.from_column(half) for half in halves])
>>> merged.values
array([1., 2., 4.], dtype=float32)
>>> merged.weights
array([1, 2, 1])
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._typing import AnyArray, Floats32, Integers

MAX_DISTINCT = 1 << 16
"""Number of distinct values of a column up to which the counts are exact."""

_SIGN = np.uint32(1 << 31)
_MAX_WEIGHT = 1 << 30  # of a row, as an integer: the sum over 2^32 rows fits into 63 bits


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """Distinct values of a column and the weight of the rows that have them.

    Attributes
    ----------
    keys : uint32 array of shape (values,)
        Ascending; the dropped bits are zero.
    weights : int64 array of shape (values,)
    dropped_bits : int
        Number of low bits that were dropped from all keys.
    """

    keys: AnyArray
    weights: Integers
    dropped_bits: int

    @classmethod
    def from_column(cls, column: Floats32, weights: Integers | None = None) -> "ValueCounts":
        """Count the values of a column, without missing ones; rows have weight one by default."""
        known = ~np.isnan(column)
        keys = _float_keys(column[known])
        return _count_keys(keys, np.ones(len(keys), dtype=np.int64) if weights is None else weights[known], 0)

    @classmethod
    def merge(cls, counts: Sequence["ValueCounts"]) -> "ValueCounts":
        """Return the counts of the rows of all counts."""
        keys = np.concatenate([each.keys for each in counts])
        weights = np.concatenate([each.weights for each in counts])
        return _count_keys(keys, weights, max(each.dropped_bits for each in counts))

    @property
    def values(self) -> Floats32:
        """The smallest finite value of each key."""
        lowest = _float_keys(np.array([-np.inf], dtype=np.float32))[0] + np.uint32(1)
        keys = np.maximum(self.keys, lowest)
        values: Floats32 = np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float32)
        return values

    def bin_minima(self, max_bins: int) -> Floats32:
        """Return the smallest value of each bin, for at most ``max_bins`` bins of about equal weight."""
        values = self.values
        borders = Bins.fit(values.astype(np.float64)[:, np.newaxis], self.weights.astype(np.float64), max_bins).borders
        return np.concatenate([values[:1], values[np.searchsorted(values, borders, side="right")]])


@dataclass(frozen=True, slots=True)
class BinMinima:
    """The smallest values of the bins of each column, ascending."""

    columns: tuple[Floats32, ...]

    def transform(self, table: AnyArray) -> Floats32:
        """Return a table of floats with each value replaced by the smallest one of its bin; NaN stays NaN.

        A value is less than the minimum of a bin if and only if its replacement is. So a split that is learned from
        the replacements holds for the values.
        """
        replaced = np.empty(table.shape, dtype=np.float32)
        codes = self._bins().transform(table)
        for position, minima in enumerate(self.columns):
            replaced[:, position] = np.concatenate([np.array([np.nan], dtype=np.float32), minima])[codes[:, position]]
        return replaced

    def _bins(self) -> Bins:
        """Return bins whose borders are the largest floats below the minima."""
        borders = [np.nextafter(minima[1:], np.float32(-np.inf)).astype(np.float64) for minima in self.columns]
        return Bins.of_columns(borders)


def integer_weights(weight: AnyArray, smallest: float, largest: float) -> Integers | None:
    """Return weights as integers; None if all weights of the table are equal.

    Parameters
    ----------
    weight : array of shape (n,)
    smallest, largest : float
        Extremes of the positive weights of the whole table.
    """
    if smallest == largest:
        return None
    return np.maximum(np.rint(weight * (_MAX_WEIGHT / largest)), 1.0).astype(np.int64)


def merge_columns(counts: Sequence[Sequence[ValueCounts]]) -> tuple[ValueCounts, ...]:
    """Return the counts of each column over all partitions."""
    return tuple(ValueCounts.merge(column) for column in zip(*counts, strict=True))


def _float_keys(values: Floats32) -> AnyArray:
    """Return unsigned integers in the order of the values."""
    bits: AnyArray = (np.asarray(values, dtype=np.float32) + np.float32(0.0)).view(np.uint32)  # -0.0 becomes 0.0
    return np.where(bits & _SIGN, ~bits, bits ^ _SIGN)


def _count_keys(keys: AnyArray, weights: Integers, dropped_bits: int) -> ValueCounts:
    """Drop low bits until the distinct keys are few enough, then sum the weights of equal keys."""
    order = np.argsort(keys, kind="stable")
    keys, weights = keys[order], weights[order]
    shifted = keys >> np.uint32(dropped_bits)
    while np.count_nonzero(shifted[1:] != shifted[:-1]) >= MAX_DISTINCT:
        dropped_bits += 1
        shifted = keys >> np.uint32(dropped_bits)
    if not len(shifted):
        return ValueCounts(shifted, weights, dropped_bits)
    firsts = np.flatnonzero(np.concatenate([[True], shifted[1:] != shifted[:-1]]))
    return ValueCounts(shifted[firsts] << np.uint32(dropped_bits), np.add.reduceat(weights, firsts), dropped_bits)
