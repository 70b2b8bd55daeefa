"""Compares families of distributions by the likelihood of rows that short chains have not seen.

Every family whose support holds all targets is trained in the same way: chains of few trees, without a fold each, on a
sample of a large table. Their dispersion is recalibrated on one half of the tested rows and judged on the other. Each
family is taken at the number of trees that is best for it, since they do not overfit alike.

**Whole numbers.** A density and a probability cannot be compared. Where all targets are counts, a continuous family is
judged by the probability of the interval from y − ½ to y + ½ (for a count of 0, of all that is below ½): what it says
of that count once its numbers are rounded. Other targets that repeat, as prices in tens, have a width of their own: the
smallest step between them, and the loss is the negative logarithm of the probability divided by the width. Otherwise a
family could gain without limit by a density that is high at the repeated values alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from epiboost._boosting.capacity import TreeSize
from epiboost._boosting.objectives import DISTRIBUTIONS, OBJECTIVES, Distribution, NumberObjective, distribution_named
from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._boosting.recipe import Recipe
from epiboost._estimators.family_choice import FamilyChoice
from epiboost._estimators.out_of_fold.distinct_rows import DistinctRows, numbers_of
from epiboost._estimators.out_of_fold.number_fit import UnseenTargets, most_likely
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress, no_progress
from epiboost._typing import AnyArray, Floats, Integers
from epiboost.engines.base import Engine, Subset, fit_subsets, predict_table

_STAGES, _RATE = (20, 40, 80), 0.15  # trees of a short chain, of which each family takes what is best for it
_ENOUGH_ROWS = 5_000  # with so many, those of one fold tell families apart
_MOST_ROWS = 20_000  # that a chain is trained on
_FITTED_ROWS = 2_000  # for two numbers of a recalibration
_HISTOGRAM_ROWS = 2_000  # with fewer the shares of its bins are chance
_REPEATS = 0.5  # share of distinct targets below which they are on a grid
_SMALLEST_STEP = 1e-9  # relative to the largest target; smaller steps are rounding errors
_UNSURE = 1e-12  # differences of distribution functions below this have lost their digits
_LARGE = 1e6  # a loss that no row exceeds
_TINY = float(np.finfo(np.float64).tiny)


def possible_families(y: Floats) -> tuple[str, ...]:
    """Return the families whose support holds all of these numbers.

    >>> "poisson" in possible_families(np.array([0.0, 3.0])), "gamma" in possible_families(np.array([0.0, 3.0]))
    (True, False)
    """
    found = ["normal"]
    for name in DISTRIBUTIONS:
        objective = OBJECTIVES[name]
        fits = issubclass(objective, NumberObjective) and bool(np.asarray(objective.is_possible(y)).all())
        if fits and (name != "histogram" or len(y) >= _HISTOGRAM_ROWS):
            found.append(name)
    return tuple(found)


def width_of(y: Floats) -> float:
    """Return the width of the interval that stands for a target: 1 for counts; 0 for numbers that do not repeat.

    >>> width_of(np.array([0.0, 3.0])), width_of(np.array([0.5, 1.0] * 20)), width_of(np.array([0.1, 0.7]))
    (1.0, 0.5, 0.0)
    """
    if bool(((y >= 0.0) & (y == np.floor(y))).all()):
        return 1.0
    distinct = np.unique(y)
    steps = np.diff(distinct)
    steps = steps[steps > _SMALLEST_STEP * float(np.abs(y).max())]
    return float(steps.min()) if len(distinct) <= _REPEATS * len(y) and len(steps) else 0.0


def row_losses(distribution: Distribution, parameters: Floats, y: Floats, width: float) -> Floats:
    """Return the negative log-likelihood of each target, shape (n,), see the module.

    Parameters
    ----------
    distribution : Distribution
    parameters : array of shape (n, outputs)
    y : array of shape (n,)
    width : float
        See `width_of`.
    """
    with np.errstate(all="ignore"):
        log_likelihood = distribution.logpdf(parameters, y)
        if width > 0.0 and not distribution.is_discrete:
            below, above = y - 0.5 * width, y + 0.5 * width
            is_lowest = (y == 0.0) & (width == 1.0)  # what is below the first count is a count of 0
            start = np.where(is_lowest, 0.0, distribution.cdf(parameters, below))
            rest = np.where(is_lowest, 1.0, distribution.sf(parameters, below))
            low, high = distribution.cdf(parameters, above) - start, rest - distribution.sf(parameters, above)
            probability = np.where(start < 0.5, low, high)  # noqa: PLR2004 (the half whose digits are kept)
            of_interval = np.log(np.maximum(probability, _TINY)) - np.log(width)
            log_likelihood = np.where(probability > _UNSURE, of_interval, np.minimum(log_likelihood, np.log(_UNSURE)))
        losses: Floats = np.minimum(np.nan_to_num(-log_likelihood, nan=_LARGE, posinf=_LARGE), _LARGE)
    return losses


@dataclass(frozen=True, eq=False)
class FamilyComparison:
    """Short out-of-fold chains of families.

    Attributes
    ----------
    engine : Engine
    data : Dataset
        Of any family.
    recipe : Recipe
        Of the ensemble; the short chains have other trees.
    size : TreeSize
    seed : int
        Of the ensemble.
    plan : OutOfFoldPlan
    progress : callable
    """

    engine: Engine
    data: Dataset
    recipe: Recipe
    size: TreeSize
    seed: int
    plan: OutOfFoldPlan
    progress: Progress = no_progress

    def choose(self, families: Sequence[str]) -> FamilyChoice:
        """Return the losses of the families."""
        _, data, _ = self._distinct
        y, weight = data.y[self._tested], data.weight[self._tested]
        width = width_of(data.y)
        losses = {family: self._losses(family, y, weight, width) for family in families}
        means = {family: float(np.average(of_rows, weights=weight)) for family, of_rows in losses.items()}
        best = losses[min(means, key=lambda family: means[family])]
        errors = {family: _standard_error(of_rows - best, weight) for family, of_rows in losses.items()}
        return FamilyChoice(means, errors, {family: _n_parameters(family, data) for family in families}, len(y), width)

    @cached_property
    def _distinct(self) -> tuple[OutOfFoldPlan, Dataset, AnyArray]:
        """Plan, data and table of the distinct rows, in canonical order."""
        distinct = DistinctRows.of(self.plan, numbers_of(self.data.X), self.data)
        data = replace(distinct.of_data(self.data), evaluation=None)
        return distinct.of_plan(self.plan), data, numbers_of(data.X)

    @cached_property
    def _folds(self) -> list[tuple[Integers, Integers]]:
        """Rows to train on and to test on: of all folds, or of the one whose chain sees most."""
        plan, data, _ = self._distinct
        folds = sorted(zip(plan.trains, plan.tests, strict=True), key=lambda fold: -float(data.weight[fold[0]].sum()))
        return [
            (_evenly(train, _MOST_ROWS), _evenly(test, _MOST_ROWS))
            for train, test in (folds[:1] if len(data.y) >= _ENOUGH_ROWS else folds)
        ]

    @cached_property
    def _tested(self) -> Integers:
        return np.concatenate([test for _, test in self._folds])

    def _losses(self, family: str, y: Floats, weight: Floats, width: float) -> Floats:
        """Return the loss of each tested row after as many trees as are best for the family."""
        settings = _settings(family, self.data)
        stages = []
        for predicted in self._predicted(family, settings):
            unseen = UnseenTargets(family, settings, y, weight, predicted)
            stages.append(_recalibrated_losses(unseen, width))
        return min(stages, key=lambda losses: float(np.average(losses, weights=weight)))

    def _predicted(self, family: str, settings: tuple[float, ...]) -> Floats:
        """Return the parameters of the tested rows by chains that have not seen them, shape (stages, n, outputs)."""
        _, data, table = self._distinct
        short = replace(
            self.recipe,
            n_members=1,
            n_estimators=_STAGES[-1],
            learning_rate=_RATE,
            max_depth=self.size.max_depth,
            max_leaves=self.size.max_leaves,
        )
        specs = short.short_specs(self.seed, len(self._folds))
        subsets = [Subset(train, (spec,)) for (train, _), spec in zip(self._folds, specs, strict=True)]
        of_family = replace(data, objective=family, settings=settings)
        forests = fit_subsets(self.engine, of_family, (), subsets, self.progress)
        stages = _STAGES if self.engine.capabilities.prefixes else None
        parts = [
            predict_table(forest, table[test], prefixes=stages)
            for forest, (_, test) in zip(forests, self._folds, strict=True)
        ]
        return np.concatenate(parts, axis=1)


def _recalibrated_losses(unseen: UnseenTargets, width: float) -> Floats:
    """Return the loss of each row after a recalibration by the other half of the rows."""
    losses = np.empty(len(unseen.y))
    half = np.arange(len(losses)) % 2 == 0
    for judged in (half, ~half):
        recalibration = most_likely(unseen.take(_evenly(np.flatnonzero(~judged), _FITTED_ROWS)))
        changed = recalibration.of_chain(unseen.predicted[judged], recalibration.shift)
        losses[judged] = row_losses(unseen.distribution, changed, unseen.y[judged], width)
    return losses


def _n_parameters(family: str, data: Dataset) -> int:
    return distribution_named(family, _settings(family, data)).n_parameters


def _settings(family: str, data: Dataset) -> tuple[float, ...]:
    objective = OBJECTIVES[family]
    return objective.settings_for(data.y, data.weight) if issubclass(objective, NumberObjective) else ()


def _evenly(rows: Integers, most: int) -> Integers:
    """Return some of the rows, evenly spread; their canonical order has nothing to do with what is in them."""
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(np.int64)]


def _standard_error(differences: Floats, weight: Floats) -> float:
    mean = np.average(differences, weights=weight)
    return float(np.sqrt(np.square(weight * (differences - mean)).sum()) / weight.sum())
