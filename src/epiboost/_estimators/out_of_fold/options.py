"""Which out-of-fold chains to train, from what the user asks."""

import numbers
from dataclasses import dataclass
from warnings import warn

import numpy as np

from epiboost._binning.bins import BinnedTable
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
from epiboost._inputs.dataset import Dataset
from epiboost._inputs.sparse_table import SparseTable
from epiboost._typing import AnyArray, LibraryObject

_COUNTS = "the table counts how often each target occurs for the same features, and copies of a row leave together"

MIN_CHAINS = 5
"""Chains of the ensemble from which on "auto" trains out-of-fold chains; beside fewer, these would cost more."""


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
    has_guard : bool
        Whether the engine has a variance guard; otherwise the folds are all that corrects variances.
    """

    folds: LibraryObject
    keep: bool
    groups: AnyArray | None
    kept: AnyArray
    has_guard: bool = True


def plan_for(options: OutOfFoldOptions, recipe: Recipe, data: Dataset) -> OutOfFoldPlan | None:
    """Return which out-of-fold chains to train; None for none."""
    folds = options.folds
    in_memory = isinstance(data.X, np.ndarray | BinnedTable | SparseTable)
    if isinstance(folds, str) and folds == "auto":
        plan = _automatic_plan(options, recipe, data) if in_memory else None
    elif isinstance(folds, numbers.Integral) and folds == 0:
        plan = None
    elif not in_memory:
        message = "out_of_fold needs the rows in memory; engine='native' has the bins of a Dask collection there"
        raise ValueError(message)
    else:
        plan = _plan(folds, options, data)
        if isinstance(folds, numbers.Integral) and _has_counts(options, data):
            warn(f"{_COUNTS}: out-of-fold chains will be wrong about it; use out_of_fold=0", UserWarning, stacklevel=2)
    if plan is None and options.keep:
        why = f"; {_COUNTS}, for which there are none by default" if in_memory and _has_counts(options, data) else ""
        message = f"keep_folds=True needs out-of-fold chains; set out_of_fold to a number of folds{why}"
        raise ValueError(message)
    return plan


def _automatic_plan(options: OutOfFoldOptions, recipe: Recipe, data: Dataset) -> OutOfFoldPlan | None:
    if recipe.n_chains < MIN_CHAINS or _size(data) < MIN_ROWS:
        return None
    if (options.has_guard or data.n_classes) and _has_counts(options, data):
        return None
    try:
        plan = _plan(DEFAULT_FOLDS, options, data)
    except TooFewRowsError:
        return None
    if plan is None or _size(data.take(np.concatenate(plan.tests))) < MIN_ROWS:
        return None
    return plan


def _plan(folds: LibraryObject, options: OutOfFoldOptions, data: Dataset) -> OutOfFoldPlan | None:
    return out_of_fold_plan(
        folds,
        _table(data),
        data.y,
        n_classes=data.n_classes,
        weight=data.weight,
        groups=options.groups,
        kept=options.kept,
    )


def _size(data: Dataset) -> float:
    """Return the number of rows with their copies; weights below one on average do not count copies."""
    total = float(data.weight.sum())
    return total if total >= MIN_ROWS else max(total, int(content_ranks(_table(data), data.y).max(initial=-1)) + 1)


def _has_counts(options: OutOfFoldOptions, data: Dataset) -> bool:
    return options.groups is None and has_counts_of_targets(_table(data), data.y, data.weight)


def _table(data: Dataset) -> AnyArray:
    return data.X.codes if isinstance(data.X, BinnedTable) else data.X
