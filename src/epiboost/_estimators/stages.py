"""Predictions of an ensemble after each number of trees, in blocks that bound memory."""

from collections.abc import Callable, Iterator

import numpy as np

from epiboost._boosting.parameter_checks import require_integer
from epiboost._typing import AnyArray, Floats
from epiboost.engines.base import Forest
from epiboost.engines.stages import predict_stages

_MAX_BYTES = 1 << 26  # of the members' predictions that are held at once
_MAX_STAGE_BYTES = 1 << 28  # of the stages that are computed at once: each group of stages evaluates the trees again
_BYTES = 8


def stage_counts(n_trees: int, step: int) -> tuple[int, ...]:
    """Return the tree counts after which a chain of ``n_trees`` trees is predicted; the last is all of them.

    >>> stage_counts(10, 4)
    (4, 8, 10)
    """
    require_integer("step", step, 1)
    return (*range(step, n_trees, step), n_trees)


def staged_means(
    forest: Forest,
    table: AnyArray,
    stages: tuple[int, ...],
    ends: tuple[int, ...],
    mean: Callable[[Floats], Floats],
) -> Iterator[Floats]:
    """Yield the prediction of an ensemble after each number of trees.

    Parameters
    ----------
    forest : Forest
    table : array of shape (n, features)
    stages, ends : tuples of int
        As for `predict_stages`.
    mean : callable from (members, n, outputs) to (n,) or (n, classes)
        Returns the prediction for the parameters of the members.
    """
    if not stages:
        return
    per_row = predict_stages(forest, table[:1], stages[:1], ends).size * _BYTES
    n_stages = max(_MAX_STAGE_BYTES // max(len(table) * per_row // (len(forest.n_trees) * len(ends)), 1), 1)
    for first in range(0, len(stages), n_stages):
        group = stages[first : first + n_stages]
        n_rows = max(_MAX_BYTES // max(len(group) * per_row, 1), 1)
        blocks = []
        for start in range(0, max(len(table), 1), n_rows):
            predicted = predict_stages(forest, table[start : start + n_rows], group, ends)
            blocks.append([mean(members) for members in predicted])
        yield from (np.concatenate(parts) for parts in zip(*blocks, strict=True))
