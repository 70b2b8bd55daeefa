"""The sizes of a chain's steps: what the recipe says, for a table of a given weight and a loss of a given curvature."""

from dataclasses import dataclass

import numpy as np

from epiboost._boosting.objectives import Objective
from epiboost._boosting.recipe import MemberSpec
from epiboost._typing import Floats

_LONGEST_STEP = 4.0  # the loss of classes bends by a quarter at most
_MOST_NOISE = 1e9  # in standard deviations of the target: beyond that nothing is left of it


@dataclass(frozen=True, slots=True)
class Steps:
    """One step is F' = (1 − shrink · rate) F + rate · tree, the tree fitted to gradients with noise.

    Attributes
    ----------
    rate : float
        The learning rate, measured by the curvature of the loss.
    l2 : float
        Rows of zero gradient in every leaf.
    variance_l2 : float
        More of them for the log standard deviation.
    shrink : float
        1 / (2 N) with Langevin noise, else 0.
    noise : float
        Standard deviation of the noise on the gradient of a row.
    """

    rate: float
    l2: float
    variance_l2: float
    shrink: float
    noise: float

    @property
    def decay(self) -> float:
        """What each step multiplies the score by."""
        return 1.0 - self.shrink * self.rate

    def l2_of(self, outputs: int) -> Floats:
        """Return the rows of zero gradient of each output, shape (outputs,)."""
        l2 = np.full(outputs, self.l2)
        l2[1:2] += self.variance_l2
        return l2


def steps_of(spec: MemberSpec, objective: Objective, n: float) -> Steps:
    """Return the steps of a chain on a table of weight n."""
    guard = spec.variance_guard if objective.family == "normal" else 0.0
    # a step is measured by the curvature of the loss, but never so long that it could overshoot
    rate = min(spec.learning_rate / objective.curvature, max(_LONGEST_STEP, spec.learning_rate))
    noise = 0.0 if spec.temperature is None else float(np.sqrt(spec.temperature * 2.0 / (n * rate)))
    if noise > _MOST_NOISE:
        message = (
            f"temperature={spec.temperature:g} and learning_rate={spec.learning_rate:g} give noise of {noise:.3g} "
            f"standard deviations on every gradient; at most {_MOST_NOISE:g} are allowed"
        )
        raise ValueError(message)
    return Steps(
        rate=rate,
        l2=spec.l2 * rate / spec.learning_rate + guard * 60.0 * min((450.0 / n) ** 3, 1.0),
        variance_l2=guard * 1000.0 * min((450.0 / n) ** 2, 1.0),
        shrink=0.0 if spec.temperature is None else 1.0 / (2.0 * n),
        noise=noise,
    )
