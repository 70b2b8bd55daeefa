"""Chooses the size of the trees: short out-of-fold chains of each candidate are compared.

A chain of the ensemble errs more than the average of its members, and the more so the larger its trees. Two chains that
differ in their seeds alone show by how much: the loss L₂ of their average is below their mean loss L₁ by half of what
averaging very many gains (exactly so for a squared error). So the expected loss of M members is
L₁ − 2 (1 − 1/M) (L₁ − L₂).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from epiboost._boosting.capacity import TreeSize
from epiboost._boosting.class_offset import add_to_scores
from epiboost._boosting.objectives import DISTRIBUTIONS, distribution_named
from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._boosting.recipe import Recipe
from epiboost._boosting.truncation import stages_of
from epiboost._estimators.out_of_fold.distinct_rows import DistinctRows, numbers_of
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress, no_progress
from epiboost._typing import AnyArray, Floats
from epiboost.engines.base import Engine, Forest, Subset, fit_subsets, predict_table

_TREES, _RATE = 150, 0.3  # of a short chain: in the order of sizes it agrees with chains of the whole length
_ONE_FOLD_ROWS = 5_000  # with so many rows, those of one fold show the difference
_ONE_FOLD_ROWS_WITH_CATEGORIES = 1_000  # which are encoded anew for each fold and size
_PLAINLY_BELOW = 0.97  # smaller differences of the absolute error are chance in tables of some hundred rows
_PLAINLY_BELOW_LOG_LOSS = 0.98  # which differs less between sizes


@dataclass(frozen=True, eq=False)
class ShortChains:
    """Short out-of-fold chains of an ensemble.

    Attributes
    ----------
    engine : Engine
    data : Dataset
    recipe : Recipe
        Of the ensemble; the short chains have other trees.
    seed : int
        Of the ensemble.
    plan : OutOfFoldPlan
    progress : callable
        Called for each size of trees as an engine calls it.
    """

    engine: Engine
    data: Dataset
    recipe: Recipe
    seed: int
    plan: OutOfFoldPlan
    progress: Progress = no_progress

    def compare(self, sizes: Sequence[TreeSize], usual: TreeSize) -> tuple[TreeSize, float]:
        """Return the candidate whose ensemble has the smallest expected loss, if it is plainly below that of the usual.

        Candidates are in ascending order, each taken at the stage where it is best. The search starts at the usual one
        and goes down or up while that helps. The second result is the learning rate times the number of trees of the
        best stage; infinite if that is the last.
        """
        stages = stages_of(_TREES) if self.engine.capabilities.prefixes else (_TREES,)
        found: dict[int, Floats] = {}

        def loss(position: int) -> float:
            if position not in found:
                found[position] = self._expected_losses(sizes[position], stages)
            return float(found[position].min())

        start = best = sizes.index(usual)
        for step in (-1, 1):
            while 0 <= best + step < len(sizes) and loss(best + step) < loss(best):
                best += step
            if best != start:
                break
        if loss(best) > (_PLAINLY_BELOW_LOG_LOSS if self.data.n_classes else _PLAINLY_BELOW) * loss(start):
            best = start
        stage = int(found[best].argmin())
        return sizes[best], stages[stage] * _RATE if stage < len(stages) - 1 else math.inf

    @cached_property
    def _folds(self) -> list[int]:
        """The folds to use: all, or the one whose chain sees most; that one comes first."""
        weight = self.data.weight
        order = sorted(range(len(self.plan.trains)), key=lambda fold: -float(weight[self.plan.trains[fold]].sum()))
        enough = _ONE_FOLD_ROWS_WITH_CATEGORIES if any(self.data.n_codes) else _ONE_FOLD_ROWS
        return order[:1] if weight.sum() >= enough else order

    @cached_property
    def _distinct(self) -> tuple[OutOfFoldPlan, Dataset, AnyArray]:
        """Plan, data and table of the distinct rows, in canonical order."""
        distinct = DistinctRows.of(self.plan, numbers_of(self.data.X), self.data)
        data = distinct.of_data(self.data)
        return distinct.of_plan(self.plan), data, numbers_of(data.X)

    @property
    def _gain_factor(self) -> float:
        """Multiple of L₁ − L₂ by which the ensemble is better than a chain; stages of one chain are no ensemble."""
        members = 1 if self.recipe.ensemble == "virtual" else self.recipe.n_posterior_members
        return 2.0 * (1.0 - 1.0 / members)

    def _expected_losses(self, size: TreeSize, stages: Sequence[int]) -> Floats:
        """Return the expected loss of the ensemble at each stage."""
        plan, data, table = self._distinct
        sums, gain, total = np.zeros(len(stages)), np.zeros(len(stages)), 0.0
        for fold, forest in zip(self._folds, self._train(size), strict=True):
            test = plan.tests[fold]
            y, weight = data.y[test], data.weight[test]
            predicted = predict_table(forest, table[test], prefixes=stages if len(stages) > 1 else None)
            if data.offset is not None:
                predicted = add_to_scores(predicted, data.offset[test])
            chains = predicted.reshape(-1, len(stages), *predicted.shape[1:])
            if data.objective in DISTRIBUTIONS:  # compared by their means
                chains = distribution_named(data.objective, data.settings).mean(chains)[..., np.newaxis]
            alone = np.stack([_losses(chain, y, weight, forest.family) for chain in chains])
            if len(chains) > 1:
                gain = alone.mean(axis=0) - _losses(chains.mean(axis=0), y, weight, forest.family)
            sums += alone[0] * weight.sum()
            total += weight.sum()
        expected: Floats = sums / total - self._gain_factor * gain
        return expected

    def _train(self, size: TreeSize) -> Sequence[Forest]:
        """Return the chain of each fold; that of the first has a second member."""
        short = replace(
            self.recipe,
            n_members=1,
            n_estimators=_TREES,
            learning_rate=_RATE,
            max_depth=size.max_depth,
            max_leaves=size.max_leaves,
        )
        repeated, *specs = short.short_specs(self.seed, len(self._folds) + 1)
        subsets = [Subset(self.plan.trains[fold], (spec,)) for fold, spec in zip(self._folds, specs, strict=True)]
        subsets[0] = replace(subsets[0], specs=(specs[0], repeated))
        return fit_subsets(self.engine, replace(self.data, evaluation=None), (), subsets, self.progress)


def _losses(parameters: Floats, y: Floats, weight: Floats, family: str) -> Floats:
    """Return the mean loss at each stage: absolute error, which outliers do not decide, or log-loss of classes."""
    if family == "categorical":
        picked = parameters[:, np.arange(len(y)), y.astype(np.int64)]
        losses: AnyArray = -np.log(np.maximum(picked, np.finfo(float).tiny))
    else:
        losses = np.abs(parameters[:, :, 0] - y)
    averaged: Floats = np.average(losses, axis=1, weights=weight)
    return averaged
