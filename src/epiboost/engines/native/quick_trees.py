"""What a few quick trees cannot tell of a target: that is where more columns may pay."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from epiboost._boosting.recipe import MemberSpec
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress, no_progress
from epiboost._typing import Floats
from epiboost.engines.base import Forest

_TREES, _RATE, _DEPTH = 200, 0.3, 6


def left_by_trees(
    fit: Callable[[Dataset, Sequence[MemberSpec], Progress], Forest],
    spec: MemberSpec,
    table: Floats,
    target: Floats,
    weight: Floats,
    *,
    is_class: bool,
) -> Floats | None:
    """Return what is left of a target, each half of the rows being told by trees that learned from the other.

    Parameters
    ----------
    fit : callable
        An engine's.
    spec : MemberSpec
        What is asked of the ensemble's own chains.
    table : array of shape (n, columns)
        Rows in random order.
    target, weight : arrays of shape (n,)
    is_class : bool
        Whether the target is 0 or 1.

    Returns
    -------
    array of shape (n,), or None if a half of the rows has one class only
    """
    quick = replace(
        spec,
        n_estimators=_TREES,
        learning_rate=_RATE,
        max_depth=_DEPTH,
        subsample=1.0,
        temperature=None,
        patience=None,
    )
    half = len(target) // 2
    halves = slice(None, half), slice(half, None)
    if half == 0 or (is_class and any(np.ptp(target[own]) == 0.0 for own in halves)):
        return None
    left = np.empty(len(target))
    for own, other in (halves, halves[::-1]):
        data = Dataset(table[own], target[own], weight[own], 2 if is_class else 0)
        told = fit(data, [quick], no_progress).predict(table[other])[0]
        left[other] = target[other] - (told[:, 1] if is_class else told[:, 0])
    return left
