"""Statistics of columns, and their p-values by permutations of the pooled rows.

Statistics of different columns are made comparable by their rank among the permutations (Westfall and Young's min-P).
Ranks alone are too coarse for many columns: with 999 permutations and 30 independent columns, the smallest joint
p-value would be about 0.03. The upper tail of each column is therefore continued by an exponential distribution. The
observed batch counts as one of the permutations throughout, so the p-values are exact whatever the tail is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from epiboost._typing import AnyArray, Floats, Integers

_MOST_BINS = 256  # per column; a Kolmogorov–Smirnov distance at 256 quantiles is at most about 1/256 too small
_TAIL_SHARE, _FEWEST_IN_TAIL = 0.02, 10
_BLOCK_CELLS = 1 << 20  # cells in memory at a time


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """The pooled rows, each column as bins; the bins are numbered over all columns.

    Attributes
    ----------
    codes : integer array of shape (n, d)
    starts : integer array of shape (d,)
        The first bin of each column.
    totals : integer array of shape (bins,)
        Number of rows per bin, at least one.
    is_categorical : array of shape (d,)
    """

    codes: Integers
    starts: Integers
    totals: Integers
    is_categorical: AnyArray

    @classmethod
    def from_rows(cls, rows: Floats, is_categorical: AnyArray) -> Self:
        """Divide the columns of rows, shape (n, d), into bins."""
        codes = np.empty(rows.shape, dtype=np.int64)
        starts = np.empty(rows.shape[1], dtype=np.int64)
        start = 0
        for column, values in enumerate(rows.T):
            found = _bin_categories(values) if is_categorical[column] else _bin_numbers(values)
            codes[:, column] = start + found
            starts[column] = start
            start += int(found.max()) + 1
        return cls(codes, starts, np.bincount(codes.ravel(), minlength=start), is_categorical)

    @property
    def n_rows(self) -> int:
        """Number of pooled rows."""
        return len(self.codes)

    def surplus(self, chosen: Integers) -> Integers:
        """Return how many more of k chosen rows are in each bin than expected, times n; shape (permutations, bins).

        Parameters
        ----------
        chosen : integer array of shape (permutations, k)
        """
        n_bins = len(self.totals)
        cells = self.codes[chosen] + n_bins * np.arange(len(chosen))[:, None, None]
        counts = np.bincount(cells.ravel(), minlength=n_bins * len(chosen)).reshape(len(chosen), n_bins)
        return np.asarray(self.n_rows * counts - chosen.shape[1] * self.totals, dtype=np.int64)


def column_effects(bins: Bins, n_small: int) -> Floats:
    """Return the distance between the first rows and the others, shape (d,)."""
    surplus = bins.surplus(np.arange(n_small)[None])[0]
    largest = np.maximum.reduceat(np.abs(surplus.cumsum()), bins.starts)
    summed = np.add.reduceat(np.abs(surplus), bins.starts)
    distances = np.where(bins.is_categorical, summed / 2, largest) / (n_small * (bins.n_rows - n_small))
    return np.asarray(distances, dtype=np.float64)


def permuted_statistics(bins: Bins, n_small: int, n_permutations: int, rng: np.random.Generator) -> Floats:
    """Return the statistics of the columns, shape (1 + permutations, d), the observed ones first."""
    n_columns, n_bins = len(bins.starts), len(bins.totals)
    is_categorical = np.repeat(bins.is_categorical, np.diff(bins.starts, append=n_bins))
    reached = bins.totals.cumsum() % bins.n_rows  # within the column; its last bin decides nothing
    weights = np.where(
        is_categorical, 1.0 / bins.totals, bins.totals / np.maximum(reached * (bins.n_rows - reached), 1)
    )
    block = max(1, _BLOCK_CELLS // max(n_small * n_columns, n_bins))
    statistics = []
    for chosen in _chosen_rows(bins.n_rows, n_small, n_permutations, block, rng):
        surplus = bins.surplus(chosen)
        # The surplus of each column sums to zero, so one cumulative sum serves all columns.
        differences = np.where(is_categorical, surplus, surplus.cumsum(axis=1)).astype(np.float64)
        statistics.append(np.add.reduceat(weights * differences**2, bins.starts, axis=1))
    return np.concatenate(statistics)


def _chosen_rows(n: int, k: int, n_permutations: int, block: int, rng: np.random.Generator) -> Iterator[Integers]:
    """Yield blocks of shape (permutations, k): the first k of n rows, then k rows drawn at random per permutation."""
    for start in range(0, n_permutations + 1, block):
        size = min(block, n_permutations + 1 - start)
        chosen = [rng.choice(n, k, replace=False, shuffle=False) for _ in range(size - (start == 0))]
        yield np.stack([np.arange(k), *chosen] if start == 0 else chosen)


def _bin_numbers(values: Floats) -> Integers:
    """Return the rank of each number, or its quantile bin; missing values are last.

    >>> import numpy as np
    >>> _bin_numbers(np.array([0.5, np.nan, -1.0, 0.5]))
    array([1, 2, 0, 1])
    """
    different, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(different) <= _MOST_BINS:
        return codes
    quantiles = (np.cumsum(counts) - counts) * (_MOST_BINS - 1) // len(values)
    quantiles[np.isnan(different)] = _MOST_BINS
    return np.asarray(np.unique(quantiles, return_inverse=True)[1][codes], dtype=np.int64)


def _bin_categories(values: Floats) -> Integers:
    """Return a number per category; the most frequent have their own, all others have one.

    Missing values and unseen categories (-1) are categories of their own.
    """
    different, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(different) <= _MOST_BINS:
        return codes
    is_kept = np.zeros(len(different), dtype=bool)
    is_kept[np.argsort(-counts, kind="stable")[: _MOST_BINS - 3]] = True
    is_kept |= np.isnan(different) | (different == -1.0)
    return np.asarray(np.where(is_kept, np.cumsum(is_kept), 0)[codes], dtype=np.int64)


def tail_scores(statistics: Floats) -> Floats:
    """Return the negative log p-value of each permutation among all; beyond the tail's start, of an exponential.

    Equal statistics have equal scores, and larger ones have larger scores.
    """
    n = len(statistics)
    ascending = np.sort(statistics)
    n_reached = n - np.searchsorted(ascending, statistics, side="left")
    scores = -np.log(n_reached / n)
    is_tail = n_reached <= max(_FEWEST_IN_TAIL, int(_TAIL_SHARE * n))
    if is_tail.any():
        excess = statistics[is_tail] - statistics[is_tail].min()
        if excess.any():
            scores[is_tail] = scores[is_tail].min() + excess / excess.mean()
    return np.asarray(scores, dtype=np.float64)


def step_down_p_values(scores: Floats) -> Floats:
    """Return the adjusted p-value of each column, for scores of shape (permutations, d).

    Row 0 is observed, and its scores descend. Each column is compared with the largest score of the columns that are
    not stronger.
    """
    largest = np.maximum.accumulate(scores[:, ::-1], axis=1)[:, ::-1]
    p_values = (largest >= scores[0]).mean(axis=0)
    return np.asarray(np.maximum.accumulate(p_values), dtype=np.float64)
