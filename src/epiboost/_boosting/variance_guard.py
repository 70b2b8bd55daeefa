"""Variance guard for library engines: leave-one-out residuals for the variance. Not in the paper.

A row pulls the mean of its leaf towards its own target. Its residual is too small, and so is a standard deviation that
is learned from such residuals. The guard learns it from leave-one-out residuals: it tracks the score of the mean as it
would be if the row were left out of each of its leaves. The leaves are found from the scores: a step changes the scores
of all rows of a leaf by the same amount, and those of different leaves by different amounts. Without the row, the other
rows in the same bins would have its leave-one-out score, which changes their gradients.

A row affects a tree through the value of its leaf, which the leave-one-out score leaves out, and through the choice of
splits, which it does not. So more than the first influence is removed, by an empirical factor.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from epiboost._binning.bins import MAX_BINS, Bins
from epiboost._boosting.gradient_grid import GridObjective
from epiboost._boosting.langevin import LangevinObjective
from epiboost._native import native
from epiboost._typing import AnyArray, Floats, Integers

SYMMETRIC_TREES_FACTOR, LEAVE_ONE_OUT_FACTOR = 1.6, 4.0
"""Multiples of the leave-one-out correction that are applied at ``variance_guard=1``.

A row affects the splits of an ordinary tree more than those of a symmetric one, where one split serves all nodes of a
level.
"""

Unguarded: TypeAlias = LangevinObjective | GridObjective

LeafSums: TypeAlias = Callable[[AnyArray, AnyArray, Floats, Floats], tuple[Floats, Floats]]
"""Maps scores after and before a step, gradients and weights to the sums of both in the leaf of each row."""


def with_variance_guard(chain: Unguarded, leaf_sums: LeafSums | None = None) -> "Unguarded | GuardedObjective":
    """Return the chain's objective, guarded if ``variance_guard`` is above 0 and the family has a dispersion.

    Parameters
    ----------
    chain : LangevinObjective or GridObjective
    leaf_sums : callable, optional
        Sums over leaves; `local_leaf_sums` by default, for rows that are all on this machine.
    """
    objective = chain.rows.objective
    guarded = objective.family != "categorical" and len(objective.start) > 1 and chain.spec.variance_guard > 0
    return GuardedObjective(chain, leaf_sums) if guarded else chain


class GuardedObjective:
    """The gradients of one chain with leave-one-out residuals; call `gradients` for trees in order.

    Parameters
    ----------
    chain, leaf_sums
        See `with_variance_guard`.
    """

    def __init__(self, chain: Unguarded, leaf_sums: LeafSums | None = None) -> None:
        self.chain = chain
        self.leaf_sums = leaf_sums or local_leaf_sums
        self.factor = LEAVE_ONE_OUT_FACTOR * chain.spec.variance_guard
        self.leave_one_out_score = np.zeros(len(chain.rows.y))  # rescaled score of the mean without the row itself
        self.neighbours = neighbour_weight(chain.rows.X, chain.rows.weight, chain.spec.max_bins)
        self.last_step: tuple[AnyArray, Floats, Floats, Floats] | None = None

    def gradients(self, raw: AnyArray, tree: int) -> tuple[Floats, Floats]:
        """Return gradients and hessians; see `LangevinObjective.gradients`."""
        mean = raw.reshape(len(self.leave_one_out_score), -1)[:, 0].copy()
        if self.last_step is not None:
            self._update_leave_one_out(mean, *self.last_step)
        decay = self.chain.steps.decay
        correction = decay**tree * (mean - self.leave_one_out_score)
        gradient, hessian = self.chain.gradients(raw, tree, self.factor * correction)
        weight = hessian[:, 0]
        one_copy = np.minimum(weight, 1.0)  # a weight above one counts merged copies, of which the others stay
        own = decay ** -(tree + 1) * one_copy * self._own_gradient(raw, mean, decay**tree)
        towards_row = self.neighbours * (self.leave_one_out_score - mean) / decay
        self.last_step = mean, gradient[:, 0].copy(), own - towards_row, weight.copy()
        return gradient, hessian

    def _own_gradient(self, raw: AnyArray, mean: AnyArray, decay: float) -> Floats:
        """Return the gradient of the first output of each row, without noise."""
        objective, y = self.chain.rows.objective, self.chain.rows.y
        if objective.name in {"normal", "lognormal"}:
            return np.asarray(objective.start[0] + decay * mean - y)
        scores = objective.start + decay * raw.reshape(len(y), -1)
        return objective.gradient(scores, y)[:, 0]

    def _update_leave_one_out(
        self, mean: AnyArray, before: AnyArray, gradient: Floats, due_to_row: Floats, weight: Floats
    ) -> None:
        """Apply the last tree to the leave-one-out scores of the mean."""
        sums, sizes = self.leaf_sums(mean, before, gradient, weight)
        others = np.maximum(sizes - np.minimum(weight, 1.0) + self.chain.steps.l2, 0.0)
        step = np.divide(sums - due_to_row, others, out=np.zeros_like(sums), where=others > 1e-9 * sizes)
        self.leave_one_out_score -= self.chain.steps.rate * step


def neighbour_weight(X: AnyArray, weight: Floats, max_bins: int) -> Floats:
    """Return the weight of the other rows in the same bins, which trees can hardly tell from the row.

    All but one copy of a row are among its neighbours. A table without columns, as workers of Dask have it, says
    nothing about them.

    >>> neighbour_weight(np.array([[1.0], [1.0], [2.0]]), np.array([3.0, 0.5, 1.0]), max_bins=255)
    array([2.5, 3. , 0. ])
    """
    if not X.shape[1]:
        return np.zeros(len(weight))
    codes = Bins.fit(X, weight, min(max_bins, MAX_BINS)).transform(X)
    _, cell = np.unique(native().hash_rows(codes), return_inverse=True)
    return np.asarray(np.bincount(cell, weight)[cell] - np.minimum(weight, 1.0))


def local_leaf_sums(after: AnyArray, before: AnyArray, gradient: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the sums of gradients and of weights in the leaf of each row, for rows on this machine."""
    leaf = leaves_of(after, before)
    return sum_per_leaf(leaf, gradient)[leaf], sum_per_leaf(leaf, weight)[leaf]


def sum_per_leaf(leaf: Integers, values: Floats) -> Floats:
    """Return the sum of the values in each leaf."""
    return np.asarray(np.bincount(leaf, values), dtype=np.float64)


def step_tolerance(after: AnyArray, before: AnyArray) -> float:
    """Return the largest difference that rounding can make between the steps of two rows of one leaf."""
    largest = max(float(np.abs(after).max()), float(np.abs(before).max()))
    return 4.0 * float(np.finfo(after.dtype).eps) * largest


def leaves_of(after: AnyArray, before: AnyArray, tolerance: float | None = None) -> Integers:
    """Return the leaf number of each row, from 0: rows that moved by the same amount share a leaf.

    >>> leaves_of(np.array([1.5, 3.0, 7.5]), np.array([1.0, 2.0, 7.0]))
    array([0, 1, 0])
    """
    tolerance = step_tolerance(after, before) if tolerance is None else tolerance
    step = after.astype(np.float64) - before
    order = np.argsort(step, kind="stable")
    is_next = np.diff(step[order], prepend=step[order[0]]) > tolerance
    leaf = np.empty(len(step), dtype=np.int64)
    leaf[order] = np.cumsum(is_next)
    return leaf
