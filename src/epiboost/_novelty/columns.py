"""Columns on a common scale, and single values that no training row has.

A number is measured in units of its column's spread, that between its 5 % and 95 % quantiles; its distance to the
nearest training value says how strange it is. Both a value beyond the range and one in a gap are far from all training
values. A category is strange if training did not have it, unless new categories are usual in its column: the share of
training rows whose category occurs once estimates how often the next row has a new one (Good and Turing).

Missing values are a category of their own in every column.

References
----------
I. Good: The population frequencies of species and the estimation of population parameters. Biometrika, 1953.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from epiboost._novelty.surprise import Surprise
from epiboost._typing import AnyArray, Floats, Floats32

_QUANTILES = (0.05, 0.95)
_NORMAL_RANGE = 3.29  # between these quantiles, in standard deviations of a Normal
_LARGEST = 1e30  # scaled numbers beyond it would overflow in single precision
_MIN_DIVERSITY = 1e-3  # of categories: bounds the weight of a column that is nearly constant
_MIN_MISSING = 0.05  # bounds the weight of values that are rarely missing
_STRANGE = 0.1  # distance, in spreads, of a value that is plainly new where training values repeat


@dataclass(frozen=True, slots=True, eq=False)
class ColumnScales:
    """The scale of each column.

    Attributes
    ----------
    centre, spread : arrays of shape (features,)
        Of numbers; 0 and 1 for categories and for columns without any value.
    weight : array of shape (features,)
        Distance between two categories; 0 for numbers.
    missing_weight : array of shape (features,)
        Distance between a missing and a present number.
    """

    centre: Floats
    spread: Floats
    weight: Floats32
    missing_weight: Floats32

    @classmethod
    def fit(cls, table: Floats, n_codes: Sequence[int]) -> Self:
        """Return the scales of reference rows.

        Parameters
        ----------
        table : array of shape (m, features)
            Categorical columns hold codes, see `ColumnSchema`.
        n_codes : sequence of int
            Number of codes per column; 0 for numbers.
        """
        n_features = table.shape[1]
        centre, spread = np.zeros(n_features), np.ones(n_features)
        weight, missing_weight = np.zeros((2, n_features), dtype=np.float32)
        for column, values in enumerate(table.T):
            if n_codes[column]:
                shares = np.unique(values, return_counts=True, equal_nan=True)[1] / len(values)
                weight[column] = 2.0 / np.sqrt(max(1.0 - np.square(shares).sum(), _MIN_DIVERSITY))
                continue
            present = values[~np.isnan(values)]
            missing = 1.0 - len(present) / len(values)
            missing_weight[column] = 1.0 / max(np.sqrt(2.0 * missing * (1.0 - missing)), _MIN_MISSING)
            if len(present):
                centre[column], spread[column] = _centre_and_spread(present)
        return cls(centre, spread, weight, missing_weight)

    def transform(self, table: AnyArray) -> Floats32:
        """Return numbers in units of their column's spread; NaN stays NaN, categories keep their codes."""
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = (table.astype(np.float64) - self.centre) / self.spread
        scaled = np.where(np.isfinite(scaled) | np.isnan(table), np.clip(scaled, -_LARGEST, _LARGEST), _LARGEST)
        return np.where(self.weight > 0.0, table, scaled).astype(np.float32)


def _centre_and_spread(values: Floats) -> tuple[float, float]:
    """Return the median of a column and its robust standard deviation, the plain one if most values are equal."""
    with np.errstate(over="ignore", invalid="ignore"):
        low, centre, high = np.quantile(values, (_QUANTILES[0], 0.5, _QUANTILES[1]))
        spread = float(high / _NORMAL_RANGE - low / _NORMAL_RANGE)
        if spread == 0.0:
            spread = float(np.std(values))
    return float(centre), spread if np.isfinite(spread) and spread > 0.0 else max(float(np.abs(values).max()), 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class NumberColumn:
    """Training values of a numeric column.

    Attributes
    ----------
    values : array of shape (k,)
        Scaled, ascending, without missing values; with the ends of the column's range.
    spacing : Surprise or None
        Of the distance to the nearest value; None for a column with fewer than two values.
    new : float
        Surprise of a missing value where none was missing in training, and of any value where all were.
    has_missing : bool
    """

    values: Floats32
    spacing: Surprise | None
    new: float
    has_missing: bool

    @classmethod
    def fit(cls, column: Floats32, ends: Floats32) -> Self:
        """Return the training values of a scaled column.

        Parameters
        ----------
        column : array of shape (m,)
            Of the reference rows.
        ends : array of shape (2,)
            Smallest and largest value of all training rows; NaN if all are missing.
        """
        values = np.sort(column[~np.isnan(column)])
        spacing = Surprise.of(_to_nearest_other(values), unit=_STRANGE) if len(values) > 1 else None
        known = np.sort(np.concatenate([values, ends[~np.isnan(ends)]]))
        return cls(known, spacing, float(np.log(len(column) + 1)), len(values) < len(column))

    def surprise(self, column: Floats32) -> Floats:
        """Return the surprise of each value of a scaled column."""
        missing = np.isnan(column)
        if self.spacing is None:
            found = np.where(np.isin(column, self.values), 0.0, self.new)
        else:
            found = self.spacing(self._to_nearest(np.where(missing, self.values[0], column)))
        return np.where(missing, 0.0 if self.has_missing else self.new, found)

    def surprise_left_out(self, column: Floats32) -> Floats:
        """Return the surprise of each training value among the others."""
        found = np.zeros(len(column))
        present = np.flatnonzero(~np.isnan(column))
        if self.spacing is not None:
            ascending = present[np.argsort(column[present], kind="stable")]
            found[ascending] = self.spacing(_to_nearest_other(column[ascending]))
        return found

    def _to_nearest(self, column: Floats32) -> Floats32:
        position = np.searchsorted(self.values, column)
        above = np.abs(self.values[np.minimum(position, len(self.values) - 1)] - column)
        below = np.abs(self.values[np.maximum(position - 1, 0)] - column)
        nearest: Floats32 = np.minimum(above, below)
        return nearest


@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """A categorical column.

    Attributes
    ----------
    new : float
        Surprise of a category that training did not have.
    has_missing : bool
    """

    new: float
    has_missing: bool

    @classmethod
    def fit(cls, column: AnyArray) -> tuple[Self, AnyArray]:
        """Return the column, and which rows have a category that no other row has."""
        present = column[~np.isnan(column)]
        _, codes, counts = np.unique(present, return_inverse=True, return_counts=True)
        single = np.zeros(len(column), dtype=bool)
        single[~np.isnan(column)] = counts[codes] == 1
        new = -np.log((np.count_nonzero(single) + 1) / (len(column) + 1))
        return cls(float(new), len(present) < len(column)), single

    def surprise(self, column: AnyArray) -> Floats:
        """Return the surprise of each category: 0 for those of training."""
        is_new = (column < 0.0) | (np.isnan(column) & (not self.has_missing))
        return np.where(is_new, self.new, 0.0)


def _to_nearest_other(values: Floats32) -> Floats32:
    """Return the distance of each of two or more ascending values to the nearest other one."""
    gaps = np.diff(values)
    nearest: Floats32 = np.minimum(np.append(gaps, np.inf), np.append(np.inf, gaps)).astype(np.float32)
    return nearest
