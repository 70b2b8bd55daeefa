"""Training rows as other libraries get them: merged where they are the same, in an order of their own."""

from dataclasses import dataclass

import numpy as np

from epiboost._binning.canonical_rows import canonical_order
from epiboost._boosting.objectives import Objective, objective_of
from epiboost._inputs.dataset import Dataset
from epiboost._typing import AnyArray, Floats


@dataclass(frozen=True, slots=True)
class Rows:
    """A table to learn from, its target in the units of the score.

    Attributes
    ----------
    X : array of shape (n, features)
        Numbers; columns of categories hold codes, see `Dataset`.
    y, weight : arrays of shape (n,)
    keys : array of shape (n,)
        The rows' names in the noise function.
    evaluation : (X, y, weight) or None
        Rows that are watched.
    """

    X: AnyArray
    y: Floats
    weight: Floats
    keys: AnyArray
    objective: Objective
    sizes: tuple[int, ...]
    evaluation: tuple[AnyArray, Floats, Floats] | None

    @property
    def total(self) -> float:
        """What all rows count for."""
        return float(self.weight.sum())

    @property
    def categories(self) -> list[int]:
        """Which columns hold categories."""
        return [column for column, size in enumerate(self.sizes) if size]


def learning_rows(data: Dataset) -> Rows:
    """Merge rows that are the same and put them into an order that does not depend on the table's."""
    table = np.ascontiguousarray(data.X, dtype=np.float64) + 0.0  # there is one zero
    table[np.isnan(table)] = np.nan
    chosen, weight, _ = canonical_order(table.view(np.uint8), data.y, data.weight)
    y = data.y[chosen]
    objective = objective_of(y, weight, data.n_classes)
    watched = data.evaluation
    evaluation = None if watched is None else (watched.X, objective.encode(watched.y), watched.weight)
    keys = np.arange(len(y), dtype=np.uint32)
    return Rows(table[chosen], objective.encode(y), weight, keys, objective, data.sizes, evaluation)
