"""The capacity of an ensemble: what the user gives, and for the rest what fits the table."""

import math

from epiboost._binning.bins import BinnedTable
from epiboost._boosting.capacity import AUTO, Capacity, TreeSize, candidates, chain_length, usual_size
from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._boosting.recipe import Recipe
from epiboost._estimators.out_of_fold.tree_size import ShortChains
from epiboost._inputs.dataset import Dataset
from epiboost._progress import progress_bar
from epiboost.engines.base import Engine

_SPARE_LENGTH = 2.0  # a lower rate and more rows make the best chain longer than the short ones say
_MAX_WIDTH = 1_000  # columns times outputs: the histograms of 255 leaves then take half a gigabyte per chain


def choose_capacity(
    engine: Engine, data: Dataset, recipe: Recipe, seed: int, plan: OutOfFoldPlan | None, *, verbose: bool
) -> Capacity:
    """Return the capacity of the ensemble; values that are given stay.

    Parameters
    ----------
    engine : Engine
    data : Dataset
    recipe : Recipe
    seed : int
        Of the ensemble.
    plan : OutOfFoldPlan or None
        Folds in which sizes of trees are compared; None if they are not.
    verbose : bool
        Whether to show a progress bar.
    """
    n_estimators, rate = chain_length(recipe.n_estimators, recipe.learning_rate)
    n_rows, is_classification = _count_rows(data), data.n_classes > 0
    usual = usual_size(n_rows, is_classification=is_classification)
    size, length = _given_size(recipe, usual), math.inf
    is_open = recipe.max_depth == AUTO and recipe.max_leaves in {None, AUTO}
    if plan is None or not is_open or "max_depth" in engine.capabilities.unsupported:
        return Capacity(n_estimators, rate, size.max_depth, size.max_leaves)
    leaf_wise = _may_be_leaf_wise(engine, data, recipe)
    sizes = candidates(n_rows, is_classification=is_classification, leaf_wise=leaf_wise)
    if len(sizes) > 1:
        with progress_bar("Comparing trees", enabled=verbose) as progress:
            size, best_length = ShortChains(engine, data, recipe, seed, plan, progress).compare(sizes, usual)
        length = _SPARE_LENGTH * best_length if is_classification and recipe.ensemble != "virtual" else math.inf
    if recipe.n_estimators == AUTO and length < n_estimators * rate:
        n_estimators = math.ceil(length / rate)
    return Capacity(n_estimators, rate, size.max_depth, size.max_leaves)


def _count_rows(data: Dataset) -> float:
    """Return the number of rows, where a row of weight two counts twice; rows on a cluster have no weights here."""
    return float(data.weight.sum()) if len(data.weight) else len(data.X)


def _may_be_leaf_wise(engine: Engine, data: Dataset, recipe: Recipe) -> bool:
    if recipe.max_leaves != AUTO or "max_leaves" in engine.capabilities.unsupported:
        return False
    columns = (data.X.codes if isinstance(data.X, BinnedTable) else data.X).shape[1]
    return bool(columns * max(data.n_classes, 2) <= _MAX_WIDTH)


def _given_size(recipe: Recipe, usual: TreeSize) -> TreeSize:
    """Return the size of trees that the user gives; the usual one if there is none."""
    depth = None if recipe.max_depth in {None, AUTO} else int(recipe.max_depth)
    if recipe.max_leaves not in {None, AUTO}:
        return TreeSize(depth, int(recipe.max_leaves))
    return usual if depth is None else TreeSize(depth)
