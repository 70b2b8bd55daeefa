"""Columns on a common scale.

A number is measured in units of its column's spread, that between its 5 % and 95 % quantiles. Two categories are apart
by a weight, which is the larger the rarer it is that two rows differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from epiboost._typing import AnyArray, Floats, Floats32

_QUANTILES = (0.05, 0.95)
_NORMAL_RANGE = 3.29  # between these quantiles, in standard deviations of a Normal
_LARGEST = 1e30  # scaled numbers beyond it would overflow in single precision
_MIN_DIVERSITY = 1e-3  # of categories: bounds the weight of a column that is nearly constant
_MIN_MISSING = 0.05  # bounds the weight of values that are rarely missing


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
        quantiles = _quantiles_of_columns(table)
        for column, values in enumerate(table.T):
            if n_codes[column]:
                shares = np.unique(values, return_counts=True, equal_nan=True)[1] / len(values)
                weight[column] = 2.0 / np.sqrt(max(1.0 - np.square(shares).sum(), _MIN_DIVERSITY))
                continue
            present = values[~np.isnan(values)]
            missing = 1.0 - len(present) / len(values)
            missing_weight[column] = 1.0 / max(np.sqrt(2.0 * missing * (1.0 - missing)), _MIN_MISSING)
            if len(present):
                known = quantiles[:, column] if not missing else _quantiles_of_columns(present)
                centre[column], spread[column] = _centre_and_spread(present, known)
        return cls(centre, spread, weight, missing_weight)

    def transform(self, table: AnyArray) -> Floats32:
        """Return numbers in units of their column's spread; NaN stays NaN, categories keep their codes."""
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = (table.astype(np.float64) - self.centre) / self.spread
        undefined = np.isnan(scaled) & ~np.isnan(table)
        scaled = np.where(undefined, _LARGEST, np.clip(scaled, -_LARGEST, _LARGEST))
        return np.where(self.weight > 0.0, table, scaled).astype(np.float32)


def _quantiles_of_columns(table: Floats) -> Floats:
    """Return the low quantile, the median and the high quantile of each column, shape (3, ...)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.quantile(table, (_QUANTILES[0], 0.5, _QUANTILES[1]), axis=0)


def _centre_and_spread(values: Floats, quantiles: Floats) -> tuple[float, float]:
    """Return the median of a column and its robust standard deviation, the plain one if most values are equal."""
    low, centre, high = quantiles
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(high / _NORMAL_RANGE - low / _NORMAL_RANGE)
        if spread == 0.0:
            spread = float(np.std(values))
    centre = centre if np.isfinite(centre) else 0.0  # of values whose differences overflow
    return float(centre), spread if np.isfinite(spread) and spread > 0.0 else max(float(np.abs(values).max()), 1.0)
