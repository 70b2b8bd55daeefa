"""Gradients whose sums do not depend on their order, for libraries that sum in double precision.

Numbers that are multiples of a power of two, none larger than so many of them, have sums that floats hold exactly. Then
it does not matter which worker or thread has which rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import Rows
from epiboost._boosting.step_sizes import Steps
from epiboost._typing import Floats

DIGITS = 22
"""Binary digits that are kept of the largest number: single precision holds them, and sums of 2^31 rows are exact."""

Largest: TypeAlias = Callable[[Floats], Floats]
"""From the largest numbers of the rows that are here to those of all rows."""


@dataclass(frozen=True, slots=True)
class GridObjective:
    """The gradients of a chain, rounded; it has what a `LangevinObjective` has."""

    chain: LangevinObjective
    largest: Largest

    @property
    def rows(self) -> Rows:
        """The rows of the chain."""
        return self.chain.rows

    @property
    def steps(self) -> Steps:
        """The steps of the chain."""
        return self.chain.steps

    @property
    def spec(self) -> MemberSpec:
        """The recipe of the chain."""
        return self.chain.spec

    def gradients(self, raw: Floats, tree: int, pull: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """Return gradients and hessians for a tree, from 0, at the library's score: all of shape (n, outputs)."""
        both = np.concatenate(self.chain.gradients(raw, tree, pull), axis=1)
        gradient, hessian = np.split(on_grid(both, self.largest(np.abs(both).max(axis=0))), 2, axis=1)
        return gradient, hessian


def on_grid(numbers: Floats, largest: Floats) -> Floats:
    """Round numbers to so many digits of the largest, column by column.

    >>> (on_grid(np.array([[1.0], [2.0**-23], [3.0 * 2.0**-23]]), np.array([1.0])).ravel() * 2.0**22).tolist()
    [4194304.0, 0.0, 2.0]
    """
    _, exponents = np.frexp(largest)
    grid = np.ldexp(1.0, exponents - DIGITS)
    return np.asarray(np.rint(numbers / grid) * grid)
