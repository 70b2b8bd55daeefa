"""The variance guard for libraries that boost on gradients they are given.

A row draws the mean towards its own target, so its residual is too small, and so is a standard deviation learned from
such residuals. The guard learns it from residuals that are freed of the row's own pull: it keeps the mean's score
as it would be, had the row been left out of every leaf it was in. Which rows share a leaf need not be asked of the
library. A step moves all rows of a leaf by the same amount, and those of different leaves by different ones.
"""

import numpy as np

from epiboost._typing import AnyArray, Floats, Integers
from epiboost.engines.langevin import LangevinObjective

HONEST_PULLS = 4.0
"""How many times a row's pull is taken out.

Once would be its pull on leaf values. It bends the choice of splits too, more so than in symmetric trees, where one
split serves a whole level.
"""


def gradients_of(chain: LangevinObjective) -> "LangevinObjective | GuardedObjective":
    """Return what gives a chain its gradients, guarded where that is asked for."""
    guarded = chain.rows.objective.family == "normal" and chain.spec.variance_guard > 0
    return GuardedObjective(chain) if guarded else chain


class GuardedObjective:
    """The gradients of one chain, which must be asked for tree by tree."""

    def __init__(self, chain: LangevinObjective) -> None:
        self.chain = chain
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
        leaf = leaves_of(mean, before)
        sums, sizes = np.bincount(leaf, gradient)[leaf], np.bincount(leaf, weight)[leaf]
        others = np.maximum(sizes - weight + self.chain.steps.l2, 0.0)
        step = np.divide(sums - own, others, out=np.zeros_like(sums), where=others > 1e-9 * sizes)
        self.honest -= self.chain.steps.rate * step


def leaves_of(after: AnyArray, before: AnyArray) -> Integers:
    """Return numbers of leaves, from 0: rows that moved alike, up to rounding, are in the same.

    >>> leaves_of(np.array([1.5, 3.0, 7.5]), np.array([1.0, 2.0, 7.0]))
    array([0, 1, 0])
    """
    moved = after.astype(np.float64) - before
    largest = max(float(np.abs(after).max()), float(np.abs(before).max()))
    order = np.argsort(moved, kind="stable")
    gaps = np.diff(moved[order], prepend=moved[order[0]]) > 4.0 * float(np.finfo(after.dtype).eps) * largest
    leaf = np.empty(len(moved), dtype=np.int64)
    leaf[order] = np.cumsum(gaps)
    return leaf
