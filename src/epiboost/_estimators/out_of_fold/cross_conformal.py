"""Intervals and prediction sets with a guarantee, from the out-of-fold chains alone: CV+ and cross-conformal sets.

Every row has a score by the chain that has not seen it: its residual in standard deviations of that chain, or one minus
the probability of its class. A new row is compared with all of them, each time through the chain that gave the score.
For exchangeable rows and folds that are drawn at random, a coverage c is guaranteed to be at least 1 - 2 (1 - c), less
a term that vanishes with the number of rows, whatever the distribution. In practice it is about c. The price: the
chains must be kept in the model, and predict each row.

References: R. Barber, E. Candès, A. Ramdas, R. Tibshirani: Predictive inference with the jackknife+, Annals of
Statistics 2021; V. Vovk: Cross-conformal predictors, Annals of Mathematics and Artificial Intelligence 2015.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._boosting.class_offset import add_to_scores
from epiboost._boosting.objectives import DISTRIBUTIONS, Distribution, distribution_named
from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._display import short_repr
from epiboost._estimators.conformal import conformal_rank
from epiboost._estimators.distributional import scores_of
from epiboost._estimators.out_of_fold.distributional_ends import distributional_ends
from epiboost._inputs.dataset import Dataset
from epiboost._typing import AnyArray, Floats
from epiboost.engines.base import Forest, predict_table

_MAX_COPIES = 20_000  # of the scores of a chain, unless it has more rows: weights can be huge
_BISECTIONS = 60  # halve a bracket until it is as narrow as rounding allows


@dataclass(frozen=True, slots=True, eq=False)
class FoldChains:
    """The chains of the folds, and the scores of the rows that each has not seen.

    Attributes
    ----------
    forests : tuple of Forest
    scores : tuple of arrays
        For each chain, in ascending order.
    prefixes : tuple of int or None
        Tree counts at which the chains predict.
    distribution : Distribution or None
        Of numbers other than Normals: scores are then those of `distributional`.
    """

    forests: tuple[Forest, ...]
    scores: tuple[Floats, ...]
    prefixes: tuple[int, ...] | None
    distribution: Distribution | None = None

    __repr__ = short_repr

    @classmethod
    def of(
        cls,
        plan: OutOfFoldPlan,
        forests: Sequence[Forest],
        data: Dataset,
        table: AnyArray,
        prefixes: tuple[int, ...] | None,
    ) -> "FoldChains":
        """Return the chains of a plan with the scores of their rows."""
        family = forests[0].family
        distribution = distribution_named(family, data.settings) if family in DISTRIBUTIONS else None
        scores = []
        for forest, test in zip(forests, plan.tests, strict=True):
            offset = None if data.offset is None else data.offset[test]
            predicted, y = _predict(forest, table[test], prefixes, offset), data.y[test]
            if forest.family == "categorical":
                score = 1.0 - predicted[np.arange(len(y)), y.astype(np.int64)]
            elif distribution is not None:
                score = np.abs(scores_of(distribution, predicted[np.newaxis], y))
            else:
                score = np.abs(y - predicted[:, 0]) / np.sqrt(predicted[:, 1])
            weight = data.weight[test]  # equal rows are merged
            weight = weight * min(1.0, max(_MAX_COPIES, len(weight)) / float(weight.sum()))
            copies = np.maximum(np.round(weight), 1.0).astype(np.int64)
            scores.append(np.sort(np.repeat(score, copies)))
        return cls(tuple(forests), tuple(scores), prefixes, distribution)

    @property
    def n_scores(self) -> int:
        """Number of scored rows."""
        return sum(map(len, self.scores))

    def interval(self, table: AnyArray, coverage: float) -> Floats:
        """Return the CV+ interval of each row, shape (n, 2).

        Ends of a coverage below one half can cross if the chains disagree. Intervals contain the center of that of one
        half, so that they do not.
        """
        predicted = self._predict(table)
        needed = conformal_rank(self.n_scores, coverage)
        if needed > self.n_scores:
            message = f"a coverage of {coverage} cannot be guaranteed by {self.n_scores} rows"
            raise ValueError(message)
        ends = self._ends(predicted, needed)
        half = conformal_rank(self.n_scores, 0.5)
        if needed < half:
            center = self._ends(predicted, half).mean(axis=1)
            ends = np.stack([np.minimum(ends[:, 0], center), np.maximum(ends[:, 1], center)], axis=1)
        return ends

    def sets(self, table: AnyArray, coverage: float, offset: Floats | None = None) -> AnyArray:
        """Return which classes belong to the cross-conformal set of each row, shape (n, classes)."""
        scores = 1.0 - self._predict(table, offset)
        below = sum(
            np.searchsorted(known, score, side="left") for known, score in zip(self.scores, scores, strict=True)
        )
        belongs: AnyArray = below < conformal_rank(self.n_scores, coverage)
        return belongs

    def _predict(self, table: AnyArray, offset: Floats | None = None) -> Floats:
        """Return the parameters of each chain, shape (chains, n, outputs)."""
        return np.stack([_predict(forest, table, self.prefixes, offset) for forest in self.forests])

    def _ends(self, predicted: Floats, needed: float) -> Floats:
        """Return both ends of the interval whose upper end is above ``needed`` of the rows' ends, shape (n, 2)."""
        if self.distribution is not None:
            return distributional_ends(self.distribution, predicted, self.scores, needed)
        means, scales = predicted[:, :, 0], np.sqrt(predicted[:, :, 1])
        upper = self._upper_end(means, scales, needed)
        lower = -self._upper_end(-means, scales, needed)
        return np.stack([lower, upper], axis=1)

    def _upper_end(self, means: Floats, scales: Floats, needed: float) -> Floats:
        """Return the ``needed``-th smallest of all mean + scale * score, by bisection; shape (n,)."""
        largest = np.array([known[-1] if len(known) else 0.0 for known in self.scores])[:, np.newaxis]
        low, high = means.min(axis=0), (means + scales * largest).max(axis=0)
        for _ in range(_BISECTIONS):
            middle: Floats = 0.5 * (low + high)
            count = sum(
                np.searchsorted(known, (middle - mean) / scale, side="right")
                for known, mean, scale in zip(self.scores, means, scales, strict=True)
            )
            enough = count >= needed
            high, low = np.where(enough, middle, high), np.where(enough, low, middle)
        end: Floats = high
        return end


def _predict(forest: Forest, table: AnyArray, prefixes: tuple[int, ...] | None, offset: Floats | None) -> Floats:
    """Return the parameters of a chain, shape (n, outputs), with the offset of classes."""
    parameters = predict_table(forest, table, prefixes=prefixes)
    predicted: Floats = (parameters if offset is None else add_to_scores(parameters, offset)).mean(axis=0)
    return predicted
