"""Strange single values: those that no training row has.

A number is strange if it is far from all training values of its column; both a number beyond the range and one in a gap
are. How far is usual, the training values tell: the distance of each to the nearest other one.

A category is strange if training did not have it, unless new categories are usual in its column: the share of training
rows whose category occurs once estimates how often the next row has a new one (Good and Turing). A missing value is
strange where none was missing.

References
----------
I. Good: The population frequencies of species and the estimation of population parameters. Biometrika, 1953.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from epiboost._native import native
from epiboost._novelty.surprise import Surprise
from epiboost._typing import AnyArray, Floats, Floats32, Integers

_STRANGE = 0.1  # distance, in spreads, of a value that is plainly new where training values repeat; a new category,
# and a value that is newly missing, count as one spread


@dataclass(frozen=True, slots=True, eq=False)
class StrangeValues:
    """Surprise of single values, by the training values of their columns.

    Attributes
    ----------
    values, offsets : arrays of shape (k,) and (features + 1,)
        Training values of all numeric columns, scaled, ascending within each, with the ends of its range; and where
        those of each column begin.
    spacings, spacing_offsets : arrays of shape (l,) and (features + 1,)
        Distance of each kept value to the nearest other one, ascending within each column.
    is_category, has_missing : arrays of bool of shape (features,)
    new : array of shape (features,)
        Surprise of a new category, or of a number that is missing where none was.
    tail_start, tail_share, tail_index, unit : arrays of shape (features,)
        Of these distances; see `Surprise`.
    """

    values: Floats32
    offsets: Integers
    spacings: Floats32
    spacing_offsets: Integers
    is_category: AnyArray
    has_missing: AnyArray
    new: Floats
    tail_start: Floats
    tail_share: Floats
    tail_index: Floats
    unit: Floats

    @classmethod
    def fit(cls, rows: Floats32, ends: Floats32, is_category: AnyArray, new_category: Floats, groups: Integers) -> Self:
        """Return the surprise of values, from rows that are kept.

        Parameters
        ----------
        rows : array of shape (m, features)
            Scaled numbers, and codes of categories.
        ends : array of shape (2, features)
            Smallest and largest number of each column in all training rows; NaN if all are missing.
        is_category : array of bool of shape (features,)
        new_category : array of shape (features,)
            Surprise of a new category.
        groups : array of shape (m,)
            Rows of one group are not compared with each other.
        """
        tails = np.ones((4, rows.shape[1]))
        values, spacings = [], []
        for column, known in enumerate(rows.T):
            if is_category[column]:
                present = limits = spacing = known[:0]
            else:
                ascending = ascending_rows(known)
                present, limits = known[ascending], ends[:, column][~np.isnan(ends[:, column])]
                spacing = to_nearest_other(present, groups[ascending])
            if len(spacing):
                usual = Surprise.of(spacing, unit=_STRANGE)
                tails[:, column] = usual.tail_start, usual.tail_share, usual.tail_index, usual.unit
            values.append(np.sort(np.concatenate([present, limits])))
            spacings.append(np.sort(spacing))
        new = np.where(is_category, new_category, np.log(len(rows) + 1) + np.log1p(1.0 / _STRANGE))
        missing = np.asarray(np.isnan(rows).any(axis=0))
        return cls(*_joined(values), *_joined(spacings), np.asarray(is_category), missing, new, *tails)

    def __call__(self, rows: Floats32) -> Floats:
        """Return the surprise of each value, shape (n, features)."""
        return self._surprise(rows, native().nearest_values(rows, self.values, self.offsets))

    def _surprise(self, rows: Floats32, distance: Floats32) -> Floats:
        """Return surprises from the distances of numbers; categories that are new have a negative code."""
        n_spacings = np.diff(self.spacing_offsets)
        rank = native().count_values(np.ascontiguousarray(distance), self.spacings, self.spacing_offsets)
        within = np.log((n_spacings + 1) / (rank + 1))
        with np.errstate(all="ignore"):  # distances of missing numbers and of categories are not used
            multiple = np.minimum(distance / self.tail_start, np.finfo(np.float64).max)
            tail = np.log(multiple) / self.tail_index - np.log(self.tail_share)
            repeated = within + np.where(distance > 0.0, np.log1p(distance / self.unit), 0.0)
            numbers = np.where(self.tail_start > 0.0, np.where(multiple > 1.0, tail, within), repeated)
        found = np.where(
            self.is_category, np.where(rows < 0.0, self.new, 0.0), np.where(distance < np.inf, numbers, self.new)
        )
        return np.where(np.isnan(rows), np.where(self.has_missing, 0.0, self.new), found)


def surprise_of_kept_rows(
    rows: Floats32, is_category: AnyArray, new_category: Floats, single: AnyArray, groups: Integers
) -> Floats:
    """Return the surprise of each value of the kept rows among the others, shape (m, features).

    Parameters
    ----------
    rows, is_category, new_category, groups
        As of `StrangeValues.fit`.
    single : array of bool of shape (m, features)
        Which categories no other group of training rows has.
    """
    found = np.where(single, new_category, 0.0)
    for column in np.flatnonzero(~is_category):
        ascending = ascending_rows(rows[:, column])
        spacing = to_nearest_other(rows[ascending, column], groups[ascending])
        if len(spacing):
            found[ascending, column] = Surprise.of(spacing, unit=_STRANGE).left_out(spacing)
    return found


def _joined(parts: list[Floats32]) -> tuple[Floats32, Integers]:
    """Return the values of all columns, and where those of each begin."""
    return np.concatenate(parts), np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)


def new_categories(
    table: AnyArray, n_codes: Sequence[int], rows: Integers, groups: Integers | None = None
) -> tuple[Floats, AnyArray]:
    """Return the surprise of a new category per column, and which categories of some rows no other group has.

    Parameters
    ----------
    table : array of shape (n, features)
    n_codes : sequence of int
        Number of codes per column; 0 for numbers.
    rows : array of shape (m,)
        Positions of the rows.
    groups : array of shape (n,), optional
        By default each row is a group of its own.

    Returns
    -------
    arrays of shape (features,) and (m, features)
        0 and False for numbers.
    """
    new, single = np.zeros(table.shape[1]), np.zeros((len(rows), table.shape[1]), dtype=bool)
    for column in np.flatnonzero(n_codes):
        codes = np.where(np.isnan(table[:, column]), -1.0, table[:, column]).astype(np.int64)
        in_groups = codes if groups is None else np.unique(np.column_stack([codes, groups]), axis=0)[:, 0]
        counts = np.bincount(in_groups + 1)
        counts[0] = 0  # missing values are no category here
        is_single = counts[codes + 1] == 1
        n_single = np.count_nonzero(is_single)
        new[column] = np.log((len(table) + 1) / (n_single + 1)) + np.log1p(1.0 if n_single else 1.0 / _STRANGE)
        single[:, column] = is_single[rows]
    return new, single


def ascending_rows(column: Floats32) -> Integers:
    """Return the rows with a value, in the order of their values."""
    present = np.flatnonzero(~np.isnan(column))
    ordered: Integers = present[np.argsort(column[present], kind="stable")]
    return ordered


def to_nearest_other(ascending: Floats32, groups: Integers) -> Floats32:
    """Return the distance of each ascending value to the nearest one of another group; none if there is one group.

    >>> to_nearest_other(np.array([1.0, 2.0, 5.0], dtype=np.float32), np.array([0, 0, 1]))
    array([4., 3., 3.], dtype=float32)
    """
    if not len(groups) or (groups == groups[0]).all():
        return ascending[:0]
    changes = groups[1:] != groups[:-1]
    starts = np.flatnonzero(np.append(True, changes))  # of runs of one group
    run = np.cumsum(np.append(False, changes))
    padded = np.concatenate([[-np.inf], ascending, [np.inf]])
    before, after = padded[starts][run], padded[np.append(starts[1:], len(ascending)) + 1][run]
    nearest: Floats32 = np.minimum(ascending - before, after - ascending).astype(np.float32)
    return nearest
