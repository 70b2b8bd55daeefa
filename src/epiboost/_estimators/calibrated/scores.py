"""Conformity scores of calibration rows, with weights and groups, and their conformal quantiles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from epiboost._estimators.conformal import conformal_quantile, conformal_weight
from epiboost._typing import AnyArray, Floats, Integers


@dataclass(frozen=True, slots=True, eq=False)
class ConformityScores:
    """Conformity scores of the rows that give the guarantee.

    Attributes
    ----------
    values : array of shape (n,)
        Ascending.
    weight : array of shape (n,)
        Positive: how many rows each score stands for.
    groups : integer array of shape (n,), optional
        Group of each score, from 0; -1 for a score of no group.
    n_groups : int
        Number of groups; 0 without groups.

    Examples
    --------
    >>> scores = ConformityScores.of(np.array([3.0, 1.0, 2.0]), np.ones(3))
    >>> scores.quantiles([0.5, 0.75])
    array([[2., 3.]])
    """

    values: Floats
    weight: Floats
    groups: Integers | None = None
    n_groups: int = 0

    @classmethod
    def of(cls, values: Floats, weight: Floats, groups: Integers | None = None, n_groups: int = 0) -> Self:
        """Return scores in ascending order."""
        order = np.argsort(values, kind="stable")
        return cls(values[order], weight[order], None if groups is None else groups[order], n_groups)

    @property
    def total_weight(self) -> float:
        """Number of rows that the scores stand for."""
        return float(self.weight.sum())

    @property
    def max_coverage(self) -> float:
        """Largest level of `quantiles`."""
        return self.total_weight / (self.total_weight + 1.0)

    def quantiles(self, levels: Floats | list[float]) -> Floats:
        """Return the conformal quantiles of the groups and, in the last row, of all scores; shape (groups + 1, levels).

        NaN for groups whose weight is too small for the level; a ValueError if that of all scores is.
        """
        quantiles = np.full((self.n_groups + 1, len(levels)), np.nan)
        for code in range(self.n_groups):
            of_group = self.groups == code
            values, weight = self.values[of_group], self.weight[of_group]
            for place, level in enumerate(levels):
                if conformal_weight(float(weight.sum()), level) <= weight.sum():
                    quantiles[code, place] = conformal_quantile(values, level, weight)
        quantiles[-1] = [conformal_quantile(self.values, level, self.weight) for level in levels]
        return quantiles

    def negated(self) -> "ConformityScores":
        """Return the scores with the other sign: their quantiles are lower ends."""
        groups = None if self.groups is None else self.groups[::-1]
        return ConformityScores(-self.values[::-1], self.weight[::-1], groups, self.n_groups)

    def to_file(self) -> dict[str, AnyArray]:
        """Return the arrays of a model file."""
        arrays: dict[str, AnyArray] = {"calibration_scores": self.values}
        if (self.weight != 1.0).any():
            arrays["calibration_weights"] = self.weight
        if self.groups is not None:
            arrays["calibration_groups"] = self.groups
        return arrays

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray], *, n_groups: int, signed: bool) -> Self:
        """Return the scores that `to_file` described; a ValueError if the arrays are not valid."""
        values = arrays["calibration_scores"]
        weight = arrays.get("calibration_weights", np.ones(values.shape))
        groups = arrays["calibration_groups"] if n_groups else None
        requirements = {
            "scores must be numbers in order": values.dtype == np.float64
            and values.ndim == 1
            and bool(values.size)
            and not (np.diff(values) < 0.0).any(),
            "scores must be finite and not negative": bool(np.isfinite(values).all())
            and (signed or not (values < 0.0).any()),
            "weights of scores must be positive numbers, one per score": weight.dtype == np.float64
            and weight.shape == values.shape
            and bool(np.isfinite(weight).all())
            and not (weight <= 0.0).any(),
            "groups of scores must be whole numbers, one per score": groups is None
            or (
                groups.dtype == np.int64
                and groups.shape == values.shape
                and not ((groups < -1) | (groups >= n_groups)).any()
            ),
        }
        for message, holds in requirements.items():
            if not holds:
                raise ValueError(message)
        return cls(values, weight, groups, n_groups)
