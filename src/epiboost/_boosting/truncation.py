"""Tree counts at which a chain is a member.

>>> check_prefixes([5, 10], 10)
(5, 10)
"""

from collections.abc import Sequence


def check_prefixes(prefixes: Sequence[int], trees: int) -> tuple[int, ...]:
    """Return the tree counts, or say that a chain of so many trees does not have them in that order."""
    ends = tuple(int(prefix) for prefix in prefixes)
    if not ends or sorted(set(ends)) != list(ends) or ends[0] < 1 or ends[-1] > trees:
        message = f"prefixes must ascend from at least 1 to at most {trees}; got {ends}"
        raise ValueError(message)
    return ends
