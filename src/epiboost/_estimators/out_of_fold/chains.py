"""The chains of a plan: the rows that they are trained on, and what they predict for those that they have not seen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._boosting.class_offset import add_to_scores
from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._boosting.recipe import MemberSpec
from epiboost._typing import AnyArray, Floats
from epiboost.engines.base import Forest, Subset, predict_table


def subsets_of(plan: OutOfFoldPlan, specs: Sequence[MemberSpec], *, evaluated: bool = False) -> list[Subset]:
    """Return the chains of a plan: one per fold, the repeated and the reduced one.

    With ``evaluated``, all but the last predict the rows of their fold after each round.
    """
    trains = (*plan.trains, *plan.extra_trains)
    usable = [train if train.size else plan.trains[0] for train in trains]
    tests = (*plan.tests, plan.tests[0], None) if evaluated else (None,) * len(trains)
    return [Subset(train, (spec,), test) for train, spec, test in zip(usable, specs, tests, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class PlannedChains:
    """The chains of a plan, and the table that they predict with the offset of its classes."""

    plan: OutOfFoldPlan
    forests: Sequence[Forest]
    table: AnyArray
    offset: Floats | None

    def predict(self, prefixes: Sequence[int] | None) -> list[Floats]:
        """Return each chain's predictions, (prefixes, n, outputs); NaN for rows that it is not asked for."""
        compared = np.concatenate(self.plan.tests[:2])
        rows = [*self.plan.tests, self.plan.tests[0], compared]
        predictions = []
        for forest, needed in zip(self.forests, rows, strict=True):
            found = predict_table(forest, self.table[needed], prefixes=prefixes)
            if self.offset is not None:
                found = add_to_scores(found, self.offset[needed])
            full = np.full((len(found), len(self.table), found.shape[2]), np.nan)
            full[:, needed] = found
            predictions.append(full)
        return predictions

    def out_of_fold(self, predictions: Sequence[Floats]) -> Floats:
        """Return the prediction of each row by the chain that has not seen it."""
        predicted = np.full_like(predictions[0], np.nan)
        for prediction, test in zip(predictions, self.plan.tests, strict=False):
            predicted[test] = prediction[test]
        return predicted

    def compared(self, predictions: Sequence[Floats]) -> list[Floats]:
        """Return the predictions of the first two chains, the repeated and the reduced one."""
        return [predictions[0], predictions[1], predictions[-2], predictions[-1]]
