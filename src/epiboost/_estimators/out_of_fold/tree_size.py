"""Chooses the size of the trees: short out-of-fold chains of each candidate are compared.

A chain of the ensemble errs more than the average of its members, and the more so the larger its trees. Two chains that
differ in their seeds alone show by how much: the loss L₂ of their average is below their mean loss L₁ by half of what
averaging very many gains (exactly so for a squared error). So the expected loss of M members is
L₁ − 2 (1 − 1/M) (L₁ − L₂).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from epiboost._binning.bins import BinnedTable
from epiboost._boosting.capacity import TreeSize
from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._boosting.recipe import Recipe
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress, no_progress
from epiboost._typing import AnyArray, Floats
from epiboost.engines.base import Engine, Forest, Subset, fit_subsets

SHORT_TREES, SHORT_RATE = 150, 0.3
"""Trees and learning rate of a short chain."""

_ONE_FOLD_ROWS = 5_000  # with so many rows, those of one fold show the difference
_N_STAGES = 10
_PLAINLY_BELOW = 0.98  # of few rows, smaller differences are chance


@dataclass(frozen=True, slots=True, eq=False)
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

        Candidates are in ascending order. The search starts at the usual one and goes down or up while that helps. The
        second result is the learning rate times the number of trees at which its chains were best; infinite if that was
        their end.
        """
        stages = _stages() if self.engine.capabilities.prefixes else (SHORT_TREES,)
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
        if loss(best) > _PLAINLY_BELOW * loss(start):
            best = start
        stage = int(found[best].argmin())
        return sizes[best], stages[stage] * SHORT_RATE if stage < len(stages) - 1 else math.inf

    def _expected_losses(self, size: TreeSize, stages: Sequence[int]) -> Floats:
        """Return the expected loss of the ensemble at each stage."""
        forests = self._train(size)
        data, table = self.data, self.data.X.numbers() if isinstance(self.data.X, BinnedTable) else self.data.X
        sums, gain, total = np.zeros(len(stages)), np.zeros(len(stages)), 0.0
        for fold, (forest, test) in enumerate(zip(forests, self.plan.tests, strict=False)):
            y, weight = data.y[test], data.weight[test]
            found = forest.predict(table[test], prefixes=stages if len(stages) > 1 else None)
            chains = found.reshape(-1, len(stages), *found.shape[1:])
            alone = np.stack([_losses(chain, y, weight, forest.family) for chain in chains])
            if fold == 0:
                gain = alone.mean(axis=0) - _losses(chains.mean(axis=0), y, weight, forest.family)
            sums += alone[0] * weight.sum()
            total += weight.sum()
        expected: Floats = sums / total - 2.0 * (1.0 - 1.0 / self.recipe.n_members) * gain
        return expected

    def _train(self, size: TreeSize) -> Sequence[Forest]:
        """Return the chain of each fold; that of the first has a second member."""
        short = replace(
            self.recipe,
            n_estimators=SHORT_TREES,
            learning_rate=SHORT_RATE,
            max_depth=size.max_depth,
            max_leaves=size.max_leaves,
            early_stopping_rounds=None,
        )
        n_folds = 1 if len(self.data.X) >= _ONE_FOLD_ROWS else len(self.plan.trains)
        *specs, repeated = short.out_of_fold_specs(self.seed, n_folds + 1)
        subsets = [Subset(train, (spec,)) for train, spec in zip(self.plan.trains, specs, strict=False)]
        subsets[0] = Subset(self.plan.trains[0], (specs[0], repeated))
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


def _stages() -> tuple[int, ...]:
    return tuple(SHORT_TREES * step // _N_STAGES for step in range(1, _N_STAGES + 1))
