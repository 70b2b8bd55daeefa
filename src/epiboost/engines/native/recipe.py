"""The recipe of a chain, with the values that the native core needs."""

from dataclasses import asdict, dataclass

from epiboost._boosting.objectives import Objective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.step_sizes import StepSizes
from epiboost._native import ChainRecipe as NativeRecipe
from epiboost._native import native


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRecipe:
    """How to grow one chain; the same fields as ``ChainRecipe`` of the native core (``core/problem.hpp``).

    This class, not the native one, is sent to the workers of a cluster: their machines may have other instruction sets,
    and each build of the native core has a class of its own.

    Attributes
    ----------
    objective : int
        Code of the loss, see `Objective`.
    start : tuple of float
        Score before the first tree, one per output; it is not shrunk.
    trees, depth : int
        Number of trees, and their depth.
    learning_rate, l2, shrink, noise, variance_guard : float
        See `StepSizes`; ``variance_guard`` is its ``variance_l2``.
    subsample : float
        Share of the rows that each tree sees.
    structure_rows : float
        Number of rows that choose the splits of each tree; 0 for all rows.
    patience : int
        Trees without a better evaluation loss before the chain stops; 0 for no early stopping.
    """

    objective: int
    start: tuple[float, ...]
    trees: int
    depth: int
    learning_rate: float
    l2: float
    shrink: float
    noise: float
    subsample: float
    variance_guard: float
    structure_rows: float
    patience: int

    @classmethod
    def of(cls, spec: MemberSpec, objective: Objective, steps: StepSizes) -> "ChainRecipe":
        """Return the recipe of a member, given its loss and step sizes."""
        return cls(
            objective=objective.code,
            start=tuple(float(value) for value in objective.start),
            trees=spec.n_estimators,
            depth=spec.max_depth,
            learning_rate=steps.rate,
            l2=steps.l2,
            shrink=steps.shrink,
            noise=steps.noise,
            subsample=spec.subsample,
            variance_guard=steps.variance_l2,
            structure_rows=float(spec.structure_rows or 0),
            patience=spec.patience or 0,
        )

    def to_native(self) -> NativeRecipe:
        """Return the recipe as an object of the native core in use."""
        return native().ChainRecipe(**asdict(self))
