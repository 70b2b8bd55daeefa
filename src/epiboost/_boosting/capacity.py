"""Capacity: number, size and learning rate of the trees, by default chosen from the table. Not in the paper.

The product of learning rate and number of trees is the length of a chain. A given learning rate sets the number of
trees by it, and the other way round (`chain_length`). Where there are out-of-fold chains, short ones compare the sizes
of `candidates` and say whether chains should be shorter; otherwise trees have the `usual_size` for the number of rows.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

Auto = Literal["auto"]
AUTO: Auto = "auto"

MAX_DEPTH = 8
MAX_LEAVES = 255

_LENGTH = 120.0  # learning rate times trees: with less, large tables are not learned; more costs time alone
_USUAL_RATE = 0.2  # half the time of 0.1 for a loss that is hardly higher
_RATES = (0.05, 0.3)  # that "auto" takes for a given number of trees
_N_ESTIMATORS = (100, 2400)  # that "auto" takes for a given rate
_MANY_ROWS = 5_000  # from here on leaf-wise trees were better on half of the tables
_VERY_MANY_ROWS = 50_000  # leaves of 255 have 200 rows on average then, as those of 64 at 12,800


@dataclass(frozen=True, slots=True)
class TreeSize:
    """Size of a tree.

    Attributes
    ----------
    max_depth : int or None
        Levels of a symmetric tree. Bound on the depth of a leaf-wise tree; None for no bound.
    max_leaves : int or None
        Leaves of a leaf-wise tree; None for a symmetric tree.
    """

    max_depth: int | None
    max_leaves: int | None = None

    def __str__(self) -> str:
        """Return the size in words."""
        depth = "" if self.max_depth is None else f"depth {self.max_depth}"
        return depth if self.max_leaves is None else ", ".join(filter(None, (f"{self.max_leaves} leaves", depth)))


@dataclass(frozen=True, slots=True)
class Capacity:
    """Number, size and learning rate of the trees of a chain.

    Attributes
    ----------
    n_estimators : int
    learning_rate : float
    max_depth, max_leaves : int or None
        See `TreeSize`.
    """

    n_estimators: int
    learning_rate: float
    max_depth: int | None
    max_leaves: int | None

    def to_header(self) -> dict[str, Any]:
        """Return the fields for the header of a model file."""
        return asdict(self)

    @staticmethod
    def fields_of(parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the fields among an estimator's parameters; trees are symmetric if they say nothing else."""
        names = ("n_estimators", "learning_rate", "max_depth", "max_leaves")
        return {name: None if name == "max_leaves" and parameters[name] == AUTO else parameters[name] for name in names}

    @classmethod
    def from_header(cls, header: dict[str, Any]) -> Self:
        """Return the capacity of a model file; a ValueError if it holds other than numbers."""
        capacity = cls(**header)
        if any(isinstance(value, str | bool) for value in header.values()) or not isinstance(
            capacity.n_estimators, int
        ):
            message = f"the capacity must hold numbers; got {header}"
            raise ValueError(message)
        return capacity

    @property
    def tree_bytes(self) -> int:
        """Memory of a tree's leaf values, for one output of single precision."""
        n_leaves = self.max_leaves if self.max_leaves is not None else 2 ** min(self.max_depth or MAX_DEPTH, MAX_DEPTH)
        return 4 * n_leaves

    @property
    def size(self) -> TreeSize:
        """Size of the trees."""
        return TreeSize(self.max_depth, self.max_leaves)


def chain_length(n_estimators: int | Auto, learning_rate: float | Auto) -> tuple[int, float]:
    """Return the number of trees and the learning rate, of which none, one or both are given.

    >>> chain_length("auto", "auto")
    (600, 0.2)
    >>> chain_length("auto", 0.1)
    (1200, 0.1)
    >>> chain_length(200, "auto")
    (200, 0.3)
    """
    if learning_rate == AUTO:
        least, most = _RATES
        rate = _USUAL_RATE if n_estimators == AUTO else min(max(_LENGTH / n_estimators, least), most)
    else:
        rate = float(learning_rate)
    if n_estimators == AUTO:
        fewest, most_trees = _N_ESTIMATORS
        return round(min(max(_LENGTH / rate, fewest), most_trees)), rate
    return int(n_estimators), rate


def usual_size(n_rows: float, *, is_classification: bool) -> TreeSize:
    """Return the size of trees for a number of rows, where sizes are not compared.

    >>> usual_size(300, is_classification=False)
    TreeSize(max_depth=6, max_leaves=None)
    """
    few, many = (4, 6) if is_classification else (6, MAX_DEPTH)
    return TreeSize(few if n_rows < _MANY_ROWS else many)


def candidates(n_rows: float, *, is_classification: bool, leaf_wise: bool) -> tuple[TreeSize, ...]:
    """Return the sizes of trees to compare with the usual one, which is among them, from small to large.

    Small tables want trees of any depth from two to eight. On large ones leaf-wise trees, which follow thresholds that
    interact, or deep symmetric trees, which suit smooth functions, are best.

    >>> [str(size) for size in candidates(300, is_classification=False, leaf_wise=True)]
    ['depth 2', 'depth 4', 'depth 6', 'depth 8']
    >>> [str(size) for size in candidates(10_000, is_classification=False, leaf_wise=True)]
    ['depth 8', '64 leaves']
    """
    if n_rows < _MANY_ROWS:
        return tuple(TreeSize(depth) for depth in (2, 4, 6, MAX_DEPTH))
    usual = usual_size(n_rows, is_classification=is_classification)
    return (usual, TreeSize(None, 64 if n_rows < _VERY_MANY_ROWS else MAX_LEAVES)) if leaf_wise else (usual,)
