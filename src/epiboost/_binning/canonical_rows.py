"""Canonical order of training rows.

A model must not depend on how its table is sorted, nor on whether a row occurs twice or once with weight two. So rows
are sorted by a hash of their bins, and by the target where bins are equal. Equal rows are merged into one with the sum
of their weights. The position of a row in this order is its key in the noise function.

>>> import numpy as np
>>> codes = np.array([[1, 1], [2, 1], [1, 1]], dtype=np.uint8)
>>> rows, weight, copies = canonical_order(codes, np.array([5.0, 6.0, 5.0]), np.ones(3))
>>> sorted(weight.tolist()), sorted(copies.tolist())
([1.0, 2.0], [1, 2])
"""

from collections.abc import Iterator

import numpy as np

from epiboost._inputs.sparse_table import SparseTable
from epiboost._native import native
from epiboost._typing import AnyArray, Bytes, Floats, Integers

_BLOCK_ROWS = 1 << 18  # of further numbers that are copied side by side


def row_bytes(X: AnyArray) -> Bytes:
    """Return the content of a table of numbers as bytes, shape (n, 8 * columns): equal rows have equal bytes.

    >>> bool((row_bytes(np.array([[0.0]])) == row_bytes(np.array([[-0.0]]))).all())
    True
    """
    table = np.ascontiguousarray(X, dtype=np.float64) + 0.0  # turns -0.0 into 0.0
    table[np.isnan(table)] = np.nan  # one bit pattern for all missing values
    return table.view(np.uint8)


def hash_numbers(X: AnyArray | SparseTable, *more: AnyArray, threads: int = 1) -> AnyArray:
    """Return a hash of each row of a table of numbers and of further numbers; equal rows have equal hashes.

    Parameters
    ----------
    X : array or SparseTable of shape (n, columns)
    *more : arrays of shape (n,) or (n, columns)
    threads : int

    >>> hashes = hash_numbers(np.array([[0.0], [-0.0], [1.0]]), np.array([np.nan, np.nan, 2.0]))
    >>> bool(hashes[0] == hashes[1]), bool(hashes[1] == hashes[2])
    (True, False)
    """
    hashes, first = np.empty(len(X), dtype=np.uint64), 0
    for block in X.blocks() if isinstance(X, SparseTable) else _blocks(X):
        rows = slice(first, first + len(block))
        beside = np.column_stack([np.empty((len(block), 0)), *(numbers[rows] for numbers in more)])
        hashes[rows] = native().hash_numbers(block, np.ascontiguousarray(beside), threads)
        first += len(block)
    return hashes


def _blocks(X: AnyArray) -> Iterator[AnyArray]:
    for first in range(0, len(X), _BLOCK_ROWS):
        yield X[first : first + _BLOCK_ROWS]


def canonical_order(codes: Bytes, y: Floats, weight: Floats, threads: int = 1) -> tuple[Integers, Floats, Integers]:
    """Return the distinct rows in canonical order, their weights and how often each occurs.

    Parameters
    ----------
    codes : array of shape (n, features)
        Bins.
    y : array of shape (n,) or (n, targets)
    weight : array of shape (n,)
    threads : int

    Returns
    -------
    rows, weight, copies : arrays of shape (m,), m <= n
    """
    hashes = native().hash_rows(codes, threads)
    if y.ndim > 1:
        y = np.unique(y, axis=0, return_inverse=True)[1].astype(np.float64)
    order = _sort(hashes, y, weight)
    equal = (hashes[order[1:]] == hashes[order[:-1]]) & (y[order[1:]] == y[order[:-1]])
    candidates = np.flatnonzero(equal)  # different rows may have the same hash
    equal[candidates] = (codes[order[candidates + 1]] == codes[order[candidates]]).all(axis=1)
    if not equal.any():  # the usual case for large tables, without copies of them
        return order, _rescaled(weight[order]), np.broadcast_to(np.int64(1), order.shape)
    firsts = np.flatnonzero(np.concatenate([[True], ~equal]))
    copies = np.diff(np.append(firsts, len(order)))
    return order[firsts], _rescaled(np.add.reduceat(weight[order], firsts)), copies


def _sort(hashes: AnyArray, y: Floats, weight: Floats) -> Integers:
    """Return the order of rows by hash; ties are ordered by target and weight."""
    order = np.argsort(hashes)
    equal = hashes[order[1:]] == hashes[order[:-1]]
    if equal.any():
        tied = np.flatnonzero(np.concatenate([equal, [False]]) | np.concatenate([[False], equal]))
        rows = np.sort(order[tied])
        order[tied] = rows[np.lexsort((weight[rows], y[rows], hashes[rows]))]
    return order


def _rescaled(weight: Floats) -> Floats:
    """Rescale weights whose mean is below one to a mean of one.

    Such weights are not counts (often they sum to one). The table would otherwise weigh less than its number of rows.
    """
    largest = weight.max()
    relative = weight / largest
    average = relative.mean()
    return weight if average * largest >= 1 else relative / average
