"""Virtual ensembles: the tree counts at which one chain is truncated (section 3, "Virtual SGLB ensembles").

A member is the chain as it was after t trees, for t = T/2 + K, T/2 + 2K, ..., T. The first half of the chain is left
out, because its distribution has not converged. The M members are T / (2M) trees apart. Two functions round that
number, each for its own reason.

>>> virtual_prefixes(100, 5)
(60, 70, 80, 90, 100)
>>> catboost_prefixes(100, 5)
(60, 70, 80, 90, 100)
"""

from collections.abc import Sequence
from itertools import pairwise

_N_STAGES = 10  # a finer choice gains nothing, and each stage is predicted


def virtual_prefixes(n_trees: int, n_members: int) -> tuple[int, ...]:
    """Return the tree counts of a virtual ensemble, evenly spaced over the second half of the chain.

    Each count is rounded by itself, so that the members always span the whole second half.

    >>> virtual_prefixes(100, 4)
    (62, 75, 87, 100)
    """
    half = n_trees // 2
    return tuple(half + (member + 1) * (n_trees - half) // n_members for member in range(n_members))


def catboost_prefixes(n_trees: int, n_members: int) -> tuple[int, ...]:
    """Return the tree counts at which CatBoost truncates a fitted model.

    The spacing K is rounded once, as CatBoost does, so that the members of a fitted model are those of its
    ``virtual_ensembles_predict``.

    >>> catboost_prefixes(100, 4)
    (64, 76, 88, 100)
    """
    spacing = n_trees // (2 * n_members)
    if n_members > 1 and spacing < 1:
        message = f"n_members={n_members} needs a model of at least {2 * n_members} trees; this one has {n_trees}"
        raise ValueError(message)
    return tuple(n_trees - spacing * (n_members - 1 - member) for member in range(n_members))


def forest_parts(n_trees: int, n_members: int) -> tuple[slice, ...]:
    """Return the trees of each virtual member of a random forest (appendix "Comparison with Random Forest", vRF).

    Trees of a random forest are independent. Its virtual members are disjoint parts of equal size, up to one tree.

    >>> [(part.start, part.stop) for part in forest_parts(10, 3)]
    [(0, 3), (3, 6), (6, 10)]
    """
    bounds = [member * n_trees // n_members for member in range(n_members + 1)]
    return tuple(slice(begin, end) for begin, end in pairwise(bounds))


def check_prefixes(prefixes: Sequence[int], trees: int) -> tuple[int, ...]:
    """Return tree counts as a tuple; a ValueError unless they ascend within a chain of ``trees`` trees.

    >>> check_prefixes([5, 10], 10)
    (5, 10)
    """
    ends = tuple(int(prefix) for prefix in prefixes)
    if not ends or sorted(set(ends)) != list(ends) or ends[0] < 1 or ends[-1] > trees:
        message = f"prefixes must ascend from at least 1 to at most {trees}; got {ends}"
        raise ValueError(message)
    return ends


def stages_of(n_trees: int) -> tuple[int, ...]:
    """Return ten evenly spaced tree counts up to all trees, among which the best is looked for.

    >>> stages_of(150)
    (15, 30, 45, 60, 75, 90, 105, 120, 135, 150)
    """
    return tuple(sorted({max(1, round(n_trees * step / _N_STAGES)) for step in range(1, _N_STAGES + 1)}))
