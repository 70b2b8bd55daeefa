"""The numbers of the paper's protocol, in one place.

They are from the appendix of the paper; where it is silent they are as in the code that its authors published: the
validation rows of a regression are the last fifth of the training rows as the standard split lists them, a single model
is the first chain of its ensemble, and column j of the out-of-domain rows comes from column j of the external file.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from epiboost._typing import AnyArray


@dataclass(frozen=True, slots=True)
class Protocol:
    """What every cell of a run has in common.

    Attributes
    ----------
    n_estimators : int
        Trees of a chain, and of a random forest.
    n_members : int
        Chains or forests of an ensemble, and parts of a virtual one.
    depths, rates : tuples
        The grid; its best pair by validation likelihood is taken.
    forest_depth : int
        Levels of a random forest's trees.
    largest_temperature : float
        See `temperature`.
    """

    n_estimators: int = 1000
    n_members: int = 10
    depths: tuple[int, ...] = (3, 4, 5, 6)
    rates: tuple[float, ...] = (0.001, 0.01, 0.1)
    forest_depth: int = 10
    largest_temperature: float = 1.0

    def temperature(self, y: AnyArray) -> float:
        """Return the temperature that gives the noise of the paper to a regression of this target.

        The paper's noise has the variance 2 / (N ε) in the units of the target, whatever they are. Ours is measured by
        the target's standard deviation, so the paper's is a temperature of one over the target's variance. It is held
        to 1: of a target of small variance (naval's is 0.0002) the noise would drown everything. The paper's models do
        not suffer from it, because with CatBoost's Newton steps noise reaches the choice of splits, not leaf values.

        >>> PAPER.temperature(np.array([0.0, 10.0])), PAPER.temperature(np.array([0.0, 0.1]))
        (0.04, 1.0)
        """
        return min(self.largest_temperature, 1.0 / float(np.var(y)))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON reads it back."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


PAPER = Protocol()
REHEARSAL = Protocol(n_estimators=20, n_members=2, depths=(3,), rates=(0.1,), forest_depth=3)
"""Small enough for a look at everything within a minute; its figures mean nothing."""

VALIDATION_SHARE = 0.2
TEST_SHARE, CLASS_VALIDATION_SHARE = 0.2, 0.15 / 0.8
SHORT_CHAINS = ((10, 10), (20, 20))
"""Ensembles of the budget table: members, and what divides the trees and multiplies the rate."""

LARGEST_RATE = 1.0
"""A learning rate above one overshoots every step, and is not allowed; short chains are held to it."""

SIGNIFICANCE = 0.05
"""A method whose p-value against the best one is above is not told apart from it."""
