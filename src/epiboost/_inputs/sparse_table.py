"""Sparse tables of SciPy: read as dense arrays where these are small, kept sparse otherwise.

Entries that are not stored are zeros, or missing values if the user says so. A `SparseTable` turns into a dense array
block by block; NumPy's functions, which would make it dense as a whole, are refused if it is too large.

>>> import scipy.sparse
>>> table = SparseTable(scipy.sparse.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]])))
>>> table.shape, table[1:].dense()
((2, 2), array([[1., 0.]]))
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array

from epiboost._typing import AnyArray, Floats, Integers, Table

SparseZeros: TypeAlias = Literal["values", "missing"]
"""What entries that are not stored are."""

MAX_DENSE_BYTES = 1 << 28
"""Largest dense table that is made of a sparse one: 256 MiB, 33 million numbers in double precision."""

_BLOCK_BYTES = 1 << 25  # of rows or columns that are dense at once


@dataclass(frozen=True, slots=True, eq=False)
class SparseTable:
    """A sparse table of numbers, too large to be dense.

    Attributes
    ----------
    rows : csr_array of shape (n, features)
        float32 or float64, in canonical format; NaN is a missing value.
    zeros : {"values", "missing"}
        What entries that are not stored are.
    """

    rows: Any
    zeros: SparseZeros = "values"

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.rows.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns, as of an array."""
        return self.rows.shape[0], self.rows.shape[1]

    @property
    def dtype(self) -> Any:  # noqa: ANN401 (NumPy's own type has a parameter)
        """Type of the numbers, as of an array."""
        return self.rows.dtype

    @property
    def absent(self) -> float:
        """Number that entries have which are not stored."""
        return 0.0 if self.zeros == "values" else float("nan")

    def __getitem__(self, rows: slice | AnyArray) -> "SparseTable":
        """Return some of the rows."""
        return replace(self, rows=self.rows[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:  # noqa: ANN401 (NumPy's protocol)
        """Return a dense array; a ValueError if it would be too large."""
        if copy is False:
            message = "a sparse table can be dense only as a copy"
            raise ValueError(message)
        if dense_bytes(self.rows) > MAX_DENSE_BYTES:
            message = f"X is sparse, and {too_large(self)}"
            raise ValueError(message)
        return self.dense() if dtype is None else self.dense().astype(dtype, copy=False)

    def dense(self) -> AnyArray:
        """Return a dense array of any size."""
        return _dense(self.rows, self.absent)

    def blocks(self) -> Iterator[AnyArray]:
        """Yield all rows as dense arrays of bounded size."""
        step = max(1, _BLOCK_BYTES // (self.shape[1] * self.dtype.itemsize))
        for first in range(0, len(self), step):
            yield _dense(self.rows[first : first + step], self.absent)

    def columns(self) -> Iterator[tuple[Integers, Floats]]:
        """Yield the rows and the numbers of the stored entries of each column."""
        by_column = self.rows.tocsc()
        for first, end in zip(by_column.indptr[:-1].tolist(), by_column.indptr[1:].tolist(), strict=True):
            yield by_column.indices[first:end], by_column.data[first:end]

    def ranges(self) -> tuple[Floats, Floats, AnyArray]:
        """Return the smallest and the largest number of each column, and whether values are missing."""
        low, high = np.full((2, self.shape[1]), np.nan)
        missing = np.zeros(self.shape[1], dtype=bool)
        for column, (stored, numbers) in enumerate(self.columns()):
            values = numbers if len(stored) == len(self) else np.append(numbers, self.absent)
            low[column], high[column] = np.fmin.reduce(values), np.fmax.reduce(values)
            missing[column] = np.isnan(values).any()
        return low, high, missing


def is_sparse(X: Table) -> bool:
    """Return whether a table is a sparse array or matrix of SciPy."""
    return bool(issparse(X))


def read_sparse(X: Table, *, zeros: SparseZeros, owner: str) -> AnyArray | SparseTable:
    """Return a checked sparse table as a dense array of floats, or sparse if that would be too large.

    Parameters
    ----------
    X : sparse array or matrix of shape (n, features)
    zeros : {"values", "missing"}
        What entries that are not stored are.
    owner : str
        Name of the estimator's class, for errors.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # it adds up all values
        checked = check_array(
            X,
            accept_sparse="csr",
            input_name="X",
            estimator=owner,
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan",
        )
    rows = csr_array(checked)
    if not rows.has_canonical_format:
        rows = csr_array(checked, copy=True)
        rows.sum_duplicates()
    table = SparseTable(rows, zeros)
    return table.dense() if dense_bytes(rows) <= MAX_DENSE_BYTES else table


def check_sparse_zeros(sparse_zeros: object) -> None:
    """Raise an error for a parameter that is not allowed."""
    if not isinstance(sparse_zeros, str) or sparse_zeros not in get_args(SparseZeros):
        message = f"sparse_zeros must be 'values' or 'missing'; got {sparse_zeros!r}"
        raise ValueError(message)


def dense_bytes(rows: Any) -> int:  # noqa: ANN401 (an array of SciPy, which has no types)
    """Return the size of a table as a dense array."""
    return int(rows.shape[0]) * int(rows.shape[1]) * int(rows.dtype.itemsize)


def too_large(table: SparseTable) -> str:
    """Return why a table cannot be dense, for errors."""
    return (
        f"{table.shape[0]:,} x {table.shape[1]:,} dense numbers of {table.dtype} would take "
        f"{dense_bytes(table.rows) / 2**20:,.0f} MiB; the limit is {MAX_DENSE_BYTES / 2**20:,.0f} MiB"
    )


def _dense(rows: Any, absent: float) -> AnyArray:  # noqa: ANN401 (an array of SciPy, which has no types)
    if absent == 0.0:
        dense: AnyArray = rows.toarray()
        return dense
    filled: AnyArray = np.full(rows.shape, absent, dtype=rows.dtype)
    filled[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices] = rows.data
    return filled
