"""Choice of the training rows that a model keeps.

They are drawn by a hash of their content, so that the choice does not depend on the order of the rows.

>>> table = np.arange(20.0).reshape(10, 2)
>>> rows = choose_rows(table, 3)
>>> bool((table[rows] == table[::-1][choose_rows(table[::-1], 3)]).all())
True
"""

import numpy as np

from epiboost._binning.canonical_rows import row_bytes
from epiboost._native import native
from epiboost._typing import AnyArray, Integers

_BLOCK = 65_536  # rows that are hashed at once, which bounds memory


def choose_rows(table: AnyArray, n_rows: int) -> Integers:
    """Return the positions of at most ``n_rows`` rows, in the order of their hashes.

    Parameters
    ----------
    table : array of shape (n, features)
    n_rows : int
    """
    blocks = (table[first : first + _BLOCK] for first in range(0, len(table), _BLOCK))
    hashes = np.concatenate([native().hash_rows(row_bytes(block)) for block in blocks])
    chosen: Integers = np.argsort(hashes, kind="stable")[:n_rows]
    return chosen
