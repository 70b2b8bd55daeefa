"""Training range of each column, to detect numbers outside it.

Trees are constant beyond their last split, so members may agree far outside the training rows. The smallest and the
largest number of each numeric column are stored, and whether values were missing. No training rows are stored.

>>> ranges = FeatureRanges(np.array([0.0, 1.0]), np.array([10.0, 1.0]), np.array([False, True]))
>>> ranges.beyond(np.array([[5.0, 1.0], [10.9, np.nan], [-40.0, 1.0], [np.nan, 1.0]])).tolist()
[[False, False], [False, False], [True, False], [True, False]]
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from epiboost._display import short_repr
from epiboost._files.requirements import require_arrays, require_facts
from epiboost._typing import AnyArray, Floats

MARGIN = 0.1
"""How far outside the range a number must be to be detected, as a share of the range: a few rows are always outside."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureRanges:
    """The ranges of the training columns.

    Attributes
    ----------
    low, high : arrays of shape (features,)
        Smallest and largest number; NaN for a categorical column and for a column without any value.
    missing : array of bool, of shape (features,)
        Whether values were missing.
    """

    low: Floats
    high: Floats
    missing: AnyArray

    __repr__ = short_repr

    def beyond(self, X: AnyArray) -> AnyArray:
        """Return which numbers of a table lie well beyond their column's range, or are missing where none was.

        Table and result have shape (n, features); the result is False for categories.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # nothing is outside an infinite range
            margin = MARGIN * (self.high - self.low)
            low, high = self.low - margin, self.high + margin
        found: AnyArray = (low > X) | (high < X) | (np.isnan(X) & ~self.missing)
        return found

    def joined(self, other: "FeatureRanges") -> "FeatureRanges":
        """Return the ranges of the rows of both."""
        low, high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        return FeatureRanges(low, high, self.missing | other.missing)

    def to_file(self) -> dict[str, AnyArray]:
        """Return the arrays of a model file."""
        return {"ground_low": self.low, "ground_high": self.high, "ground_gaps": self.missing}

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray], n_features: int) -> "FeatureRanges | None":
        """Return the ranges that `to_file` described; None if the file has none."""
        if "ground_low" not in arrays:
            return None
        numbers, flags = (np.float64, 1), (np.bool_, 1)
        require_arrays(arrays, {"ground_low": numbers, "ground_high": numbers, "ground_gaps": flags})
        low, high, missing = arrays["ground_low"], arrays["ground_high"], arrays["ground_gaps"]
        require_facts({"there must be a range for each column": len(low) == len(high) == len(missing) == n_features})
        ascending = (low <= high) | (np.isnan(low) & np.isnan(high))
        require_facts({"ranges must ascend": bool(ascending.all())})
        return cls(low, high, missing)
