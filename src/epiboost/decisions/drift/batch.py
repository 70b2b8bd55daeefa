"""Test for drift: whether a batch of rows comes from the distribution of reference rows, and which columns differ.

The effect size of a column is a distance between its values in the batch and in the reference, from 0 to 1. For numbers
it is the Kolmogorov–Smirnov distance, the largest difference between the two distribution functions. For categories it
is the total variation distance, half the sum of the absolute differences of the category shares.

These distances hardly see a few rows of an unusual kind. P-values are therefore those of the Anderson–Darling
statistic for numbers, which weighs differences in the tails more, and of Pearson's chi-square for categories, which
weighs rare categories more. They come from permutations: the batch is compared with random draws of as many rows from
the pooled rows.

Columns are compared with each other, and p-values adjusted, in `permutations`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._display import html_table
from epiboost._posterior.frames import Frame, FrameBackend, make_frame
from epiboost._typing import AnyArray, Floats
from epiboost.decisions.drift.permutations import (
    Bins,
    column_effects,
    permuted_statistics,
    step_down_p_values,
    tail_scores,
)

_MOST_ROWS = 50_000  # of the batch and of the reference
_MOST_CELLS = 200_000_000  # cells counted over all permutations, about one second
_FEWEST_ROWS = 1000  # that are kept, however many columns there are
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

    def _repr_html_(self) -> str:
        """Return a table of the columns with the strongest evidence, for notebooks."""
        return html_table(repr(self), self._parts(), None, len(self.columns))

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
        return make_frame(self._parts(), backend)

    def _parts(self) -> dict[str, AnyArray]:
        parts: dict[str, AnyArray] = {"column": np.array([column.name for column in self.columns], dtype=object)}
        for part in ("effect", "p_value", "p_value_alone"):
            parts[part] = np.array([getattr(column, part) for column in self.columns])
        return parts


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
    bins = Bins.from_rows(np.concatenate([small, large]), np.asarray(is_categorical, dtype=bool))
    effects = column_effects(bins, len(small))
    statistics = permuted_statistics(bins, len(small), n_permutations, rng)
    scores = np.column_stack([tail_scores(column) for column in statistics.T])
    order = np.lexsort((-effects, -scores[0]))
    adjusted = step_down_p_values(scores[:, order])
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
