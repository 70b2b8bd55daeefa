"""Binning of sparse tables column by column, with the bits of the dense table.

Borders depend on the distinct values of a column and on their weights, so that the entries which are not stored count
as one value. That is exact for equal weights and for whole numbers. Sums of other weights depend on the order of the
rows in their last digits: then whole columns are made dense, a few at a time.

>>> import scipy.sparse
>>> dense = np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]])
>>> table = bin_sparse(SparseTable(scipy.sparse.csr_array(dense)), np.ones(3), max_bins=255)
>>> table.codes
array([[1, 2],
       [2, 1],
       [1, 1]], dtype=uint8)
"""

import numpy as np

from epiboost._binning.bins import BinnedTable, Bins, are_ones
from epiboost._inputs.sparse_table import SparseTable
from epiboost._native import native
from epiboost._typing import AnyArray, Bytes, Floats, Integers


def bin_sparse(table: SparseTable, weight: Floats, max_bins: int, borders: Bins | None = None) -> BinnedTable:
    """Return the bins of a sparse table: one byte per entry, those that are not stored included.

    Parameters
    ----------
    table : SparseTable
    weight : array of shape (n,)
    max_bins : int
    borders : Bins, optional
        Borders to use in place of quantiles.
    """
    bins = borders or fit_sparse(table, weight, max_bins)
    return BinnedTable(bins, transform_sparse(bins, table))


def fit_sparse(table: SparseTable, weight: Floats, max_bins: int) -> Bins:
    """Return the bins that `Bins.fit` finds for the dense table."""
    counted = np.ones(len(table)) if are_ones(weight) else weight
    is_exact = bool((counted == np.floor(counted)).all())
    columns = []
    for rows, numbers in table.columns():
        if is_exact:
            values, weights = _distinct_entries(table, rows, numbers, counted)
        else:
            values, weights = _dense_column(table, rows, numbers), counted
        columns += native().find_borders(values[:, np.newaxis], weights, max_bins, 1)
    return Bins.of_columns(columns)


def transform_sparse(bins: Bins, table: SparseTable) -> Bytes:
    """Return the bins of a sparse table, shape (n, features)."""
    absent = bins.transform(np.full((1, table.shape[1]), table.absent))
    codes = np.repeat(absent, len(table), axis=0)
    for column, (rows, numbers) in enumerate(table.columns()):
        borders = bins.borders_of(column)
        offsets = np.array([0, len(borders)])
        codes[rows, column] = native().bin_table(numbers[:, np.newaxis], borders, offsets, 1)[:, 0]
    return codes


def _distinct_entries(table: SparseTable, rows: Integers, numbers: Floats, weight: Floats) -> tuple[AnyArray, Floats]:
    """Return the stored entries of a column and one for all others, and their weights."""
    stored = weight[rows]
    others = weight.sum() - stored.sum()
    if others <= 0.0:
        return numbers, stored
    return np.append(numbers, numbers.dtype.type(table.absent)), np.append(stored, others)


def _dense_column(table: SparseTable, rows: Integers, numbers: Floats) -> AnyArray:
    column = np.full(len(table), table.absent, dtype=numbers.dtype)
    column[rows] = numbers
    return column
