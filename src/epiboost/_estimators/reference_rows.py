"""Training rows that a model keeps: they tell what is novel, and what the model does not know about rows of the domain.

Rows are chosen before training, since the engine may free the table. Afterwards the size of the trees is known, and no
more rows are kept than take the memory of the trees.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import entr

from epiboost._display import short_repr
from epiboost._estimators.out_of_fold.measurement import OutOfFold
from epiboost._files.requirements import require_arrays, require_facts
from epiboost._inputs.dataset import Dataset
from epiboost._inputs.feature_ranges import FeatureRanges
from epiboost._inputs.sparse_table import SparseTable
from epiboost._novelty.arrays import MIN_ROWS
from epiboost._novelty.novelty import Novelty
from epiboost._novelty.reference_rows import choose_rows
from epiboost._novelty.values import new_categories
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import AnyArray, Floats, Floats32, Integers

Measured = Callable[[AnyArray], Uncertainty]
"""Returns the uncertainty of rows of shape (n, features)."""

_BYTES_PER_NUMBER = 4
_NUMBERS_PER_ROW = 7  # beside its columns: distance, strangest value and group (of double size), total and error
_MIN_KEPT = 300  # with fewer, what is usual in the domain is not known; they may take more memory than small trees
_MAX_CELLS = 250_000  # bounds the time of a comparison with all kept rows


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceRows:
    """Training rows that a model keeps.

    Attributes
    ----------
    novelty : Novelty
        Novelty of rows with respect to these.
    total : array of shape (m,)
        Total uncertainty of each row, as if the members had not seen it; NaN if there are no out-of-fold chains.
    error : array of shape (m,)
        Absolute error of the out-of-fold chain, or whether its label is wrong; NaN if there is none.
    """

    novelty: Novelty
    total: Floats32
    error: Floats32

    __repr__ = short_repr

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.total)

    @property
    def table(self) -> Floats:
        """The rows as `ColumnSchema.transform` returns them, numbers to six digits, shape (m, features)."""
        return self.novelty.kept_rows(np.arange(len(self)))

    @property
    def is_measured(self) -> bool:
        """Whether rows have an out-of-fold uncertainty."""
        return bool(self.measured.any())

    @property
    def measured(self) -> AnyArray:
        """Which rows have an out-of-fold uncertainty, shape (m,)."""
        return np.isfinite(self.total)

    @property
    def measured_total(self) -> Floats:
        """Total uncertainty of the rows that have an out-of-fold one."""
        return self.total[self.measured].astype(np.float64)

    def novelty_of(self, table: AnyArray | SparseTable) -> Floats:
        """Return the novelty of each row; a sparse table is measured in blocks."""
        if isinstance(table, SparseTable):
            return np.concatenate([self.novelty(block) for block in table.blocks()])
        return self.novelty(table)

    def to_file(self) -> dict[str, AnyArray]:
        """Return the arrays of a model file."""
        return {**self.novelty.to_file(), "reference_total": self.total, "reference_error": self.error}

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray], n_codes: Sequence[int]) -> "ReferenceRows | None":
        """Return the rows that `to_file` described; None if the file has none, a ValueError if it is not valid."""
        novelty = Novelty.from_file(arrays, n_codes)
        if novelty is None:
            return None
        require_arrays(arrays, {"reference_total": (np.float32, 1), "reference_error": (np.float32, 1)})
        total, error = arrays["reference_total"], arrays["reference_error"]
        require_facts(
            {
                "there must be an uncertainty and an error for each kept row": (
                    total.shape == error.shape == (len(novelty),)
                ),
                "uncertainties and errors must not be negative or infinite": not any(
                    (np.isinf(part) | (part < 0.0)).any() for part in (total, error)
                ),
            }
        )
        return cls(novelty, total, error)


@dataclass(frozen=True, slots=True, eq=False)
class ChosenRows:
    """Training rows that were chosen to be kept.

    Attributes
    ----------
    positions : integer array of shape (m,)
    table : array of shape (m, features)
    y : array of shape (m,)
        NaN for a duration that was not observed.
    n_codes : tuple of int
    ranges : array of shape (2, features)
        Of all training rows.
    groups : array of shape (m,)
        Rows of one group are not compared with each other.
    new_category : array of shape (features,)
        Surprise of a new category.
    single : array of bool of shape (m, features)
        Which categories no other group has.
    """

    positions: Integers
    table: AnyArray
    y: Floats
    n_codes: tuple[int, ...]
    ranges: Floats
    groups: Integers
    new_category: Floats
    single: AnyArray

    @classmethod
    def of(
        cls, data: Dataset, ranges: FeatureRanges, n_rows: int, groups: Integers | None, threads: int = 1
    ) -> Self | None:
        """Choose rows of a training table in memory; None if there are too few.

        Parameters
        ----------
        data : Dataset
        ranges : FeatureRanges
        n_rows : int
        groups : array of shape (n,) or None
            The user's groups; by default equal rows with equal targets are a group.
        """
        table = data.X
        if n_rows < MIN_ROWS or len(table) < MIN_ROWS:
            return None
        n_kept = min(n_rows, max(_MAX_CELLS // table.shape[1], _MIN_KEPT))
        positions, copies = choose_rows(table, data.y, n_kept, threads=threads)
        kept = table[positions].dense() if isinstance(table, SparseTable) else table[positions]
        n_codes = data.n_codes or (0,) * table.shape[1]
        together = copies if groups is None else groups
        categories = new_categories(table, n_codes, positions, together)
        ends = np.stack([ranges.low, ranges.high])
        _, group = np.unique(together[positions], return_inverse=True)  # small numbers, which compress
        return cls(positions, kept, _observed(data.y[positions]), n_codes, ends, group, *categories)

    def measured(
        self, model: Measured, out_of_fold: OutOfFold | None, *, max_bytes: int, threads: int
    ) -> ReferenceRows:
        """Return what the model keeps.

        Parameters
        ----------
        model : callable
            Returns the uncertainty of rows of shape (n, features).
        out_of_fold : OutOfFold or None
            Measurements of all training rows.
        max_bytes : int
            Fewer rows are kept if all would take more.
        threads : int
        """
        bytes_per_row = _BYTES_PER_NUMBER * (self.table.shape[1] + _NUMBERS_PER_ROW)
        n_rows = min(len(self.positions), max(max_bytes // bytes_per_row, _MIN_KEPT))
        table, categories = self.table[:n_rows], (self.new_category, self.single[:n_rows])
        groups = self.groups[:n_rows]
        novelty = Novelty.fit(
            table, self.n_codes, groups=groups, ranges=self.ranges, categories=categories, threads=threads
        )
        total = error = np.full(n_rows, np.nan)
        if out_of_fold is not None:
            rows, y = self.positions[:n_rows], self.y[:n_rows]
            predicted = out_of_fold.predicted[rows]
            if out_of_fold.unseen is not None:
                total = out_of_fold.unseen.total(rows, model(table).knowledge)
                error = np.abs(y - out_of_fold.unseen.mean[rows])
            elif predicted.shape[1] > 1:
                total = entr(predicted).sum(axis=1)
                error = np.where(np.isnan(total), np.nan, predicted.argmax(axis=1) != y)
        largest = np.finfo(np.float32).max
        total, error = (np.minimum(part, largest).astype(np.float32) for part in (total, error))
        return ReferenceRows(novelty, total, error)


def _observed(y: Floats) -> Floats:
    """Return the targets; of bounds, the observed durations, and NaN for others."""
    return y if y.ndim == 1 else np.where(y[:, 0] == y[:, 1], y[:, 0], np.nan)
