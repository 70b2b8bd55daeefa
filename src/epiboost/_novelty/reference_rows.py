"""Choice of the training rows that a model keeps: a random sample that does not depend on the order of the rows.

Rows are drawn by a hash of their content, of their target and of their number among equal rows.

>>> table, y = np.arange(20.0).reshape(10, 2), np.zeros(10)
>>> rows, _ = choose_rows(table, y, 3)
>>> bool((table[rows] == table[::-1][choose_rows(table[::-1], y, 3)[0]]).all())
True
"""

import numpy as np

from epiboost._binning.canonical_rows import hash_numbers
from epiboost._typing import AnyArray, Floats, Integers


def choose_rows(table: AnyArray, y: Floats, n_rows: int, *, threads: int = 1) -> tuple[Integers, Integers]:
    """Return the positions of at most ``n_rows`` rows, in the order of their hashes, and which rows are copies.

    Parameters
    ----------
    table : array of shape (n, features)
    y : array of shape (n,)
    n_rows, threads : int

    Returns
    -------
    positions : array of shape (m,)
    copies : array of shape (n,)
        Equal rows with equal targets have the same number.
    """
    hashes = hash_numbers(table, y, threads=threads)
    copy = _number_of_copy(hashes)
    low, high = (hashes & np.uint64(0xFFFFFFFF)), hashes >> np.uint64(32)
    keys = hash_numbers(np.column_stack([low.astype(np.float64), high.astype(np.float64)]), copy, threads=threads)
    chosen = np.argpartition(keys, n_rows - 1)[:n_rows] if 0 < n_rows < len(keys) else np.arange(len(keys))[:n_rows]
    return chosen[np.lexsort((chosen, keys[chosen]))], hashes.view(np.int64)


def _number_of_copy(hashes: AnyArray) -> Floats:
    """Return the number of each row among those of equal hash, which is 0 for the first."""
    copy, ascending = np.zeros(len(hashes)), np.sort(hashes)
    if not (ascending[1:] == ascending[:-1]).any():  # the usual case
        return copy
    order = np.argsort(hashes, kind="stable")
    is_first = np.append(True, ascending[1:] != ascending[:-1])
    position = np.arange(len(order))
    copy[order] = position - np.maximum.accumulate(np.where(is_first, position, 0))
    return copy
