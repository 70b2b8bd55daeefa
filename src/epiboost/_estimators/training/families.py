"""Takes the family of distributions that fits the training rows, where the user has asked for that."""

from dataclasses import replace

import numpy as np

from epiboost._binning.bins import BinnedTable
from epiboost._boosting.capacity import usual_size
from epiboost._boosting.objectives import OBJECTIVES
from epiboost._boosting.out_of_fold import (
    DEFAULT_FOLDS,
    MIN_ROWS,
    OutOfFoldPlan,
    TooFewRowsError,
    content_ranks,
    has_counts_of_targets,
    out_of_fold_plan,
)
from epiboost._boosting.recipe import Recipe
from epiboost._estimators.capacity import count_rows, given_size
from epiboost._estimators.family_choice import FamilyChoice
from epiboost._estimators.number_target import check_support, numbers_of
from epiboost._estimators.out_of_fold.families import FamilyComparison, possible_families
from epiboost._estimators.training_rows import TrainingRows
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress
from epiboost._typing import Floats
from epiboost.engines.base import Engine


def choose_family(
    engine: Engine,
    rows: TrainingRows,
    recipe: Recipe,
    seed: int,
    plan: OutOfFoldPlan | None,
    *,
    progress: Progress,
) -> FamilyChoice:
    """Return the losses of the families that the targets can have; none for fewer than 40 rows.

    Parameters
    ----------
    engine : Engine
        One whose members predict a Normal or a mean alone leaves no choice.
    rows : TrainingRows
    recipe : Recipe
    seed : int
        Of the ensemble.
    plan : OutOfFoldPlan or None
        The folds of the ensemble; None for four folds of the rows.
    progress : callable
    """
    data = rows.data
    families: tuple[str, ...] = ("normal",)
    if engine.capabilities.distributions:
        families = possible_families(_all_targets(data))
    if engine.capabilities.compiled_families:
        families = tuple(family for family in families if _is_compiled(family, data))
    if plan is None and len(data.y) >= MIN_ROWS:
        plan = _plan_of_four(rows)
    if plan is None or len(families) == 1:
        return FamilyChoice({}, {}, {}, 0, 0.0)
    size = given_size(recipe, usual_size(count_rows(data), is_classification=False))
    return FamilyComparison(engine, data, recipe, size, seed, plan, progress).choose(families)


def with_family(rows: TrainingRows, family: str) -> TrainingRows:
    """Return training rows whose target is of another family."""
    data, evaluation = rows.data, rows.data.evaluation
    target = numbers_of(family, data.y, data.weight)
    if evaluation is not None:
        check_support(target, evaluation.y, name="eval_set")
        evaluation = replace(evaluation, objective=target.objective, settings=target.settings)
    of_family = replace(data, objective=target.objective, settings=target.settings, evaluation=evaluation)
    return replace(rows, target=target, data=of_family)


def _is_compiled(family: str, data: Dataset) -> bool:
    """Return whether the native core has the formulas of a family."""
    settings = numbers_of(family, data.y, data.weight).settings
    try:
        OBJECTIVES[family].of(data.y, data.weight, 0, settings).code  # noqa: B018 (raises)
    except ValueError:
        return False
    return True


def _all_targets(data: Dataset) -> Floats:
    return data.y if data.evaluation is None else np.concatenate([data.y, data.evaluation.y])


def _plan_of_four(rows: TrainingRows) -> OutOfFoldPlan | None:
    """Return four folds; in a table of counts of targets, rows with the same features leave together."""
    data, groups = rows.data, None if rows.groups is None else rows.groups[rows.kept]
    table = data.X.codes if isinstance(data.X, BinnedTable) else data.X
    if groups is None and has_counts_of_targets(table, data.y, data.weight):
        groups = content_ranks(table, np.zeros_like(data.y))
    try:
        return out_of_fold_plan(DEFAULT_FOLDS, table, data.y, n_classes=0, weight=data.weight, groups=groups)
    except TooFewRowsError:
        return None
