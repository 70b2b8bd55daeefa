"""Rows in an order of their own.

A model must not depend on how its table happens to be sorted, nor on whether a row stands there twice or once with
weight two. So rows are put into the order of a hash of their bins (and of the target, where bins are equal), and rows
that are the same to the model are merged into one that has their weights' sum. The noise of a row is keyed by its place
here.

>>> import numpy as np
>>> codes = np.array([[1, 1], [2, 1], [1, 1]], dtype=np.uint8)
>>> rows, weight, copies = own_order(codes, np.array([5.0, 6.0, 5.0]), np.ones(3))
>>> sorted(weight.tolist()), sorted(copies.tolist())
([1.0, 2.0], [1, 2])
"""

import numpy as np

from epiboost._native import native
from epiboost._typing import Bytes, Floats, Integers


def own_order(codes: Bytes, y: Floats, weight: Floats) -> tuple[Integers, Floats, Integers]:
    """Return which rows to take, in which order, what each counts for and how often it stands there.

    Parameters
    ----------
    codes : array of shape (n, features)
        Bins.
    y, weight : arrays of shape (n,)
        Targets and weights.

    Returns
    -------
    rows, weight, copies : arrays of shape (m,), m <= n
    """
    hashes = native().hash_rows(codes)
    order = _sorted(hashes, y, weight)
    alike = (hashes[order[1:]] == hashes[order[:-1]]) & (y[order[1:]] == y[order[:-1]])
    suspects = np.flatnonzero(alike)
    alike[suspects] = (codes[order[suspects + 1]] == codes[order[suspects]]).all(axis=1)
    if not alike.any():  # as in most large tables, where it spares copies
        return order, _worth_a_row(weight[order]), np.broadcast_to(np.int64(1), order.shape)  # which takes no memory
    firsts = np.flatnonzero(np.concatenate([[True], ~alike]))
    copies = np.diff(np.append(firsts, len(order)))
    return order[firsts], _worth_a_row(np.add.reduceat(weight[order], firsts)), copies


def _sorted(hashes: Integers, y: Floats, weight: Floats) -> Integers:
    """Sort rows by hash, and those of equal hash by target and weight."""
    order = np.argsort(hashes)
    equal = hashes[order[1:]] == hashes[order[:-1]]
    if equal.any():
        tied = np.flatnonzero(np.concatenate([equal, [False]]) | np.concatenate([[False], equal]))
        rows = np.sort(order[tied])
        order[tied] = rows[np.lexsort((weight[rows], y[rows], hashes[rows]))]
    return order


def _worth_a_row(weight: Floats) -> Floats:
    """Scale weights of less than one on average up to an average of one.

    They cannot be meant as counts (often they add up to one), and would leave a table that is worth less than its rows.
    """
    largest = weight.max()
    relative = weight / largest
    average = relative.mean()
    return weight if average * largest >= 1 else relative / average
