"""The variance guard for libraries that boost on gradients they are given.

A row draws the mean towards its own target, so its residual is too small, and so is a standard deviation learned from
such residuals. The guard learns it from residuals that are freed of the row's own pull: it keeps the mean's score
as it would be, had the row been left out of every leaf it was in. Which rows share a leaf need not be asked of the
library. A step moves all rows of a leaf by the same amount, and those of different leaves by different ones.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from epiboost._boosting.gradient_grid import GridObjective
from epiboost._boosting.langevin import LangevinObjective
from epiboost._typing import AnyArray, Floats, Integers

HONEST_PULLS = 4.0
"""How many times a row's pull is taken out.

Once would be its pull on leaf values. It bends the choice of splits too, more so than in symmetric trees, where one
split serves a whole level.
"""


Unguarded: TypeAlias = LangevinObjective | GridObjective

Totals: TypeAlias = Callable[[AnyArray, AnyArray, Floats, Floats], tuple[Floats, Floats]]
"""From scores after and before a step, gradients and weights to the sums of both in the leaf of each row."""


def gradients_of(chain: Unguarded, totals: Totals | None = None) -> "Unguarded | GuardedObjective":
    """Return what gives a chain its gradients, guarded where that is asked for.

    ``totals`` is for rows that share leaves with others which are elsewhere.
    """
    guarded = chain.rows.objective.family == "normal" and chain.spec.variance_guard > 0
    return GuardedObjective(chain, totals) if guarded else chain


class GuardedObjective:
    """The gradients of one chain, which must be asked for tree by tree."""

    def __init__(self, chain: Unguarded, totals: Totals | None = None) -> None:
        self.chain = chain
        self.totals = totals or totals_here
        self.honest = np.zeros(len(chain.rows.y))  # the mean's rescaled score, had the row been left out
        self.last: tuple[AnyArray, Floats, Floats, Floats] | None = None

    def gradients(self, raw: AnyArray, tree: int) -> tuple[Floats, Floats]:
        """Return gradients and hessians for a tree, from 0, at the library's score: all of shape (n, outputs)."""
        mean = raw.reshape(len(self.honest), -1)[:, 0].copy()
        if self.last is not None:
            self._follow(mean, *self.last)
        decay = self.chain.steps.decay
        pull = decay**tree * (mean - self.honest)
        gradient, hessian = self.chain.gradients(raw, tree, HONEST_PULLS * pull)
        weight = hessian[:, 0]
        start = self.chain.rows.objective.start[0]
        own = decay ** -(tree + 1) * weight * (start + decay**tree * mean - self.chain.rows.y)
        self.last = mean, gradient[:, 0].copy(), own, weight.copy()
        return gradient, hessian

    def _follow(self, mean: AnyArray, before: AnyArray, gradient: Floats, own: Floats, weight: Floats) -> None:
        """Take the step that the mean has taken, each row without its own part in it."""
        sums, sizes = self.totals(mean, before, gradient, weight)
        others = np.maximum(sizes - weight + self.chain.steps.l2, 0.0)
        step = np.divide(sums - own, others, out=np.zeros_like(sums), where=others > 1e-9 * sizes)
        self.honest -= self.chain.steps.rate * step


def totals_here(after: AnyArray, before: AnyArray, gradient: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the sums of gradients and of weights in the leaf of each row, of which all are here."""
    leaf = leaves_of(after, before)
    return sums_of(leaf, gradient)[leaf], sums_of(leaf, weight)[leaf]


def sums_of(leaf: Integers, values: Floats) -> Floats:
    """Return the sum of some values in each leaf."""
    return np.asarray(np.bincount(leaf, values), dtype=np.float64)


def rounding_of(after: AnyArray, before: AnyArray) -> float:
    """Return how far apart rows of one leaf may seem to have moved."""
    largest = max(float(np.abs(after).max()), float(np.abs(before).max()))
    return 4.0 * float(np.finfo(after.dtype).eps) * largest


def leaves_of(after: AnyArray, before: AnyArray, rounding: float | None = None) -> Integers:
    """Return numbers of leaves, from 0: rows that moved alike, up to rounding, are in the same.

    >>> leaves_of(np.array([1.5, 3.0, 7.5]), np.array([1.0, 2.0, 7.0]))
    array([0, 1, 0])
    """
    rounding = rounding_of(after, before) if rounding is None else rounding
    moved = after.astype(np.float64) - before
    order = np.argsort(moved, kind="stable")
    gaps = np.diff(moved[order], prepend=moved[order[0]]) > rounding
    leaf = np.empty(len(moved), dtype=np.int64)
    leaf[order] = np.cumsum(gaps)
    return leaf
