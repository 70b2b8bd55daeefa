"""Borders of bins from a table in partitions: a sketch of each column's distribution, which can be merged.

A sketch is a list of atoms, distinct values with the weight of the rows that have them. It is exact while they are few;
then so many atoms are kept, at evenly spaced ranks, each standing for its share of the weight. Sketches of partitions
are merged by putting their atoms together and thinning them again. Each thinning shifts a rank by at most half a share,
so the bins of a table in many partitions hold about the same weight each, within some hundredths of a bin.

>>> import numpy as np
>>> halves = [Sketch.of(np.arange(4.0)[:, np.newaxis]), Sketch.of(np.arange(2.0, 6.0)[:, np.newaxis])]
>>> merged = Sketch.merged(halves)
>>> merged.columns[0].values
array([0., 1., 2., 3., 4., 5.])
>>> merged.bins(max_bins=3).borders
array([2.5, 3.5])
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._optional import require
from epiboost._typing import AnyArray, Floats
from epiboost.distributed.partitions import Reader, computed, read_part

_MOST_ATOMS = 1 << 14  # some sixty for each of 255 bins
_AT_ONCE = 8  # sketches merged in one step


@dataclass(frozen=True, slots=True)
class Atoms:
    """Distinct values, ascending, and the weight of the rows that have them."""

    values: Floats
    weights: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats) -> "Atoms":
        """Put equal values together; thin them if they are many."""
        order = np.argsort(values, kind="stable")
        values, weights = values[order], weights[order]
        if not len(values):
            return cls(values, weights)
        firsts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        return cls(values[firsts], np.add.reduceat(weights, firsts)).thinned()

    @classmethod
    def counted(cls, values: Floats) -> "Atoms":
        """Return the atoms of rows of weight one."""
        values = np.sort(values)
        changes = values[1:] != values[:-1]
        share = 1.0
        if np.count_nonzero(changes) >= _MOST_ATOMS:  # thinned before they are counted: what `thinned` would keep
            share = len(values) / _MOST_ATOMS
            values = values[np.ceil((np.arange(_MOST_ATOMS) + 0.5) * share).astype(np.int64) - 1]
            changes = values[1:] != values[:-1]
        firsts = np.flatnonzero(np.concatenate([[True] if len(values) else [], changes]))
        counts = np.diff(np.concatenate([firsts, [len(values)]]))
        return cls(values[firsts], counts * share)

    def thinned(self, most: int = _MOST_ATOMS) -> "Atoms":
        """Return at most so many atoms of equal shares, or these if they are no more."""
        if len(self.values) <= most:
            return self
        ranks = np.cumsum(self.weights)
        share = ranks[-1] / most
        chosen = np.searchsorted(ranks, (np.arange(most) + 0.5) * share)
        places, shares = np.unique(np.minimum(chosen, len(ranks) - 1), return_counts=True)
        return Atoms(self.values[places], shares * share)


@dataclass(frozen=True, slots=True)
class Sketch:
    """The distributions of all columns of some rows, missing values left out."""

    columns: tuple[Atoms, ...]

    @classmethod
    def of(cls, table: AnyArray, weight: Floats | None = None) -> "Sketch":
        """Sketch a table in memory, shape (n, features); rows of weight zero do not count."""
        return cls(tuple(_atoms(np.asarray(column, dtype=np.float64), weight) for column in table.T))

    @classmethod
    def merged(cls, sketches: Sequence["Sketch"]) -> "Sketch":
        """Return the sketch of all rows."""
        if len(sketches) == 1:
            return sketches[0]
        return cls(
            tuple(
                Atoms.of(np.concatenate([one.values for one in each]), np.concatenate([one.weights for one in each]))
                for each in zip(*(sketch.columns for sketch in sketches), strict=True)
            )
        )

    def bins(self, max_bins: int) -> Bins:
        """Return the borders that split each column's weight most evenly."""
        columns = [Bins.fit(atoms.values[:, np.newaxis], atoms.weights, max_bins) for atoms in self.columns]
        return Bins.of([column.borders.tolist() for column in columns], max_bins)


def sketch_partitions(
    parts: Sequence[Any], read: Reader, n_features: int, weights: Sequence[Floats] | None = None
) -> Sketch:
    """Sketch a table in partitions: each where it is read, merged a few at a time.

    Parameters
    ----------
    parts : sequence of Delayed
    weights : sequence of arrays of shape (n,), optional
        One a partition.
    """
    dask = require("dask", extra="dask", purpose="a table in partitions")
    reader = dask.delayed(read, pure=False, traverse=False)
    own = weights if weights is not None else [None] * len(parts)
    work = dask.delayed(_sketch, pure=False)
    level = [work(part, reader, n_features, weight) for part, weight in zip(parts, own, strict=True)]
    while len(level) > 1:
        level = [
            dask.delayed(Sketch.merged, pure=False)(level[first : first + _AT_ONCE])
            for first in range(0, len(level), _AT_ONCE)
        ]
    sketch: Sketch = computed(*level)[0]
    return sketch


def _sketch(part: Any, read: Reader, n_features: int, weight: Floats | None) -> Sketch:  # noqa: ANN401 (a table)
    return Sketch.of(read_part(part, read, n_features), weight)


def _atoms(column: Floats, weight: Floats | None) -> Atoms:
    known = ~np.isnan(column)
    if weight is None:
        return Atoms.counted(column[known])
    known &= weight > 0
    return Atoms.of(column[known], weight[known])
