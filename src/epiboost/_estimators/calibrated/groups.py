"""Groups of rows: each has a conformal quantile of its own (Mondrian conformal prediction).

A group is a value of a column of the table, or a label that is given beside the table, at calibration and at
prediction.
"""

import numbers
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from epiboost._inputs.labels import check_present, check_same_kind, holds_dates, to_array
from epiboost._inputs.schema import ColumnSchema
from epiboost._typing import AnyArray, Column, Floats, Integers

UNKNOWN = -1
"""Code of a row whose group is not known."""


@dataclass(frozen=True, slots=True, eq=False)
class RowGroups:
    """Labels of groups, and the column that has them.

    Attributes
    ----------
    labels : array of shape (groups,)
        Distinct, ascending. Of a column: its numbers, or the codes of its categories.
    column : int, optional
        Position of the column; None if labels are given beside the table.
    """

    labels: AnyArray
    column: int | None = None

    @classmethod
    def fit(cls, groups: Column, table: AnyArray, schema: ColumnSchema) -> tuple[Self, Integers]:
        """Return the groups of calibration rows, and the code of each row.

        Parameters
        ----------
        groups : str, int or array of shape (n,)
            Name or position of a column, or one label per row.
        table : array of shape (n, features)
            The rows, as the schema has read them.
        schema : ColumnSchema
        """
        is_column = isinstance(groups, str | numbers.Integral) and not isinstance(groups, bool | np.bool_)
        column = _position(groups, schema) if is_column else None
        given = check_groups(groups, len(table)) if column is None else table[:, column]
        known = given[given >= 0] if column is not None and schema.is_categorical[column] else given
        fitted = cls(np.unique(known), column)
        codes = fitted.codes(None if column is not None else given, table)
        if len(codes) > 1 and np.bincount(codes[codes >= 0], minlength=1).max() <= 1:
            message = (
                f"groups must be shared by several rows, got {len(fitted.labels)} different ones for {len(codes)} rows"
            )
            raise ValueError(message)
        return fitted, codes

    def codes(self, groups: Column, table: AnyArray) -> Integers:
        """Return the code of each row's group among the labels; UNKNOWN for another group."""
        if self.column is not None and groups is not None:
            message = f"groups are those of column {self.column} of X, as in calibration; do not give them again"
            raise ValueError(message)
        given = check_groups(groups, len(table)) if self.column is None else table[:, self.column]
        try:
            check_same_kind(given, self.labels)
        except TypeError as error:
            message = f"groups hold {given.dtype}, those of calibration were {self.labels.tolist()}; give the same kind"
            raise ValueError(message) from error
        if not len(self.labels):
            return np.full(len(given), UNKNOWN)
        places = np.minimum(np.searchsorted(self.labels, given), len(self.labels) - 1)
        found = self.labels[places]
        same = found == given
        if given.dtype.kind == "f":
            same |= np.isnan(found) & np.isnan(given)  # a missing value is a group
        codes: Integers = np.where(same, places, UNKNOWN).astype(np.int64)
        return codes

    def to_file(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Return the header and the arrays of a model file."""
        return {"column": self.column}, {"calibration_group_labels": self.labels}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_features: int) -> Self:
        """Return the groups that `to_file` described; a ValueError if the parts are not valid."""
        labels, column = arrays["calibration_group_labels"], header["column"]
        if labels.ndim != 1 or not np.array_equal(np.unique(labels), labels, equal_nan=labels.dtype.kind == "f"):
            message = "labels of groups must be distinct and in order"
            raise ValueError(message)
        if column is not None and not (type(column) is int and 0 <= column < n_features and labels.dtype.kind == "f"):
            message = f"groups must be those of one of the {n_features} columns; got {column!r}"
            raise ValueError(message)
        return cls(labels, column)


def by_group(quantiles: Floats, codes: Integers, *, whose: str, stacklevel: int) -> Floats:
    """Return the quantiles of groups, shape (n, ...).

    Unknown groups, and groups that have no quantile, get those of all rows; a warning says how many.

    Parameters
    ----------
    quantiles : array of shape (groups + 1, ...)
        Those of all rows are the last; NaN where a group has too few rows.
    codes : integer array of shape (n,)
        Group of each row, or of each class.
    whose : str
        What has the groups, for the warning.
    stacklevel : int
        As in `warnings.warn`.
    """
    found = quantiles[codes]  # UNKNOWN is the last
    missing = np.isnan(found)
    n_without = int((missing.any(axis=tuple(range(1, missing.ndim))) | (codes == UNKNOWN)).sum())
    if n_without:
        message = (
            f"{n_without} of {len(codes)} {whose} too few calibration rows for this coverage, or none; it is "
            "guaranteed over all rows, but not for them"
        )
        warnings.warn(message, stacklevel=stacklevel)
    return np.where(missing, quantiles[-1], found)


def check_groups(groups: Column, n_samples: int) -> AnyArray:
    """Return one label per row, all of them text or all of them numbers.

    >>> check_groups(["north", "south"], 2)
    array(['north', 'south'], dtype='<U5')
    """
    labels = np.asarray(to_array(groups))
    if labels.shape != (n_samples,):
        message = f"groups must have one label per row, shape ({n_samples},); got shape {labels.shape}"
        raise ValueError(message)
    check_present(labels, "groups")
    if labels.dtype.kind == "O" and not holds_dates(labels):
        kinds = {str if isinstance(label, str) else numbers.Real for label in labels}
        if len(kinds) > 1 or not all(isinstance(label, kind) for label in labels for kind in kinds):
            found = sorted({type(label).__name__ for label in labels})
            message = f"groups must be all text or all numbers, got the types {', '.join(found)}"
            raise ValueError(message)
        labels = np.array(labels.tolist())
    if labels.dtype.kind not in "USbiuf":
        message = f"groups must be text or numbers, got {labels.dtype}; make them text"
        raise ValueError(message)
    return labels


def _position(column: Any, schema: ColumnSchema) -> int:  # noqa: ANN401 (a name or a number)
    """Return the position of a column that is given by name or position."""
    if isinstance(column, str):
        if schema.names is None or column not in schema.names:
            known = "columns without names" if schema.names is None else f"the columns {', '.join(schema.names)}"
            message = (
                f"groups must name a column of X, give its position or one label per row; got {column!r} for {known}"
            )
            raise ValueError(message)
        return schema.names.index(column)
    if not 0 <= column < schema.n_features:
        message = f"groups must be a column of X, from 0 to {schema.n_features - 1}; got {column}"
        raise ValueError(message)
    return int(column)
