"""Choice of the training rows that a model keeps: a random sample that does not depend on the order of the rows.

Rows are drawn by a hash of their content, of their target and of their number among equal rows.

>>> table, y = np.arange(20.0).reshape(10, 2), np.zeros(10)
>>> rows, _ = choose_rows(table, y, 3)
>>> bool((table[rows] == table[::-1][choose_rows(table[::-1], y, 3)[0]]).all())
True
"""

import numpy as np

from epiboost._binning.canonical_rows import row_bytes
from epiboost._native import native
from epiboost._typing import AnyArray, Floats, Integers

_MAX_BLOCK_CELLS = 1 << 22  # hashed at once, which bounds memory


def choose_rows(table: AnyArray, y: Floats, n_rows: int) -> tuple[Integers, Integers]:
    """Return the positions of at most ``n_rows`` rows, in the order of their hashes, and which rows are copies.

    Parameters
    ----------
    table : array of shape (n, features)
    y : array of shape (n,)
    n_rows : int

    Returns
    -------
    positions : array of shape (m,)
    copies : array of shape (n,)
        Equal rows with equal targets have the same number.
    """
    step = max(1, _MAX_BLOCK_CELLS // table.shape[1])
    blocks = (slice(first, first + step) for first in range(0, len(table), step))
    hashes = np.concatenate([_hash(np.column_stack([table[block], y[block]])) for block in blocks])
    order = np.argsort(hashes, kind="stable")
    is_first = np.append(True, hashes[order[1:]] != hashes[order[:-1]])
    position = np.arange(len(order))
    copy, numbers = np.empty(len(order)), np.empty(len(order), dtype=np.int64)
    copy[order] = position - np.maximum.accumulate(np.where(is_first, position, 0))
    numbers[order] = np.cumsum(is_first)
    low, high = (hashes & np.uint64(0xFFFFFFFF)), hashes >> np.uint64(32)
    keys = _hash(np.column_stack([low.astype(np.float64), high.astype(np.float64), copy]))
    chosen: Integers = np.argsort(keys, kind="stable")[:n_rows]
    return chosen, numbers


def _hash(table: AnyArray) -> AnyArray:
    return native().hash_rows(row_bytes(table))
