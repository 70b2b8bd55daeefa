"""Bins of a table in partitions that are the same however the table is cut, for engines of single precision.

Floats in single precision have an order that 32 whole bits can keep. Of a column the distinct values are counted; while
they are too many, all of them lose their last bit. What is left is a function of the values alone: neither the cut of
the table nor the order of merging matters to it. Weights are counted in whole numbers, so that their sums are exact.

>>> import numpy as np
>>> halves = [Counts.of(np.array(part, dtype=np.float32)) for part in ([1.0, 2.0], [2.0, 4.0])]
>>> Counts.merged(halves).values
array([1., 2., 4.], dtype=float32)
>>> Counts.merged(halves).weights
array([1, 2, 1])
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._typing import AnyArray

MOST_VALUES = 1 << 16
"""Distinct values of a column that are told apart for certain."""

_SIGN = np.uint32(1 << 31)
_GRID = 1 << 30  # what the heaviest row counts for: sums of 2^32 rows fit into 63 bits


@dataclass(frozen=True, slots=True)
class Counts:
    """Distinct values of a column, ascending, and what the rows that have them count for.

    Attributes
    ----------
    keys : uint32 array of shape (values,)
        The lowest key that looks the same without the last ``lost`` bits.
    weights : int64 array of shape (values,)
    lost : int
        Bits that keys have lost.
    """

    keys: AnyArray
    weights: AnyArray
    lost: int

    @classmethod
    def of(cls, column: AnyArray, weights: AnyArray | None = None) -> "Counts":
        """Count the values of a column in single precision, missing ones left out; whole weights, or one a row."""
        known = ~np.isnan(column)
        keys = _keys(column[known])
        return _counted(keys, np.ones(len(keys), dtype=np.int64) if weights is None else weights[known], 0)

    @classmethod
    def merged(cls, counts: Sequence["Counts"]) -> "Counts":
        """Return the counts of all rows."""
        keys, weights = (np.concatenate([getattr(one, name) for one in counts]) for name in ("keys", "weights"))
        return _counted(keys, weights, max(one.lost for one in counts))

    @property
    def values(self) -> AnyArray:
        """The values, each the least that looks the same."""
        lowest = _keys(np.array([-np.inf], dtype=np.float32))[0] + np.uint32(1)
        keys = np.maximum(self.keys, lowest)
        values: AnyArray = np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float32)
        return values

    def stand_ins(self, max_bins: int) -> AnyArray:
        """Return the least value of each of at most so many bins, which hold about the same weight each."""
        values = self.values
        borders = Bins.fit(values.astype(np.float64)[:, np.newaxis], self.weights.astype(np.float64), max_bins).borders
        least: AnyArray = values[np.searchsorted(values, borders, side="right")]
        return np.concatenate([values[:1], least])


@dataclass(frozen=True, slots=True)
class StandIns:
    """For each column the values, ascending, that stand for its bins: each the least of its bin."""

    columns: tuple[AnyArray, ...]

    def of(self, table: AnyArray) -> AnyArray:
        """Return a table in single precision with each value replaced by what stands for its bin.

        A value is less than a stand-in if and only if what stands for it is; so what is learned from the one holds for
        the other.
        """
        replaced = np.empty(table.shape, dtype=np.float32)
        codes = self._bins().transform(table)
        for place, values in enumerate(self.columns):
            replaced[:, place] = np.concatenate([np.array([np.nan], dtype=np.float32), values])[codes[:, place]]
        return replaced

    def _bins(self) -> Bins:
        below = [np.nextafter(values[1:], np.float32(-np.inf)).astype(np.float64) for values in self.columns]
        return Bins.of_columns(below)


def whole_weights(weight: AnyArray, lightest: float, heaviest: float) -> AnyArray | None:
    """Return weights as whole numbers; None if all are the same."""
    if lightest == heaviest:
        return None
    return np.maximum(np.rint(weight * (_GRID / heaviest)), 1.0).astype(np.int64)


def merged_columns(columns: Sequence[Sequence[Counts]]) -> tuple[Counts, ...]:
    """Return the counts of each column over all partitions."""
    return tuple(Counts.merged(each) for each in zip(*columns, strict=True))


def _keys(values: AnyArray) -> AnyArray:
    bits: AnyArray = (np.asarray(values, dtype=np.float32) + np.float32(0.0)).view(np.uint32)  # there is one zero
    return np.where(bits & _SIGN, ~bits, bits ^ _SIGN)


def _counted(keys: AnyArray, weights: AnyArray, lost: int) -> Counts:
    """Put equal keys together, having taken so many bits off them that they are few enough."""
    order = np.argsort(keys, kind="stable")
    keys, weights = keys[order], weights[order]
    short = keys >> np.uint32(lost)
    while np.count_nonzero(short[1:] != short[:-1]) >= MOST_VALUES:
        lost += 1
        short = keys >> np.uint32(lost)
    if not len(short):
        return Counts(short, weights, lost)
    firsts = np.flatnonzero(np.concatenate([[True], short[1:] != short[:-1]]))
    return Counts(short[firsts] << np.uint32(lost), np.add.reduceat(weights, firsts), lost)


def counts_of(table: AnyArray, weights: AnyArray | None) -> tuple[Any, ...]:
    """Return the counts of each column of a table."""
    return tuple(Counts.of(column, weights) for column in table.T)
