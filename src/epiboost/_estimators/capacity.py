"""The capacity of an ensemble: what the user gives, and for the rest what fits the table."""

import math

from epiboost._boosting.capacity import AUTO, Capacity, TreeSize, candidates, chain_length, usual_size
from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._boosting.recipe import Recipe
from epiboost._estimators.out_of_fold.tree_size import ShortChains
from epiboost._inputs.dataset import Dataset
from epiboost._progress import progress_bar
from epiboost.engines.base import Engine

_SPARE_LENGTH = 2.0  # a chain is this much longer than where short chains of a classifier were best


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
    n_rows, is_classification = len(data.X), data.n_classes > 0
    usual = usual_size(n_rows, is_classification=is_classification)
    size, length = _given_size(recipe, usual), math.inf
    is_open = recipe.max_depth == AUTO and recipe.max_leaves in {None, AUTO}
    if is_open and plan is not None and "max_depth" not in engine.capabilities.unsupported:
        leaf_wise = recipe.max_leaves == AUTO and "max_leaves" not in engine.capabilities.unsupported
        sizes = candidates(n_rows, is_classification=is_classification, leaf_wise=leaf_wise)
        with progress_bar("Comparing trees", enabled=verbose) as progress:
            size, best_length = ShortChains(engine, data, recipe, seed, plan, progress).compare(sizes, usual)
        length = _SPARE_LENGTH * best_length if is_classification else math.inf
    if recipe.n_estimators == AUTO and length < n_estimators * rate:
        n_estimators = math.ceil(length / rate)
    return Capacity(n_estimators, rate, size.max_depth, size.max_leaves)


def _given_size(recipe: Recipe, usual: TreeSize) -> TreeSize:
    """Return the size of trees that the user gives; the usual one if there is none."""
    depth = None if recipe.max_depth in {None, AUTO} else int(recipe.max_depth)
    if recipe.max_leaves not in {None, AUTO}:
        return TreeSize(depth, int(recipe.max_leaves))
    return usual if depth is None else TreeSize(depth)
