"""The ground that training covered: what lies beyond it is new, whatever the trees say there.

Trees say the same everywhere past their last split, and their members may well agree out there. So it is remembered
between which values each column of numbers lay, and whether values were missing; three numbers a column, no row.

>>> ground = Ground.of(np.array([[0.0, 1.0], [10.0, np.nan]]))
>>> ground.beyond(np.array([[5.0, 1.0], [10.9, np.nan], [-40.0, 1.0], [np.nan, 1.0]])).tolist()
[[False, False], [False, False], [True, False], [True, False]]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._files.checks import require_arrays, require_facts
from epiboost._typing import AnyArray, Floats

MARGIN = 0.1
"""How far beyond the range a number must lie to be new, as a part of it: a few rows always lie a little outside."""


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Between which values each column lay in training.

    Attributes
    ----------
    low, high : arrays of shape (features,)
        Smallest and largest number; NaN for a column of categories, and for one without any value.
    gaps : array of bool, of shape (features,)
        Whether values were missing.
    """

    low: Floats
    high: Floats
    gaps: AnyArray

    @classmethod
    def of(cls, X: AnyArray, categories: Sequence[int] = ()) -> "Ground":
        """Return the ground of training rows, as the trees see them.

        Parameters
        ----------
        X : array of shape (n, features)
        categories : sequence of int
            Positions of the columns that hold codes of categories.
        """
        low, high = (np.asarray(found, dtype=np.float64) for found in (np.fmin.reduce(X), np.fmax.reduce(X)))
        gaps = np.isnan(np.minimum.reduce(X))  # a missing value is passed on, and no copy is made
        of_categories = np.zeros(len(low), dtype=bool)
        of_categories[list(categories)] = True
        low[of_categories] = high[of_categories] = np.nan
        return cls(low, high, gaps | of_categories)

    def beyond(self, X: AnyArray) -> AnyArray:
        """Return which numbers lie well beyond their column's range, or are missing where none was.

        Parameters
        ----------
        X : array of shape (n, features)

        Returns
        -------
        array of bool, of shape (n, features)
            False for categories.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # of a range without end nothing is outside
            margin = MARGIN * (self.high - self.low)
            low, high = self.low - margin, self.high + margin
        found: AnyArray = (low > X) | (high < X) | (np.isnan(X) & ~self.gaps)
        return found

    def to_file(self) -> dict[str, AnyArray]:
        """Return it as arrays of a model file."""
        return {"ground_low": self.low, "ground_high": self.high, "ground_gaps": self.gaps}

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray], n_features: int) -> "Ground | None":
        """Return what `to_file` gave; None for a file that does not tell."""
        if "ground_low" not in arrays:
            return None
        numbers, flags = (np.float64, 1), (np.bool_, 1)
        require_arrays(arrays, {"ground_low": numbers, "ground_high": numbers, "ground_gaps": flags})
        low, high, gaps = arrays["ground_low"], arrays["ground_high"], arrays["ground_gaps"]
        require_facts({"there must be a range for each column": len(low) == len(high) == len(gaps) == n_features})
        ascending = (low <= high) | (np.isnan(low) & np.isnan(high))
        require_facts({"ranges must ascend": bool(ascending.all())})
        return cls(low, high, gaps)
