"""Checks of binary trees whose nodes are in arrays.

>>> left, right = np.array([1, -1, 3, -1, -1]), np.array([2, -1, 4, -1, -1])
>>> tree_depth(left, right, np.array([0]), is_leaf=left < 0)
2
"""

from dataclasses import dataclass

import numpy as np

from epiboost._typing import AnyArray, Integers


@dataclass(frozen=True, slots=True)
class ModelShape:
    """What the header of a forest says of each of its models.

    Attributes
    ----------
    n_codes : tuple of int
        Number of codes per column, 0 for a numeric column.
    n_outputs : int
        Number of scores per row.
    """

    n_codes: tuple[int, ...]
    n_outputs: int

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.n_codes)


def require(fact: bool, fault: str) -> None:
    """Raise a ValueError with the fault unless the fact holds."""
    if not fact:
        raise ValueError(fault)


def tree_depth(left: Integers, right: Integers, roots: Integers, *, is_leaf: AnyArray) -> int:
    """Return the depth of the deepest tree; a ValueError unless every node is reached exactly once.

    Parameters
    ----------
    left, right : arrays of shape (nodes of all trees,)
        Positions of the children of nodes that are not leaves.
    roots : array of shape (trees,)
        Positions of the roots.
    is_leaf : array of bool, shape (nodes,)
    """
    inner = np.flatnonzero(~is_leaf)
    reached = np.concatenate([roots, left[inner], right[inner]])
    require(bool(((reached >= 0) & (reached < len(left))).all()), "children must be nodes")
    once = len(reached) == len(left) and bool((np.bincount(reached, minlength=len(left)) == 1).all())
    require(once, "every node must be the root or the child of one node")
    # From here on a walk from the roots ends: a node on a cycle has its one parent there.
    depth, level, seen = 0, roots, len(roots)
    while len(level := level[~is_leaf[level]]):
        level = np.concatenate([left[level], right[level]])
        depth, seen = depth + 1, seen + len(level)
    require(seen == len(left), "trees must not have cycles")
    return depth
