"""What a model file holds of the novelty: kept rows, scales, and how far each row is from the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from epiboost._display import short_repr
from epiboost._files.requirements import require_arrays, require_facts
from epiboost._novelty.scales import ColumnScales
from epiboost._typing import AnyArray, Floats, Floats32, Integers

MIN_ROWS = 2


@dataclass(frozen=True, slots=True, eq=False)
class NoveltyArrays:
    """What a model file holds of the novelty.

    Attributes
    ----------
    rows : array of shape (m, features)
        Kept rows: scaled numbers, and codes of categories.
    scales : ColumnScales
    ends : array of shape (2, features)
        Scaled range of each numeric column in training.
    new_category : array of shape (features,)
        Surprise of a new category; 0 for numbers.
    single : array of bool of shape (m, features)
        Which categories no other group of training rows has.
    groups : array of shape (m,)
        Rows of one group are not compared with each other: copies, and rows of one group of the user's.
    distance, strangest : arrays of shape (m,)
        Distance of each kept row to the nearest other one, and the surprise of its strangest value among the others.
    """

    rows: Floats32
    scales: ColumnScales
    ends: Floats32
    new_category: Floats
    single: AnyArray
    groups: Integers
    distance: Floats32
    strangest: Floats

    __repr__ = short_repr

    def to_file(self) -> dict[str, AnyArray]:
        """Return the arrays of a model file."""
        return {
            "novelty_rows": self.rows,
            "novelty_scales": np.stack([self.scales.centre, self.scales.spread]),
            "novelty_weights": np.stack([self.scales.weight, self.scales.missing_weight]),
            "novelty_ends": self.ends,
            "novelty_new_category": self.new_category,
            "novelty_single": self.single[:, self.scales.weight > 0.0],
            "novelty_groups": self.groups,
            "novelty_distance": self.distance,
            "novelty_strangest": self.strangest,
        }

    @classmethod
    def from_file(cls, arrays: Mapping[str, AnyArray], n_codes: Sequence[int]) -> "NoveltyArrays | None":
        """Return the arrays that `to_file` described; None if the file has none, a ValueError if it is not valid."""
        if "novelty_rows" not in arrays:
            return None
        single, double = np.float32, np.float64
        kinds: dict[str, tuple[Any, int]] = {
            "novelty_rows": (single, 2),
            "novelty_scales": (double, 2),
            "novelty_weights": (single, 2),
            "novelty_ends": (single, 2),
            "novelty_new_category": (double, 1),
            "novelty_single": (np.bool_, 2),
            "novelty_groups": (np.int64, 1),
            "novelty_distance": (single, 1),
            "novelty_strangest": (double, 1),
        }
        require_arrays(arrays, kinds)
        rows, scales, weights, ends, new, single_categories, groups, distance, strangest = (
            arrays[name] for name in kinds
        )
        n_features, is_categorical = len(n_codes), np.asarray(n_codes) > 0
        limits = np.asarray(n_codes)[is_categorical] - 1  # the last code is that of missing values, which are NaN here
        require_facts(
            {
                "kept rows must have the columns of the model": rows.shape[1] == n_features,
                "two or more rows must be kept": len(rows) >= MIN_ROWS,
                "there must be a scale for each column": scales.shape == weights.shape == ends.shape == (2, n_features),
                "there must be a surprise for each column": new.shape == (n_features,),
                "single categories must be those of the kept rows": (
                    single_categories.shape == (len(rows), np.count_nonzero(is_categorical))
                ),
                "there must be a distance for each kept row": (
                    distance.shape == strangest.shape == groups.shape == (len(rows),)
                ),
            }
        )
        require_facts(
            {
                "kept rows must be finite or missing": not np.isinf(rows).any(),
                "categories of kept rows must be known": _are_codes(rows[:, is_categorical], limits),
                "scales must be finite and spreads positive": bool(
                    np.isfinite(scales).all() and (scales[1] > 0.0).all()
                ),
                "weights must be finite and not negative": bool(np.isfinite(weights).all() and (weights >= 0.0).all()),
                "categories alone have a weight": bool(((weights[0] > 0.0) == is_categorical).all()),
                "ranges must ascend and not be infinite": not np.isinf(ends).any() and not (ends[0] > ends[1]).any(),
                "surprises must be finite and not negative": all(
                    bool(np.isfinite(part).all() and (part >= 0.0).all()) for part in (new, distance, strangest)
                ),
            }
        )
        is_single = np.zeros(rows.shape, dtype=bool)
        is_single[:, is_categorical] = single_categories
        return cls(rows, ColumnScales(*scales, *weights), ends, new, is_single, groups, distance, strangest)


def _are_codes(values: Floats32, limits: Integers) -> bool:
    """Return whether values are missing or whole numbers from 0 to below the limit of their column."""
    return bool((np.isnan(values) | ((values >= 0.0) & (values < limits) & (values == np.floor(values)))).all())
