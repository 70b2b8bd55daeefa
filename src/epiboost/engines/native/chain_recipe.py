"""How the native core grows a chain: a recipe, made from a member's parameters, its loss and its step sizes."""

from dataclasses import asdict, dataclass

from epiboost._boosting.objectives import Objective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.step_sizes import StepSizes
from epiboost._boosting.variance_guard import LEAVE_ONE_OUT_FACTOR, SYMMETRIC_TREES_FACTOR
from epiboost._encoding.encoding import Encoding
from epiboost._native import ChainRecipe as NativeRecipe
from epiboost._native import native
from epiboost.engines.native.encoded_constraints import encoded_constraints
from epiboost.engines.native.split_rows import split_rows

_CLASSES = (1, 2)  # codes of the losses of classes
_UNBOUNDED = 255  # levels: a leaf-wise tree has at most 255 leaves, so none is deeper


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
    constants : tuple of float
        Numbers of the family that are the same for all rows.
    trees, depth : int
        Number of trees, and their depth.
    leaves : int
        Number of leaves of a leaf-wise tree; 0 for symmetric trees.
    learning_rate, l2, shrink, noise : float
        See `StepSizes`.
    variance_guard : float
        How often a row's own influence is removed from its residual for the variance.
    subsample : float
        Share of the rows that each tree sees.
    structure_rows : float
        Number of rows that choose the splits of each tree; 0 for all rows.
    random_strength, random_decay : float
        Noise on the scores of candidate splits, and how fast it vanishes, per tree.
    monotone, interactions : tuples
        Constraints on the columns of the binned table, see `Constraints`.
    min_leaf_weight : float
        Least weight of the rows of a leaf; 0 for any.
    column_share : float
        Share of the columns that each tree may split on.
    """

    objective: int
    start: tuple[float, ...]
    constants: tuple[float, ...]
    trees: int
    depth: int
    leaves: int
    learning_rate: float
    l2: float
    shrink: float
    noise: float
    subsample: float
    variance_guard: float
    structure_rows: float
    random_strength: float
    random_decay: float
    monotone: tuple[int, ...]
    interactions: tuple[tuple[int, ...], ...]
    min_leaf_weight: float
    column_share: float

    @classmethod
    def of(
        cls, spec: MemberSpec, objective: Objective, steps: StepSizes, encoding: Encoding | None = None
    ) -> "ChainRecipe":
        """Return the recipe of a member, given its loss, its step sizes and the encoding of its columns."""
        constraints = encoded_constraints(spec.constraints, encoding)
        return cls(
            objective=objective.code,
            start=tuple(float(value) for value in objective.start),
            constants=tuple(objective.constants),
            trees=spec.n_estimators,
            depth=_UNBOUNDED if spec.max_depth is None else spec.max_depth,
            leaves=spec.max_leaves or 0,
            learning_rate=steps.rate,
            l2=steps.l2,
            shrink=steps.shrink,
            noise=steps.noise,
            subsample=spec.subsample,
            variance_guard=spec.variance_guard * (LEAVE_ONE_OUT_FACTOR if spec.max_leaves else SYMMETRIC_TREES_FACTOR),
            structure_rows=float(split_rows(spec, len(objective.start)) or 0),
            random_strength=spec.random_strength,
            random_decay=spec.learning_rate,
            monotone=constraints.monotone,
            interactions=constraints.groups,
            min_leaf_weight=float(spec.min_samples_leaf) if spec.min_samples_leaf > 1 else 0.0,
            column_share=spec.max_features,
        )

    @property
    def is_of_classes(self) -> bool:
        """Whether the loss is one of classes, and not of a distribution of numbers."""
        return self.objective in _CLASSES

    @property
    def guards_variance(self) -> bool:
        """Whether leave-one-out scores are needed, as in ``core/problem.hpp``."""
        return not self.is_of_classes and len(self.start) > 1 and self.variance_guard > 0.0

    def to_native(self) -> NativeRecipe:
        """Return the recipe as an object of the native core in use."""
        return native().ChainRecipe(**asdict(self))
