"""SGLB as an objective: Langevin boosting by any library that boosts on given gradients (section 3, equations 11, 12).

Equation 12 shrinks the score at each step, F' = c F + ε · tree with c = 1 − γ ε, which libraries do not support. On the
rescaled score G = F / cᵗ the same chain is ordinary boosting, G' = G + (ε / cᵗ) · tree. Its objective takes the noisy
gradient of equation 11 at F = start + cᵗ⁻¹ G. A factor on all gradients is a factor on the leaf values, so the factor
1 / cᵗ goes into the gradients and the library's learning rate stays constant. The first t trees give F = start + cᵗ G.

Hessians are the weights of the rows. A leaf value is then −sum of gradients / (sum of weights + l2).
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri

from epiboost._boosting.bootstrap import bootstrap_weight
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import LearningRows
from epiboost._boosting.step_sizes import StepSizes
from epiboost._native import native
from epiboost._typing import Floats

_MAX_DRAWS = 64  # of one row, as in the native core
_MAX_RESCALING = 1e15  # beyond it the first trees are lost to rounding errors


@dataclass(frozen=True, slots=True)
class LangevinObjective:
    """The gradients of one SGLB chain, tree by tree.

    Parameters
    ----------
    rows : LearningRows
        The training rows, their targets and their weights.
    steps : StepSizes
        Learning rate, noise and shrinkage.
    spec : MemberSpec
        Its seed determines the noise, which is a function of (seed, tree, row, output).

    Attributes
    ----------
    weight : array of shape (n,)
        Weights of the rows in this chain: those of the rows, or of its bootstrap sample.
    """

    rows: LearningRows
    steps: StepSizes
    spec: MemberSpec
    weight: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Draw a bootstrap sample, and raise an error if the first trees would be lost to rounding errors."""
        rows, seed = self.rows, self.spec.seed
        weight = bootstrap_weight(rows.weight, rows.keys, seed) if self.spec.bootstrap else rows.weight
        object.__setattr__(self, "weight", weight)
        if self.steps.decay**self.spec.n_estimators * _MAX_RESCALING < 1.0:
            message = (
                f"a chain of n_estimators={self.spec.n_estimators} trees at learning_rate={self.spec.learning_rate:g} "
                f"shrinks its first trees to nothing on a table of {self.rows.total:g} rows; lower either, or use "
                "engine='native'"
            )
            raise ValueError(message)

    def gradients(self, raw: Floats, tree: int, correction: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """Return gradients and hessians for the next tree, both of shape (n, outputs).

        Parameters
        ----------
        raw : array of shape (n, outputs)
            The library's score, the sum of the trees so far.
        tree : int
            Number of the tree, from 0.
        correction : array of shape (n,), optional
            See `Objective.gradient`.
        """
        objective, weight = self.rows.objective, self._sampled_weight(tree)
        outputs, decay = len(objective.start), self.steps.decay
        scores = self._scores(raw, tree)
        gradient = weight[:, np.newaxis] * objective.gradient(scores, self.rows.y, correction)
        if self.steps.noise:
            deviation = self.steps.noise * np.sqrt(weight)[:, np.newaxis] * objective.noise_scale(scores)
            for output in range(outputs):
                gradient[:, output] += deviation[:, output] * native().langevin_noise(
                    self.spec.seed, tree, self.rows.keys, output
                )
        return gradient * decay ** -(tree + 1), np.repeat(weight[:, np.newaxis], outputs, axis=1)

    def evaluation_loss(self, raw: Floats, trees: int) -> float:
        """Return the loss on the evaluation rows at the library's score after so many trees; NaN without such rows."""
        if self.rows.evaluation is None:
            return float("nan")
        _, y, weight = self.rows.evaluation
        return self.rows.objective.loss(self._scores(raw, trees), y, weight)

    def _scores(self, raw: Floats, trees: int) -> Floats:
        """Return the chain's score after so many trees, shape (n, outputs)."""
        start = self.rows.objective.start
        return np.asarray(start + self.steps.decay**trees * raw.reshape(-1, len(start)).astype(np.float64))

    def _sampled_weight(self, tree: int) -> Floats:
        """Return the weights of the rows in the tree's random subsample.

        A row of weight w counts as w copies, each drawn with the same probability, up to a limit that bounds the cost.
        """
        if self.spec.subsample >= 1.0:
            return self.weight
        unused = 2 * len(self.rows.objective.start)  # an output number that has no noise
        limit, copies = ndtri(self.spec.subsample), np.clip(np.ceil(self.weight), 1, _MAX_DRAWS)
        drawn = np.zeros(len(copies))
        for copy in range(int(copies.max())):
            rows = np.flatnonzero(copies > copy)
            noise = native().langevin_noise(self.spec.seed, tree, self.rows.keys[rows], unused + 2 * copy)
            drawn[rows] += noise < limit
        return np.asarray(self.weight * drawn / copies)
