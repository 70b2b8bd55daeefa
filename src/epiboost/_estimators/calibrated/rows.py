"""Calibration rows: what `fit` of a calibrated model was given, how the rows are divided, and how many are needed."""

import math
import numbers
from dataclasses import dataclass
from typing import Self

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_array

from epiboost._estimators.calibrated.groups import check_groups
from epiboost._estimators.conformal import conformal_weight, min_rows_for_coverage
from epiboost._inputs.sparse_table import is_sparse
from epiboost._inputs.table import open_table
from epiboost._inputs.weights import check_weights
from epiboost._typing import AnyArray, Column, Floats, Integers, Table

MIN_ROWS = 4  # at the default share, three for the guarantee and one for the scales
_MIN_TRAINING_ROWS = 2
_STEPS = 20  # coverages that are multiples of 1 / 20 are met exactly
_LEEWAY = 0.15  # how far the share of rows may differ from the requested one to achieve that


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationRows:
    """Rows of positive weight.

    Attributes
    ----------
    X : table of shape (n, features)
    y : array of shape (n,)
    weight : array of shape (n,)
    groups : str, int, array of shape (n,) or None
    """

    X: Table
    y: AnyArray
    weight: Floats
    groups: Column = None

    @classmethod
    def read(cls, X: Table, y: AnyArray, sample_weight: Column, groups: Column) -> Self:
        """Return the rows of positive weight; ``y`` is checked already."""
        X = X.tocsr() if is_sparse(X) else open_table(X)
        if not isinstance(X, np.ndarray | nw.DataFrame):
            X = check_array(X, accept_sparse=True, dtype=None, ensure_all_finite=False, input_name="X")
        if X.shape[0] != len(y):
            message = f"X and y must have the same number of rows, got {X.shape[0]} and {len(y)}"
            raise ValueError(message)
        weight = check_weights(sample_weight, len(y))
        if groups is not None and not isinstance(groups, str | numbers.Integral):
            groups = check_groups(groups, len(y))
        rows = cls(X, y, weight, groups)
        return rows if weight.all() else rows.take(np.flatnonzero(weight))

    def take(self, places: Integers) -> Self:
        """Return the rows at some places."""
        groups = self.groups[places] if isinstance(self.groups, np.ndarray) else self.groups
        return type(self)(self.X[places], self.y[places], self.weight[places], groups)

    @property
    def counts(self) -> Floats:
        """How many rows each row stands for: the weight, or one on average if that is below one."""
        return self.weight / min(float(self.weight.mean()), 1.0)

    def split(self, share: float, random: np.random.Generator, *, every_label: bool) -> tuple[Self, Self]:
        """Return rows to train a model on, and about a share of the rows to calibrate it.

        With ``every_label``, one row of each label at least is a training row.
        """
        order: Integers = random.permutation(len(self.y))
        n_calibration = max(round(share * len(order)), MIN_ROWS)
        if len(order) - n_calibration < _MIN_TRAINING_ROWS:
            needed = MIN_ROWS + _MIN_TRAINING_ROWS
            message = f"Found {len(order)} sample(s) while training and calibration need at least {needed}."
            raise ValueError(message)
        is_training = np.zeros(len(order), dtype=bool)
        is_training[order[n_calibration:]] = True
        if every_label:
            for label in np.setdiff1d(self.y, self.y[is_training]):
                is_training[np.flatnonzero(self.y == label)[0]] = True
        return self.take(np.flatnonzero(is_training)), self.take(np.flatnonzero(~is_training))


def split_rows(n_samples: int, scale_share: float, random: np.random.Generator) -> tuple[Integers, Integers]:
    """Split the calibration rows at random: rows that fit the scales, and rows that give the guarantee."""
    n_guarantee, order = n_guarantee_rows(n_samples, 1.0 - scale_share), random.permutation(n_samples)
    return order[n_guarantee:], order[:n_guarantee]


def n_guarantee_rows(n_samples: int, share: float) -> int:
    """Return the number of rows that give the guarantee: about a share, one less than a multiple of 20 if possible.

    With n rows, a coverage is rounded up to a multiple of 1 / (n + 1), which widens the intervals. If n + 1 is a
    multiple of 20, the usual coverages 0.5, 0.8, 0.9 and 0.95 are met exactly.

    >>> n_guarantee_rows(69, 0.75), n_guarantee_rows(10, 0.75), n_guarantee_rows(1000, 0.75)
    (59, 8, 759)
    """
    if n_samples < MIN_ROWS:
        message = f"calibration needs at least {MIN_ROWS} rows, got {n_samples}"
        raise ValueError(message)
    wanted = min(max(round(share * n_samples), 1), n_samples - 1)
    below = (wanted + 1) // _STEPS * _STEPS - 1
    near = [n for n in (below, below + _STEPS) if abs(n / n_samples - share) <= _LEEWAY and 0 < n < n_samples]
    return min(near, key=lambda n: abs(n - wanted), default=wanted)


def n_calibration_rows(needed: int, share: float) -> int:
    """Return how many calibration rows are needed so that ``needed`` of them give the guarantee.

    >>> n_calibration_rows(9, 0.75), n_calibration_rows(99, 0.75)
    (12, 132)
    """
    n_samples = max(math.ceil(needed / share), needed + 1)
    while n_guarantee_rows(n_samples, share) < needed:
        n_samples += 1
    return n_samples


def require_rows(total: float, level: float, coverage: float, scale_share: float) -> None:
    """Raise a ValueError if the rows that give the guarantee are too few for a coverage.

    Parameters
    ----------
    total : float
        Weight of the rows.
    level : float
        Level of the conformal quantile that the coverage needs.
    coverage : float
    scale_share : float
        Share of the calibration rows that fit the scales.
    """
    if (needed := min_rows_for_coverage(level)) > total and conformal_weight(total, level) > total:
        n_calibration = n_calibration_rows(needed, 1.0 - scale_share)
        message = (
            f"a coverage of {coverage} cannot be guaranteed: it needs {needed} rows beside those that fit the "
            f"scales, and there are {total:.15g}; calibrate with {n_calibration} rows in all"
        )
        raise ValueError(message)
