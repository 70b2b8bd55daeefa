"""Training of an ensemble with its out-of-fold chains."""

import numbers
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._binning.bins import BinnedTable
from epiboost._boosting.out_of_fold import (
    DEFAULT_FOLDS,
    MIN_ROWS,
    OutOfFoldPlan,
    TooFewRowsError,
    out_of_fold_plan,
)
from epiboost._boosting.recipe import Recipe
from epiboost._boosting.truncation import stages_of
from epiboost._estimators.out_of_fold.cross_conformal import FoldChains
from epiboost._estimators.out_of_fold.distinct_rows import DistinctRows, numbers_of
from epiboost._estimators.out_of_fold.measurement import OutOfFold, measure, subsets_of
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress
from epiboost._typing import AnyArray, LibraryObject
from epiboost.engines.base import Engine, Forest, fit_subsets

_MIN_CHAINS = 5  # members for which "auto" trains out-of-fold chains; with fewer these would cost more than the members


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFoldOptions:
    """What the user asks of the out-of-fold chains.

    Attributes
    ----------
    folds : "auto", int, splitter or iterable of (train, test)
    keep : bool
        Whether the chains are kept for predictions.
    groups : array of shape (given rows,) or None
    kept : array of bool of shape (given rows,)
        Which of the rows that `fit` was given have a positive weight.
    """

    folds: LibraryObject
    keep: bool
    groups: AnyArray | None
    kept: AnyArray


def plan_for(options: OutOfFoldOptions, recipe: Recipe, data: Dataset) -> OutOfFoldPlan | None:
    """Return which out-of-fold chains to train; None for none."""
    folds = options.folds
    in_memory = isinstance(data.X, np.ndarray | BinnedTable)
    if isinstance(folds, str) and folds == "auto":
        plan = _automatic_plan(options, recipe, data) if in_memory else None
    elif isinstance(folds, numbers.Integral) and folds == 0:
        plan = None
    elif not in_memory:
        message = "out_of_fold needs the rows in memory; engine='native' has the bins of a Dask collection there"
        raise ValueError(message)
    else:
        plan = _plan(folds, options, data)
    if plan is None and options.keep:
        message = "keep_folds=True needs out-of-fold chains; set out_of_fold to a number of folds"
        raise ValueError(message)
    return plan


def _automatic_plan(options: OutOfFoldOptions, recipe: Recipe, data: Dataset) -> OutOfFoldPlan | None:
    if recipe.n_chains < _MIN_CHAINS or data.weight.sum() < MIN_ROWS:
        return None
    try:
        plan = _plan(DEFAULT_FOLDS, options, data)
    except TooFewRowsError:
        return None
    if plan is None or data.weight[np.concatenate(plan.tests)].sum() < MIN_ROWS:
        return None
    return plan


def _plan(folds: LibraryObject, options: OutOfFoldOptions, data: Dataset) -> OutOfFoldPlan | None:
    table = data.X.codes if isinstance(data.X, BinnedTable) else data.X
    return out_of_fold_plan(folds, table, data.y, n_classes=data.n_classes, groups=options.groups, kept=options.kept)


def train(
    engine: Engine, data: Dataset, recipe: Recipe, seed: int, plan: OutOfFoldPlan, *, keep: bool, progress: Progress
) -> tuple[Forest, OutOfFold]:
    """Train the members and the out-of-fold chains of a plan, and measure the model by the latter."""
    if keep and not data.n_classes and not engine.capabilities.variance:
        message = "keep_folds=True is for members that predict a distribution; these predict a mean alone"
        raise ValueError(message)
    n_chains = len(plan.trains) + len(plan.extra_trains)
    subsets = subsets_of(plan, recipe.out_of_fold_specs(seed, n_chains))
    forest, *forests = fit_subsets(engine, data, recipe.specs(seed), subsets, progress)
    stages = _stages([forest, *forests]) if engine.capabilities.prefixes and recipe.prefixes is None else None
    distinct = DistinctRows.of(plan, numbers_of(data.X), data.y)
    own_plan, own_data = distinct.of_plan(plan), distinct.of_data(data)
    own_table = numbers_of(own_data.X)
    measured = measure(own_plan, forests, own_data, own_table, prefixes=recipe.prefixes, stages=stages)
    if keep:
        chains = forests[: len(plan.tests)]
        kept = FoldChains.of(own_plan, chains, own_data, own_table, measured.prefixes(recipe.prefixes))
        measured = measured.with_chains(kept)
    return forest, measured.of_rows(distinct.number)


def _stages(forests: Sequence[Forest]) -> tuple[int, ...] | None:
    """Return evenly spaced tree counts up to all trees; None if early stopping has chosen other numbers per chain."""
    lengths = {int(count) for forest in forests for count in forest.n_trees}
    if len(lengths) > 1:
        return None
    return stages_of(lengths.pop())
