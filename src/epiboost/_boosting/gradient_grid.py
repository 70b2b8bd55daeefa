"""Gradients on a grid, so that their sums do not depend on the order of rows, threads or workers.

Multiples of one power of two add up exactly in double precision as long as they are not too large. A library that sums
such gradients in double precision grows the same trees whichever worker or thread has which rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import LearningRows
from epiboost._boosting.step_sizes import StepSizes
from epiboost._typing import Floats

DIGITS = 22
"""Binary digits kept of the largest number: single precision holds them, and sums over 2^31 rows are exact."""

ReduceMax: TypeAlias = Callable[[Floats], Floats]
"""Maps the largest numbers of this worker's rows to the largest of all workers' rows."""


@dataclass(frozen=True, slots=True)
class GridObjective:
    """The gradients of a `LangevinObjective`, rounded to the grid; it has the same attributes."""

    chain: LangevinObjective
    reduce_max: ReduceMax

    @property
    def rows(self) -> LearningRows:
        """Training rows of the chain."""
        return self.chain.rows

    @property
    def steps(self) -> StepSizes:
        """Step sizes of the chain."""
        return self.chain.steps

    @property
    def spec(self) -> MemberSpec:
        """Spec of the chain."""
        return self.chain.spec

    def gradients(self, raw: Floats, tree: int, correction: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """Return rounded gradients and hessians; see `LangevinObjective.gradients`."""
        both = np.concatenate(self.chain.gradients(raw, tree, correction), axis=1)
        gradient, hessian = np.split(on_grid(both, self.reduce_max(np.abs(both).max(axis=0))), 2, axis=1)
        return gradient, hessian


def on_grid(numbers: Floats, largest: Floats) -> Floats:
    """Round numbers to `DIGITS` binary digits of the largest, column by column.

    >>> (on_grid(np.array([[1.0], [2.0**-23], [3.0 * 2.0**-23]]), np.array([1.0])).ravel() * 2.0**22).tolist()
    [4194304.0, 0.0, 2.0]
    """
    _, exponents = np.frexp(largest)
    grid = np.ldexp(1.0, exponents - DIGITS)
    return np.asarray(np.rint(numbers / grid) * grid)
