"""Training rows for engines over other libraries: equal rows merged, in canonical order, the target standardised.

The noise of a row depends on its key (section 3, equation 11, as a function of seed, tree, row and output). Keys are
positions in the canonical order, so that a model does not depend on the order of the table.
"""

from dataclasses import dataclass

import numpy as np

from epiboost._binning.canonical_rows import canonical_order, row_bytes
from epiboost._boosting.objectives import OBJECTIVES, Objective
from epiboost._inputs.dataset import Dataset
from epiboost._typing import AnyArray, Floats


@dataclass(frozen=True, slots=True)
class LearningRows:
    """Training rows with the target in the units of the score.

    Attributes
    ----------
    X : array of shape (n, features)
        Numbers; categorical columns hold codes, see `Dataset`.
    y, weight : arrays of shape (n,)
        Encoded targets and weights.
    keys : array of shape (n,)
        The keys of the rows in the noise function.
    objective : Objective
    n_codes : tuple of int
        Number of codes per column, 0 for a numeric column; empty if there are no categories.
    evaluation : (X, y, weight) or None
        Evaluation rows.
    """

    X: AnyArray
    y: Floats
    weight: Floats
    keys: AnyArray
    objective: Objective
    n_codes: tuple[int, ...]
    evaluation: tuple[AnyArray, Floats, Floats] | None

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    @property
    def categories(self) -> list[int]:
        """Positions of the categorical columns."""
        return [column for column, count in enumerate(self.n_codes) if count]

    @property
    def codes_per_column(self) -> tuple[int, ...]:
        """Number of codes, one entry per column also where there are no categories."""
        return self.n_codes or (0,) * self.X.shape[1]


def learning_rows(data: Dataset) -> LearningRows:
    """Merge equal rows, put them into canonical order and encode the target.

    Parameters
    ----------
    data : Dataset
        What `Engine.fit` was given.
    """
    content = row_bytes(data.X)
    table = content.view(np.float64)
    chosen, weight, _ = canonical_order(content, data.y, data.weight)
    y = data.y[chosen]
    objective = OBJECTIVES[data.objective].of(y, weight, data.n_classes, data.settings)
    evaluation = None
    if data.evaluation is not None:
        evaluation = (data.evaluation.X, objective.encode(data.evaluation.y), data.evaluation.weight)
    keys = np.arange(len(y), dtype=np.uint32)
    return LearningRows(table[chosen], objective.encode(y), weight, keys, objective, data.n_codes, evaluation)
