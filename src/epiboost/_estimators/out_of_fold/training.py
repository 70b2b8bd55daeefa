"""Training of an ensemble with its out-of-fold chains."""

import numbers
from dataclasses import dataclass

import numpy as np

from epiboost._binning.bins import BinnedTable
from epiboost._boosting.out_of_fold import DEFAULT_FOLDS, MIN_ROWS, OutOfFoldPlan, out_of_fold_plan
from epiboost._boosting.recipe import Recipe
from epiboost._estimators.out_of_fold.cross_conformal import FoldChains
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
    groups : array of shape (n,) or None
    """

    folds: LibraryObject
    keep: bool
    groups: AnyArray | None


def plan_for(options: OutOfFoldOptions, recipe: Recipe, data: Dataset) -> OutOfFoldPlan | None:
    """Return which out-of-fold chains to train; None for none."""
    folds = options.folds
    in_memory = isinstance(data.X, np.ndarray | BinnedTable)
    if isinstance(folds, str) and folds == "auto":
        folds = DEFAULT_FOLDS if recipe.n_chains >= _MIN_CHAINS and in_memory and len(data.X) >= MIN_ROWS else 0
        if folds and _n_splittable(data) < MIN_ROWS:
            folds = 0
    if isinstance(folds, numbers.Integral) and folds == 0:
        if options.keep:
            message = "keep_folds=True needs out-of-fold chains; set out_of_fold to a number of folds"
            raise ValueError(message)
        return None
    if not in_memory:
        message = "out_of_fold needs the rows in memory; engine='native' has the bins of a Dask collection there"
        raise ValueError(message)
    table = data.X.codes if isinstance(data.X, BinnedTable) else data.X
    return out_of_fold_plan(folds, table, data.y, n_classes=data.n_classes, groups=options.groups)


def train(
    engine: Engine, data: Dataset, recipe: Recipe, seed: int, plan: OutOfFoldPlan, *, keep: bool, progress: Progress
) -> tuple[Forest, OutOfFold]:
    """Train the members and the out-of-fold chains of a plan, and measure the model by the latter."""
    n_chains = len(plan.trains) + len(plan.extra_trains)
    subsets = subsets_of(plan, recipe.out_of_fold_specs(seed, n_chains))
    forest, *forests = fit_subsets(engine, data, recipe.specs(seed), subsets, progress)
    table = data.X.numbers() if isinstance(data.X, BinnedTable) else data.X
    measured = measure(plan, forests, data, table, recipe.prefixes)
    if keep:
        if forest.family == "mean":
            message = "keep_folds=True is for members that predict a distribution; these predict a mean alone"
            raise ValueError(message)
        kept = FoldChains.of(plan, forests[: len(plan.tests)], data, table, measured.prefixes(recipe.prefixes))
        measured = measured.with_chains(kept)
    return forest, measured


def _n_splittable(data: Dataset) -> int:
    """Return the number of rows whose class is frequent enough to be split into folds; all rows of a regression."""
    if not data.n_classes:
        return len(data.y)
    counts = np.bincount(data.y.astype(np.int64), minlength=data.n_classes)
    return int(counts[counts >= DEFAULT_FOLDS].sum())
