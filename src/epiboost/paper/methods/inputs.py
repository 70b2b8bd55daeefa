"""Inputs and outputs that all methods share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from epiboost.paper.cells.cell import Content
from epiboost.paper.methods.timer import Timer
from epiboost.paper.problem import Fold
from epiboost.paper.protocol import Protocol

EVALUATION = "judge"
"""Name of the evaluation step among the seconds of a cell; files of earlier versions have this name."""

MethodOutputs = dict[str, Any]
"""What a method adds to its cell: ``results``, and ``chosen``, ``grid`` and ``parameters`` where it has them."""

CellOf = Callable[[str], Content]
"""Returns the cell of another method on the same fold with the same engine."""


def no_other_cells(method: str) -> Content:
    """Refuse to return the cell of another method."""
    message = f"the cell of {method!r} is not available"
    raise LookupError(message)


@dataclass(frozen=True, slots=True, eq=False)
class MethodInputs:
    """Everything a method needs to run on one fold.

    A method is a function of these inputs that returns `MethodOutputs`.

    Attributes
    ----------
    fold, protocol : Fold, Protocol
        The rows, and the settings of the experiments.
    engine, seed : str, int
        Engine of the boosted methods, and seed of all methods.
    n_jobs : int or None
        Number of threads; the results do not depend on it.
    timer, cell_of : Timer, callable
        Measures the steps of the method, and returns the cell of another method on the same fold.
    """

    fold: Fold
    protocol: Protocol
    engine: str
    seed: int
    n_jobs: int | None
    timer: Timer = field(default_factory=Timer)
    cell_of: CellOf = no_other_cells
