"""Test for drift: whether a batch of rows comes from the distribution of reference rows, and which columns differ.

The effect size of a column is a distance between its values in the batch and in the reference, from 0 to 1. For numbers
it is the Kolmogorov–Smirnov distance, the largest difference between the two distribution functions. For categories it
is the total variation distance, half the sum of the absolute differences of the category shares.

These distances hardly see a few rows of an unusual kind. P-values are therefore those of the Anderson–Darling
statistic for numbers, which weighs differences in the tails more, and of Pearson's chi-square for categories, which
weighs rare categories more. They come from permutations: the batch is compared with random draws of as many rows from
the pooled rows.

Statistics of different columns are made comparable by their rank among the permutations (Westfall and Young's min-P).
Ranks alone are too coarse for many columns: with 999 permutations and 30 independent columns, the smallest joint
p-value would be about 0.03. The upper tail of each column is therefore continued by an exponential distribution. The
observed batch counts as one of the permutations throughout, so the p-values are exact whatever the tail is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from epiboost._posterior.frames import Frame, FrameBackend, make_frame
from epiboost._typing import AnyArray, Floats, Integers

_MOST_BINS = 256  # per column; a Kolmogorov–Smirnov distance at 256 quantiles is at most about 1/256 too small
_MOST_ROWS = 50_000  # of the batch and of the reference
_MOST_CELLS = 200_000_000  # cells counted over all permutations, about one second
_FEWEST_ROWS = 1000  # that are kept, however many columns there are
_BLOCK_CELLS = 1 << 20  # cells in memory at a time
_TAIL_SHARE, _FEWEST_IN_TAIL = 0.02, 10
_SHOWN_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class ColumnDrift:
    """Drift of one column.

    Attributes
    ----------
    name : str
    effect : float
        Distance between the column's values in the batch and in the reference, from 0 to 1: Kolmogorov–Smirnov for
        numbers, total variation for categories.
    p_value : float
        Adjusted for the number of columns. If columns are reported whose adjusted p-value is at most α, the probability
        of reporting any column without drift is at most α.
    p_value_alone : float
        Not adjusted: the p-value if this were the only column.
    """

    name: str
    effect: float
    p_value: float
    p_value_alone: float


@dataclass(frozen=True, slots=True, repr=False)
class DriftTest:
    """Result of a test whether a batch of rows comes from another distribution.

    Attributes
    ----------
    p_value : float
        The smallest adjusted p-value of the columns. Without drift it is uniform on 1/(B + 1), ..., 1 for B
        permutations, or larger if columns have few different values.
    n_rows : int
        Number of rows of the batch.
    columns : tuple of ColumnDrift
        The strongest evidence first.
    share_outside : float
        Share of the batch that is out of domain; NaN if not known.
    """

    p_value: float
    n_rows: int
    columns: tuple[ColumnDrift, ...]
    share_outside: float = float("nan")

    def __repr__(self) -> str:
        """Return the p-value and the most shifted columns."""
        shown = ", ".join(
            f"{column.name}: {column.effect:.2f} (p={column.p_value:.3g})" for column in self.columns[:_SHOWN_COLUMNS]
        )
        more = ", ..." if len(self.columns) > _SHOWN_COLUMNS else ""
        return f"{type(self).__name__}(p={self.p_value:.3g}, {self.n_rows} rows; effects: {shown}{more})"

    def to_frame(self, backend: FrameBackend = "pandas") -> Frame:
        """Return a data frame with one row per column of the table, the strongest evidence first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            The library that makes the frame; it must be installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns ``column``, ``effect``, ``p_value`` and ``p_value_alone``.
        """
        columns: dict[str, AnyArray] = {"column": np.array([column.name for column in self.columns], dtype=object)}
        for part in ("effect", "p_value", "p_value_alone"):
            columns[part] = np.array([getattr(column, part) for column in self.columns])
        return make_frame(columns, backend)


def drift_test(
    reference: Floats,
    batch: Floats,
    *,
    names: Sequence[str],
    is_categorical: Sequence[bool],
    random_state: int | np.random.Generator = 0,
    n_permutations: int = 999,
    share_outside: float = float("nan"),
) -> DriftTest:
    """Test whether the rows of a batch and of a reference come from one distribution.

    Numbers are compared by the Anderson–Darling statistic, categories by Pearson's chi-square. The joint p-value and
    the adjusted p-values hold for any dependence between columns (step-down method of Westfall and Young).

    The time grows with the smaller of the two tables. Of each table at most 50,000 rows are used, and of the smaller
    one at most 200,000,000 / (d · n_permutations), but never less than 1000; they are drawn at random. Columns of more
    than 256 different numbers are compared at 256 quantiles. Of more than 256 categories the rarest are counted as one.

    Parameters
    ----------
    reference : array of shape (m, d)
        Rows without drift, at least one. Scores of a model must come from rows that it was not trained on.
    batch : array of shape (n, d)
        Rows to test, at least one.
    names : sequence of str
        Names of the d columns.
    is_categorical : sequence of bool
        Which of the d columns hold codes of categories: integers from 0, -1 for an unseen category. The codes must not
        be made from the reference, which would then hold no unseen category, but from other rows, such as those that a
        model was trained on. NaN is a missing value: a category of its own, and larger than all numbers.
    random_state : int or Generator, default=0
        Seed; the same seed gives the same p-values.
    n_permutations : int, default=999
        The smallest p-value is 1 / (n_permutations + 1).
    share_outside : float, default=NaN
        Share of the batch that is out of domain, as the result reports it.

    Raises
    ------
    ValueError
        If a table has no rows, or the numbers of columns differ.

    References
    ----------
    P. H. Westfall, S. S. Young: Resampling-Based Multiple Testing. Wiley, 1993.
    F. W. Scholz, M. A. Stephens: K-sample Anderson–Darling tests. JASA 82, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> reference, batch = rng.normal(size=(1000, 3)), rng.normal(size=(50, 3))
    >>> batch[:, 1] += 1.0
    >>> test = drift_test(reference, batch, names=["age", "income", "rooms"], is_categorical=[False] * 3)
    >>> test.p_value, test.columns[0].name
    (0.001, 'income')
    """
    reference, batch = check_rows(reference, len(names), "reference"), check_rows(batch, len(names), "batch")
    check_columns(names, is_categorical)
    if n_permutations < 1:
        message = f"n_permutations must be at least 1, got {n_permutations}"
        raise ValueError(message)
    rng = np.random.default_rng(random_state)
    most = max(_FEWEST_ROWS, _MOST_CELLS // (len(names) * n_permutations))
    small, large = sorted((_draw_rows(reference, _MOST_ROWS, rng), _draw_rows(batch, _MOST_ROWS, rng)), key=len)
    small = _draw_rows(small, most, rng)
    bins = _Bins.from_rows(np.concatenate([small, large]), np.asarray(is_categorical, dtype=bool))
    effects = _effects(bins, len(small))
    statistics = _statistics(bins, len(small), n_permutations, rng)
    scores = np.column_stack([_scores(column) for column in statistics.T])
    order = np.lexsort((-effects, -scores[0]))
    adjusted = _step_down(scores[:, order])
    alone = (statistics >= statistics[0]).mean(axis=0)[order]
    columns = tuple(
        ColumnDrift(str(names[column]), float(effects[column]), float(together), float(single))
        for column, together, single in zip(order, adjusted, alone, strict=True)
    )
    return DriftTest(columns[0].p_value, len(batch), columns, share_outside)


def check_rows(rows: Floats, n_columns: int, name: str) -> Floats:
    """Return rows as an array of floats, or raise ValueError if there is none or the number of columns differs."""
    rows = np.asarray(rows, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != n_columns or not len(rows):  # noqa: PLR2004 (rows and columns)
        message = f"{name} must have the shape (rows, {n_columns}) with at least one row, got {rows.shape}"
        raise ValueError(message)
    return rows


def check_columns(names: Sequence[str], is_categorical: Sequence[bool]) -> None:
    """Raise ValueError if there is no column, or there is not one kind per name."""
    if not len(names) or len(names) != len(is_categorical):
        message = (
            f"names and is_categorical must have one entry per column, at least one, got {len(names)} names and "
            f"{len(is_categorical)} kinds"
        )
        raise ValueError(message)


def _draw_rows(rows: Floats, most: int, rng: np.random.Generator) -> Floats:
    """Return the rows, or as many as allowed, drawn without replacement."""
    return rows if len(rows) <= most else rows[rng.choice(len(rows), most, replace=False)]


@dataclass(frozen=True, slots=True, eq=False)
class _Bins:
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


def _effects(bins: _Bins, n_small: int) -> Floats:
    """Return the distance between the first rows and the others, shape (d,)."""
    surplus = bins.surplus(np.arange(n_small)[None])[0]
    largest = np.maximum.reduceat(np.abs(surplus.cumsum()), bins.starts)
    summed = np.add.reduceat(np.abs(surplus), bins.starts)
    distances = np.where(bins.is_categorical, summed / 2, largest) / (n_small * (bins.n_rows - n_small))
    return np.asarray(distances, dtype=np.float64)


def _statistics(bins: _Bins, n_small: int, n_permutations: int, rng: np.random.Generator) -> Floats:
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


def _scores(statistics: Floats) -> Floats:
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


def _step_down(scores: Floats) -> Floats:
    """Return the adjusted p-value of each column, for scores of shape (permutations, d).

    Row 0 is observed, and its scores descend. Each column is compared with the largest score of the columns that are
    not stronger.
    """
    largest = np.maximum.accumulate(scores[:, ::-1], axis=1)[:, ::-1]
    p_values = (largest >= scores[0]).mean(axis=0)
    return np.asarray(np.maximum.accumulate(p_values), dtype=np.float64)
