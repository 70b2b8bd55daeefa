"""The schema of a table: names, categories and ranges of its columns.

It is made from the training table and applied to any later table: columns are put into the order of training, compared
with those of training, and read as one array of floats in which NaN is a missing value and categories are codes.

>>> import numpy as np
>>> X = np.array([[1.0, "red"], [2.0, "blue"], [3.0, "red"]], dtype=object)
>>> schema, table = ColumnSchema.fit(X, categorical_features="auto", owner="EpiBoostRegressor")
>>> table
array([[1., 1.],
       [2., 0.],
       [3., 1.]])
>>> schema.transform(np.array([[4.0, "green"]], dtype=object))
array([[ 4., -1.]])
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals as nw
import numpy as np

from epiboost._display import short_repr
from epiboost._inputs.category_files import categories_from_file, categories_to_file
from epiboost._inputs.column_kinds import holds_text, requested_columns
from epiboost._inputs.columns import ColumnCategories, drop_unused, fit_columns, read_columns
from epiboost._inputs.device_arrays import on_host
from epiboost._inputs.feature_ranges import FeatureRanges
from epiboost._inputs.few_rows import read_few_rows
from epiboost._inputs.number_tables import MAX_COLUMNS, check_numbers, check_width, is_numeric, refuse_no_columns
from epiboost._inputs.sparse_table import SparseTable, SparseZeros, check_sparse_zeros, is_sparse, read_sparse
from epiboost._inputs.table import (
    check_feature_names,
    check_n_features,
    feature_names,
    has_columns,
    in_order,
    open_table,
)
from epiboost._native import native
from epiboost._typing import AnyArray, LibraryObject, Table

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_TWO_AXES = 2


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """Rows that a schema has read already: its `ColumnSchema.transform` returns them as they are.

    Attributes
    ----------
    values : array of shape (n, features)
    index : pandas.Index or None
        See `row_index`.
    """

    values: AnyArray
    index: LibraryObject = None


def row_index(X: Table) -> LibraryObject:
    """Return the index of a pandas frame; None for any other table.

    >>> row_index([[1.0, 2.0]]) is None
    True
    """
    if isinstance(X, np.ndarray | list | tuple):
        return None
    if isinstance(X, CheckedTable) or hasattr(X, "iloc"):
        return X.index
    native = nw.to_native(X, pass_through=True)  # narwhals frames are tables too
    return native.index if hasattr(native, "iloc") else None


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSchema:
    """Names, categories and ranges of the columns of a training table.

    Attributes
    ----------
    owner : str
        Name of the estimator's class, for errors and warnings.
    n_features : int
    names : tuple of str or None
        None if the columns had no names.
    categories : tuple of Categories or None
        One entry per column, None for a numeric column; empty if no column is categorical.
    ranges : FeatureRanges or None
        None if the training rows were not in memory.
    sparse_zeros : {"values", "missing"}
        What entries are that a sparse table does not store.
    """

    owner: str
    n_features: int
    names: tuple[str, ...] | None = None
    categories: ColumnCategories = ()
    ranges: FeatureRanges | None = None
    sparse_zeros: SparseZeros = "values"

    __repr__ = short_repr

    @classmethod
    def fit(
        cls, X: Table, *, categorical_features: object, owner: str, sparse_zeros: SparseZeros = "values"
    ) -> tuple[Self, AnyArray]:
        """Return the schema of a training table, and the table as floats; a `SparseTable` if it is large and sparse.

        Parameters
        ----------
        X : table of shape (n, features)
        categorical_features : "auto", None or list of str and int
        owner : str
        sparse_zeros : {"values", "missing"}
        """
        check_sparse_zeros(sparse_zeros)
        X = on_host(X)
        is_default = categorical_features is None or (
            isinstance(categorical_features, str) and categorical_features == "auto"
        )
        if is_default and is_numeric(X):
            return cls(owner, X.shape[1], sparse_zeros=sparse_zeros), check_numbers(X, owner)
        if is_sparse(X):
            return cls._fit_sparse(X, categorical_features, owner, sparse_zeros)
        table = open_table(X)
        if isinstance(table, nw.DataFrame):
            names = feature_names(table.columns)
            columns, labels = list(table.iter_columns()), list[Any](table.columns)
            requested = requested_columns(categorical_features, labels, len(columns))
        else:
            names, width = None, table.shape[1] if has_columns(table) else 0
            requested = requested_columns(categorical_features, None, width) if width else None
            if not (width and (requested or holds_text(table))):
                numbers = check_numbers(table, owner)
                return cls(owner, numbers.shape[1], sparse_zeros=sparse_zeros), numbers
            columns, labels = list(table.T), list(range(width))
        check_width(len(columns))
        if not columns:
            refuse_no_columns(len(table), owner)
        categories, values = fit_columns(columns, labels, requested)
        schema = cls(owner, len(columns), names, categories, sparse_zeros=sparse_zeros)
        return schema, check_numbers(values, owner, labels)

    def read(self, X: Table) -> CheckedTable:
        """Return a table that this schema need not read again, with its index.

        Parameters
        ----------
        X : table of shape (n, features), or CheckedTable
        """
        return CheckedTable(self.transform(X), row_index(X))

    @classmethod
    def _fit_sparse(
        cls, X: Table, categorical_features: object, owner: str, sparse_zeros: SparseZeros
    ) -> tuple[Self, AnyArray]:
        if requested_columns(categorical_features, None, X.shape[1] if X.ndim == _TWO_AXES else 0):
            message = "a sparse table holds numbers; give categorical columns in a frame or a dense array"
            raise ValueError(message)
        numbers: Any = read_sparse(X, zeros=sparse_zeros, owner=owner)
        check_width(numbers.shape[1])
        return cls(owner, numbers.shape[1], sparse_zeros=sparse_zeros), numbers

    def transform(self, X: Table) -> AnyArray:
        """Return a table as floats, shape (n, features), after comparing its columns with those of training.

        A large sparse table is returned as a `SparseTable`.

        Parameters
        ----------
        X : table of shape (n, features), or CheckedTable
        """
        if isinstance(X, CheckedTable):
            return on_host(X.values)  # type: ignore[no-any-return]
        if self._is_plain(X):
            return X  # type: ignore[no-any-return]
        X = on_host(X)
        if is_sparse(X):
            return self._transform_sparse(X)
        few = read_few_rows(X, self.names, self.categories)
        if few is not None:
            return few
        table = X if is_numeric(X) else open_table(X)
        names = None
        if isinstance(table, nw.DataFrame):
            table = in_order(table, self.names)
            names = feature_names(table.columns)
        check_feature_names(names, self.names, self.owner)
        if isinstance(table, nw.DataFrame):
            columns, labels = list(table.iter_columns()), list[Any](table.columns)
        elif has_columns(table) and (self.categories or holds_text(table)):
            columns, labels = list(table.T), list(range(table.shape[1]))
        else:
            numbers = check_numbers(table, self.owner)
            check_n_features(numbers.shape[1], self.n_features, self.owner)
            return numbers
        check_n_features(len(columns), self.n_features, self.owner)
        return check_numbers(read_columns(columns, labels, self.categories), self.owner, labels)

    def _transform_sparse(self, X: Table) -> AnyArray:
        check_feature_names(None, self.names, self.owner)
        if self.categories:
            message = (
                "X is sparse and holds numbers, but columns were categorical in training; give a frame or an array"
            )
            raise ValueError(message)
        numbers: Any = read_sparse(X, zeros=self.sparse_zeros, owner=self.owner)
        check_n_features(numbers.shape[1], self.n_features, self.owner)
        return numbers  # type: ignore[no-any-return]

    @property
    def n_codes(self) -> tuple[int, ...]:
        """Number of codes per column, the one for missing values included; 0 for numbers, empty without categories."""
        return tuple(0 if known is None else len(known.values) + 1 for known in self.categories)

    @property
    def is_categorical(self) -> AnyArray:
        """Whether each column is categorical, shape (features,)."""
        return np.array([known is not None for known in self.categories] or [False] * self.n_features)

    def without_unused(self, table: AnyArray) -> tuple[Self, AnyArray]:
        """Return the schema and the table without categories that no row has."""
        if not self.categories:
            return self, table
        table, categories = drop_unused(table, self.categories)
        return replace(self, categories=categories), table

    def with_ranges(self, table: AnyArray | SparseTable, *, threads: int = 1) -> Self:
        """Return the schema with the ranges of the training rows, shape (n, features), beside those that it has."""
        ranges = self._ranges_of(table, threads)
        return replace(self, ranges=ranges if self.ranges is None else self.ranges.joined(ranges))

    def _ranges_of(self, table: AnyArray | SparseTable, threads: int) -> FeatureRanges:
        if isinstance(table, SparseTable):
            return FeatureRanges(*table.ranges())
        low, high, missing = native().column_ranges(table, threads)
        has_none = self.is_categorical | (low > high)
        low[has_none] = high[has_none] = np.nan
        return FeatureRanges(low, high, (missing > 0) | self.is_categorical)

    def estimator_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of an estimator: the schema, and what scikit-learn calls its parts."""
        attributes: dict[str, Any] = {"schema_": self, "n_features_in_": self.n_features}
        if self.names is not None:
            attributes["feature_names_in_"] = np.array(self.names, dtype=object)
        return attributes

    def to_file(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Return the header and the arrays of a model file."""
        categories, texts = categories_to_file(self.categories)
        header = {
            "n_features": self.n_features,
            "feature_names": None if self.names is None else list(self.names),
            "vocabularies": categories,
            "sparse_zeros": self.sparse_zeros,
        }
        return header, {**texts, **({} if self.ranges is None else self.ranges.to_file())}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], *, owner: str) -> Self:
        """Return the schema that `to_file` described; a ValueError if the parts do not fit together."""
        n_features, names = header["n_features"], header["feature_names"]
        if type(n_features) is not int:
            message = f"the number of columns must be a whole number; got {n_features!r}"
            raise ValueError(message)
        if not 0 < n_features <= MAX_COLUMNS:
            message = f"the number of columns must be from 1 to {MAX_COLUMNS}; got {n_features}"
            raise ValueError(message)
        if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            message = "names of columns must be a list of text"
            raise ValueError(message)
        categories = categories_from_file(header["vocabularies"], arrays)
        for what, found in (("names", names), ("categories", categories)):
            if found and len(found) != n_features:
                message = f"there are {what} for {len(found)} columns, the header says {n_features}"
                raise ValueError(message)
        ranges = FeatureRanges.from_file(arrays, n_features)
        sparse_zeros = header.get("sparse_zeros", "values")  # older files have none
        check_sparse_zeros(sparse_zeros)
        return cls(owner, n_features, None if names is None else tuple(names), categories, ranges, sparse_zeros)

    def may_be_plain(self, X: Table) -> bool:
        """Return whether X is a float array of the right shape, whose values alone are to be checked."""
        if type(X) is not np.ndarray or X.dtype not in _FLOATS or X.ndim != _TWO_AXES or not len(X):
            return False
        return not self.categories and self.names is None and X.shape[1] == self.n_features

    def _is_plain(self, X: Table) -> bool:
        """Return whether X is a finite float array, for which all checks are skipped.

        The checks take longer than predicting one row.
        """
        if not self.may_be_plain(X):
            return False
        with np.errstate(all="ignore"):
            return bool(np.isfinite(X.sum()))  # missing values and huge sums are left to the full check
