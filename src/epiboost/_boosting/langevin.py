"""SGLB as an objective: Langevin boosting on any library that boosts trees on gradients it is given.

A chain shrinks its score at each step, F' = c F + rate · tree with c = 1 − shrink · rate, which libraries do not know.
On the rescaled score G = F / cᵗ the same chain is an ordinary one, G' = G + (rate / cᵗ) · tree: its objective takes the
noisy gradient at F = start + cᵗ⁻¹ G. A factor on all gradients is one on the leaf values, so the factor 1 / cᵗ is put
there and the library's learning rate stays as it is. The first t trees give F = start + cᵗ G.

Hessians are the weights of the rows. A leaf's value is then −sum of gradients / (sum of weights + l2). Where outputs
differ in l2, gradients and hessians of an output are scaled by the ratio, which gives the same values.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import Rows
from epiboost._boosting.scores import gradient_of, loss_of
from epiboost._boosting.step_sizes import Steps
from epiboost._native import native
from epiboost._typing import Floats

_LARGEST_SCALE = 1e15  # beyond this the first trees would drown in rounding errors


@dataclass(frozen=True, slots=True)
class LangevinObjective:
    """The gradients of one chain, tree by tree.

    Parameters
    ----------
    rows : Rows
    steps : Steps
    spec : MemberSpec
        Its seed names the noise, which is a function of (seed, tree, row, output) and no stream.
    """

    rows: Rows
    steps: Steps
    spec: MemberSpec

    def __post_init__(self) -> None:
        """Refuse chains that forget so fast that the rescaled score would overflow."""
        if self.steps.decay**self.spec.n_estimators * _LARGEST_SCALE < 1.0:
            message = (
                f"a chain of n_estimators={self.spec.n_estimators} trees at learning_rate={self.spec.learning_rate:g} "
                f"forgets its beginning on a table of {self.rows.total:g} rows; lower either, or use engine='native'"
            )
            raise ValueError(message)

    def gradients(self, raw: Floats, tree: int, pull: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """Return gradients and hessians for a tree, from 0, at the library's score: all of shape (n, outputs).

        The standard deviation of a Normal is learned from residuals that are larger by ``pull``, see `guard`.
        """
        objective, weight = self.rows.objective, self._drawn_weight(tree)
        start = objective.start
        decay = self.steps.decay
        scores = start + decay**tree * raw.reshape(len(weight), len(start)).astype(np.float64)
        gradient = weight[:, np.newaxis] * gradient_of(objective, scores, self.rows.y, pull)
        if self.steps.noise:
            deviation = self.steps.noise * np.sqrt(weight)
            for output in range(len(start)):
                gradient[:, output] += deviation * native().langevin_noise(self.spec.seed, tree, self.rows.keys, output)
        scale = self._scale(len(start))
        return gradient * (scale * decay ** -(tree + 1)), weight[:, np.newaxis] * scale

    def evaluation_loss(self, raw: Floats, trees: int) -> float:
        """Return the loss on the rows that are watched, at the library's score after so many trees."""
        if self.rows.evaluation is None:
            return float("nan")
        _, y, weight = self.rows.evaluation
        start = self.rows.objective.start
        scores = start + self.steps.decay**trees * raw.reshape(len(y), len(start)).astype(np.float64)
        return loss_of(self.rows.objective, scores, y, weight)

    def _scale(self, outputs: int) -> Floats:
        l2 = self.steps.l2_of(outputs)
        return l2[0] / l2 if l2.min() > 0 else np.ones(outputs)

    def _drawn_weight(self, tree: int) -> Floats:
        """Return what rows count for in a tree: of a subsample, those whose random number is low enough."""
        weight = self.rows.weight
        if self.spec.subsample >= 1.0:
            return weight
        unused = 2 * len(self.rows.objective.start)  # outputs that have no noise of their own
        drawn = native().langevin_noise(self.spec.seed, tree, self.rows.keys, unused) < ndtri(self.spec.subsample)
        return np.where(drawn, weight, 0.0)
