"""The step sizes of an SGLB chain: learning rate, regularisation, shrinkage and noise (section 3, equations 11 and 12).

The paper sets β = N and γ = 1 / (2 N), where N is the weight of all rows, so that the chain samples from the posterior.
`temperature` multiplies the variance 2 / (β ε) of the noise.
"""

from dataclasses import dataclass

import numpy as np

from epiboost._boosting.objectives import Objective
from epiboost._boosting.recipe import MemberSpec

_MAX_STEP = 4.0  # the curvature of a classification loss is at most a quarter
_MAX_NOISE = 1e9  # in standard deviations of the target; more would drown it in rounding errors


@dataclass(frozen=True, slots=True)
class StepSizes:
    """The numbers of one boosting step, F' = (1 − shrink · rate) F + rate · tree.

    Attributes
    ----------
    rate : float
        Learning rate ε, divided by the curvature of the loss.
    l2 : float
        L2 regularisation of leaf values.
    shrink : float
        Shrinkage γ: 1 / (2 N) for Langevin boosting, else 0.
    noise : float
        Standard deviation of the noise on the gradient of a row.
    """

    rate: float
    l2: float
    shrink: float
    noise: float

    @property
    def decay(self) -> float:
        """Factor c = 1 − γ ε by which each step multiplies the score."""
        return 1.0 - self.shrink * self.rate


def step_sizes(spec: MemberSpec, objective: Objective, n: float) -> StepSizes:
    """Return the step sizes of a chain.

    Parameters
    ----------
    spec : MemberSpec
    objective : Objective
    n : float
        Sum of the weights of the training rows.
    """
    # the rate is relative to the curvature of the loss, up to a bound beyond which a step could overshoot
    rate = min(spec.learning_rate / objective.curvature, max(_MAX_STEP, spec.learning_rate))
    noise = 0.0 if spec.temperature is None else float(np.sqrt(spec.temperature * 2.0 / (n * rate)))
    if noise > _MAX_NOISE:
        message = (
            f"temperature={spec.temperature:g} and learning_rate={spec.learning_rate:g} give noise of {noise:.3g} "
            f"standard deviations on every gradient; at most {_MAX_NOISE:g} are allowed"
        )
        raise ValueError(message)
    return StepSizes(
        rate=rate,
        l2=spec.l2 * rate / spec.learning_rate,
        shrink=0.0 if spec.temperature is None else 1.0 / (2.0 * n),
        noise=noise,
    )
