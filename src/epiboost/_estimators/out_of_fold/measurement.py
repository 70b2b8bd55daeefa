"""Measures a model by its out-of-fold chains, on rows that each has not seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import entr

from epiboost._boosting.objectives import DISTRIBUTIONS, Distribution, distribution_of, is_censored
from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._display import short_repr
from epiboost._estimators.conformal import temper
from epiboost._estimators.out_of_fold.categorical import (
    CategoricalRecalibration,
    fit_temperature_above_one,
    information_distance,
    knowledge_factor,
)
from epiboost._estimators.out_of_fold.chains import PlannedChains
from epiboost._estimators.out_of_fold.cross_conformal import FoldChains
from epiboost._estimators.out_of_fold.disagreement import measure_disagreement
from epiboost._estimators.out_of_fold.normal import fit_normal
from epiboost._estimators.out_of_fold.number_fit import UnseenTargets, fit_numbers, mean_square_slope
from epiboost._estimators.out_of_fold.probability_levels import ProbabilityLevels, probabilities_of_targets
from epiboost._estimators.out_of_fold.recalibration import Recalibration
from epiboost._estimators.out_of_fold.residual_shape import weighted_order
from epiboost._estimators.out_of_fold.unseen import UnseenVariance
from epiboost._inputs.dataset import Dataset
from epiboost._survival.concordance import concordance
from epiboost._typing import AnyArray, Floats, Integers
from epiboost.engines.base import Forest


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFold:
    """What the out-of-fold chains say about a model.

    Attributes
    ----------
    predicted : array of shape (n, outputs)
        Distribution parameters of each training row, recalibrated, by the chain that has not seen it; NaN for rows that
        no chain left out.
    loss : float
        Mean negative log-likelihood of these rows; NaN if members predict no distribution.
    score : float
        R² of these rows, the share that is predicted right, or the concordance index of censored durations.
    recalibration : Recalibration or None
        None for members that predict no distribution.
    scores : array of shape (k,)
        In ascending order: standardised residuals, or one minus the probability of the true class.
    n_trees : int or None
        Number of trees that a classifier should use of its chains; None for all.
    chains : FoldChains or None
        The chains themselves, if they are kept.
    unseen : UnseenVariance or None
        Variance of a regression at rows that the members have not seen; not part of a model file.
    """

    predicted: Floats
    loss: float
    score: float
    recalibration: Recalibration | None
    scores: Floats
    n_trees: int | None = None
    chains: FoldChains | None = None
    unseen: UnseenVariance | None = None

    __repr__ = short_repr

    def of_rows(self, number: Integers) -> "OutOfFold":
        """Return the same with predictions for rows of which these are the distinct ones."""
        unseen = None if self.unseen is None else self.unseen.of_rows(number)
        return replace(self, predicted=self.predicted[number], unseen=unseen)

    def of_given_rows(self, kept: AnyArray) -> "OutOfFold":
        """Return the same with predictions for all rows that `fit` was given; NaN for those of weight zero."""
        if kept.all():
            return self
        predicted = np.full((len(kept), self.predicted.shape[1]), np.nan)
        predicted[kept] = self.predicted
        return replace(self, predicted=predicted)

    def with_exact_means(self) -> "OutOfFold":
        """Return the same with a recalibration that never moves the mean of the members."""
        recalibration = self.recalibration
        if not isinstance(recalibration, CategoricalRecalibration):
            return self
        return replace(self, recalibration=replace(recalibration, max_mean_error=0.0))

    def with_offset(self, offset: Floats, y: Floats, weight: Floats) -> "OutOfFold":
        """Return the same for targets of which an offset had been taken off; ``y`` is what was left of them.

        Parameters
        ----------
        offset, y, weight : arrays of shape (n,)
        """
        predicted = self.predicted.copy()
        predicted[:, 0] += offset
        tested = np.isfinite(predicted[:, 0])
        score = _r2((y + offset)[tested], predicted[tested, 0], weight[tested])
        return replace(self, predicted=predicted, score=score)

    def with_chains(self, chains: FoldChains) -> "OutOfFold":
        """Return the same with the chains."""
        return replace(self, chains=chains)

    @property
    def kept_chains(self) -> FoldChains:
        """The chains; a ValueError if they were not kept."""
        if self.chains is None:
            message = "guarantee=True needs the chains of the folds; fit with keep_folds=True"
            raise ValueError(message)
        return self.chains

    def prefixes(self, of_recipe: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """Return the tree counts at which chains predict: those of a virtual ensemble, or the number in use."""
        return of_recipe if self.n_trees is None else (self.n_trees,)


def measure(
    plan: OutOfFoldPlan,
    forests: Sequence[Forest],
    data: Dataset,
    table: AnyArray,
    *,
    prefixes: tuple[int, ...] | None,
    stages: tuple[int, ...] | None,
    is_virtual: bool,
) -> OutOfFold:
    """Measure the model by its out-of-fold chains.

    Parameters
    ----------
    plan : OutOfFoldPlan
    forests : sequence of Forest
        Of the subsets of the plan.
    data : Dataset
        Targets and weights of the training rows.
    table : array of shape (n, features)
        Training rows as numbers.
    prefixes : tuple of int or None
        Tree counts of the members of a virtual ensemble, or the one that early stopping has chosen.
    stages : tuple of int or None
        Tree counts among which a classifier chooses; None if it has no choice.
    is_virtual : bool
        Whether the ensemble is virtual.
    """
    tested = np.concatenate(plan.tests)
    chains = PlannedChains(plan, forests, table, data.offset)
    if forests[0].family == "categorical":
        return _measure_classes(chains, data, tested, prefixes, stages, is_virtual=is_virtual)
    predictions = [one.mean(axis=0) for one in chains.predict(prefixes)]
    predicted = chains.out_of_fold(predictions)
    y, weight = data.y[tested], data.weight[tested]
    if forests[0].family in DISTRIBUTIONS:
        return _measure_numbers(chains, data, tested, predictions, is_virtual=is_virtual)
    score = _r2(y, predicted[tested, 0], weight)
    if forests[0].family != "normal":
        return OutOfFold(predicted, float("nan"), score, None, np.empty(0))
    means = [one[:, 0] for one in chains.compared(predictions)]
    disagreement = measure_disagreement(plan, means, data.weight, lambda one, other: np.square(one - other))
    if is_virtual:
        disagreement = disagreement.of_virtual()
    share = float(np.mean([len(train) for train in plan.trains])) / len(data.y)
    recalibration, variance = fit_normal(y, predicted[tested], weight, share, disagreement)
    data_variance = np.full(len(predicted), np.nan)
    data_variance[tested] = recalibration.data_variance(predicted[tested, 1])
    unseen = UnseenVariance(predicted[:, 0].copy(), data_variance, recalibration.knowledge * disagreement.seeds)
    predicted[tested, 1] = variance
    residual = y - predicted[tested, 0]
    loss = 0.5 * float(np.average(np.log(2.0 * np.pi * variance) + np.square(residual) / variance, weights=weight))
    scores = weighted_order(residual / np.sqrt(variance), weight)
    return OutOfFold(predicted, loss, score, recalibration, scores, unseen=unseen)


def _measure_classes(
    chains: PlannedChains,
    data: Dataset,
    tested: AnyArray,
    prefixes: tuple[int, ...] | None,
    stages: tuple[int, ...] | None,
    *,
    is_virtual: bool,
) -> OutOfFold:
    """Choose the number of trees and the temperature of a classifier by out-of-fold loss."""
    codes, weight = data.y[tested].astype(np.int64), data.weight[tested]
    by_stage = chains.predict(prefixes if stages is None else stages)
    if stages is None:
        by_stage = [one.mean(axis=0, keepdims=True) for one in by_stage]
    fits = [
        fit_temperature_above_one(chains.out_of_fold([one[stage] for one in by_stage])[tested], codes, weight)
        for stage in range(len(by_stage[0]))
    ]
    best = min(range(len(fits)), key=lambda stage: fits[stage][1])
    temperature, loss = fits[best]
    predictions = [temper(one[best : best + 1], temperature)[0] for one in by_stage]
    predicted = chains.out_of_fold(predictions)
    disagreement = measure_disagreement(chains.plan, chains.compared(predictions), data.weight, information_distance)
    if is_virtual:
        disagreement = disagreement.of_virtual()
    probability = predicted[tested]
    total = float(np.average(entr(probability).sum(axis=1), weights=weight))
    recalibration = CategoricalRecalibration(temperature, knowledge_factor(disagreement, total))
    scores = weighted_order(1.0 - probability[np.arange(len(codes)), codes], weight)
    score = float(np.average(probability.argmax(axis=1) == codes, weights=weight))
    return OutOfFold(predicted, loss, score, recalibration, scores, None if stages is None else stages[best])


def _measure_numbers(
    chains: PlannedChains, data: Dataset, tested: AnyArray, predictions: Sequence[Floats], *, is_virtual: bool
) -> OutOfFold:
    """Measure a regression whose members predict another distribution than a Normal."""
    distribution = distribution_of(data.objective, data.settings)
    predicted = chains.out_of_fold(predictions)
    y, weight, plan = data.y[tested], data.weight[tested], chains.plan
    locations = [distribution.link(one)[:, :1] for one in chains.compared(predictions)]
    if locations[0].shape[1] == 0:  # no location: differences of means
        locations = [distribution.mean(one)[:, np.newaxis] for one in chains.compared(predictions)]
    disagreement = measure_disagreement(
        plan, [one[:, 0] for one in locations], data.weight, lambda one, other: np.square(one - other)
    )
    if is_virtual:
        disagreement = disagreement.of_virtual()
    share = float(np.mean([len(train) for train in plan.trains])) / len(data.y)
    targets = UnseenTargets(data.objective, data.settings, y, weight, predicted[tested])
    recalibration, changed = fit_numbers(targets, share, disagreement)
    means, variances = np.full((2, len(predicted)), np.nan)
    means[tested], variances[tested] = distribution.mean(changed), distribution.variance(changed)
    loss = -float(np.average(targets.log_likelihood(changed), weights=weight))
    levels, score = _levels_and_score(data.objective, distribution, changed, y, weight)
    knowledge = recalibration.knowledge * disagreement.seeds * mean_square_slope(distribution, changed, weight)
    unseen = UnseenVariance(means, variances, knowledge)
    full = np.full((len(predicted), changed.shape[1]), np.nan)
    full[tested] = changed
    return OutOfFold(full, loss, score, recalibration, levels, unseen=unseen)


def _levels_and_score(
    objective: str, distribution: Distribution, parameters: Floats, y: Floats, weight: Floats
) -> tuple[Floats, float]:
    """Return the levels of quantiles at which targets lie, and R², or the concordance index of censored durations."""
    if is_censored(objective):
        lower, upper = (distribution.cdf(parameters, bound) for bound in y.T)
        found = concordance(y, distribution.quantile(parameters, np.asarray(0.5)), weight)
        return ProbabilityLevels.of_bounds(lower, upper, weight).levels, found
    levels = ProbabilityLevels.of(probabilities_of_targets(distribution, parameters, y), weight).levels
    return levels, _r2(y, distribution.mean(parameters), weight)


def _r2(y: Floats, predicted: Floats, weight: Floats) -> float:
    """Return the share of the target's variance that predictions explain; 0 for a constant target."""
    spread = np.average(np.square(y - np.average(y, weights=weight)), weights=weight)
    error = np.average(np.square(y - predicted), weights=weight)
    return float(1.0 - error / spread) if spread > 0.0 else 0.0
