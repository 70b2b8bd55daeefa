"""The capacity of an ensemble: what the user gives, and for the rest what fits the table."""

import math

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
    n_rows, is_classification = count_rows(data), data.n_classes > 0
    usual = usual_size(n_rows, is_classification=is_classification)
    size, capabilities = given_size(recipe, usual), engine.capabilities
    if plan is None or "max_depth" in capabilities.unsupported:
        return Capacity(n_estimators, rate, size.max_depth, size.max_leaves)
    sizes: tuple[TreeSize, ...] = (size,)
    if recipe.max_depth == AUTO and recipe.max_leaves in {None, AUTO}:
        leaf_wise = _may_be_leaf_wise(engine, data, recipe)
        sizes = candidates(n_rows, is_classification=is_classification, leaf_wise=leaf_wise)
    may_be_shorter = recipe.n_estimators == AUTO and capabilities.prefixes and recipe.ensemble != "virtual"
    if len(sizes) > 1 or may_be_shorter:
        with progress_bar("Comparing trees", enabled=verbose) as progress:
            size, length = ShortChains(engine, data, recipe, seed, plan, progress).compare(sizes, size)
        if may_be_shorter and _SPARE_LENGTH * length < n_estimators * rate:
            n_estimators = math.ceil(_SPARE_LENGTH * length / rate)
    return Capacity(n_estimators, rate, size.max_depth, size.max_leaves)


def count_rows(data: Dataset) -> float:
    """Return the number of rows, where a row of weight two counts twice; rows on a cluster have no weights here.

    Weights below one on average do not count rows.
    """
    return max(float(data.weight.sum()), len(data.weight)) if len(data.weight) else len(data.X)


def _may_be_leaf_wise(engine: Engine, data: Dataset, recipe: Recipe) -> bool:
    capabilities = engine.capabilities
    if recipe.max_leaves != AUTO or "max_leaves" in capabilities.unsupported:
        return False
    return bool(data.X.shape[1] * max(data.n_classes, 2) <= _MAX_WIDTH)


def given_size(recipe: Recipe, usual: TreeSize) -> TreeSize:
    """Return the size of trees that the user gives; the usual one if there is none."""
    depth = None if recipe.max_depth in {None, AUTO} else int(recipe.max_depth)
    if recipe.max_leaves not in {None, AUTO}:
        return TreeSize(depth, int(recipe.max_leaves))
    return usual if depth is None else TreeSize(depth)
