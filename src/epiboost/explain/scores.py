"""Scores of a model: the linear quantities that its trees add up to, and their exact Shapley values.

A regressor of Normals predicts a mean that is linear in the trees. A classifier's trees add up to a score per class:
the log-odds of two classes, or the logarithms of the probabilities less their mean over the classes. Of the members,
the mean is taken. Neither recalibration nor calibration is part of a score; none of them changes the mean of a
regressor.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from epiboost._boosting.objectives import BINARY, Normal
from epiboost._estimators.base import BaseEpiBoost
from epiboost._typing import AnyArray, Estimator, Floats
from epiboost.engines.native.forest import NativeForest
from epiboost.engines.native.shapley import is_exact, shapley_values
from epiboost.explain.players import Players


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The score of an outcome by the trees of a model.

    Attributes
    ----------
    model : fitted EpiBoostRegressor or EpiBoostClassifier
    outcome : int
        Position of the class; 0 for a regressor.
    """

    model: BaseEpiBoost
    outcome: int

    @classmethod
    def of(cls, estimator: Estimator, outcome: int) -> Self | None:
        """Return the scores of an estimator of this package, calibrated or not; None for another one."""
        model = getattr(estimator, "estimator_", estimator)
        return cls(model, outcome) if isinstance(model, BaseEpiBoost) else None

    def __call__(self, rows: AnyArray) -> Floats:
        """Return the score of each row of a classifier, shape (n,)."""
        probability = self.model.forest_.predict(rows, prefixes=self.model.prefixes_)
        with np.errstate(divide="ignore"):
            logarithm = np.log(probability)
        if not np.isfinite(logarithm).all():
            message = (
                f"measure='score' needs probabilities above zero, and members of engine={self.model.engine!r} predict "
                "zero; measure='mean' explains the probability"
            )
            raise ValueError(message)
        others = np.delete(logarithm, self.outcome, axis=2) if logarithm.shape[2] == BINARY else logarithm
        score: Floats = (logarithm[:, :, self.outcome] - others.mean(axis=2)).mean(axis=0)
        return score

    def trees_of(self, measure: str, players: Players) -> NativeForest | None:
        """Return the trees that `shapley_values` can explain a measure by exactly; None if there are none."""
        forest = self.model.forest_
        if not isinstance(forest, NativeForest):
            return None
        is_linear = measure == "score" or (measure == "mean" and isinstance(forest.objective, Normal))
        return forest if is_linear and is_exact(forest, players.of_feature) else None

    def shapley_values(
        self, forest: NativeForest, rows: AnyArray, background: AnyArray, players: Players
    ) -> tuple[Floats, float]:
        """Return the values of a score or of a Normal's mean, shape (n, players), and the mean over the background."""
        location, scale = forest.objective.units
        values, base = shapley_values(
            forest,
            rows,
            background,
            players=players.of_feature,
            coefficients=self._coefficients(forest),
            prefixes=self.model.prefixes_,
        )
        return scale * values, location + scale * base

    def _coefficients(self, forest: NativeForest) -> Floats:
        """Return the coefficients of the outputs of the trees."""
        n_outputs = len(forest.objective.start)
        coefficients = np.zeros(n_outputs)
        if forest.family == "categorical" and n_outputs == 1:  # the log-odds of the second class
            coefficients[0] = 1.0 if self.outcome else -1.0
            return coefficients
        coefficients[self.outcome] = 1.0
        return coefficients - 1.0 / n_outputs if forest.family == "categorical" else coefficients
