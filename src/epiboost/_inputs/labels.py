"""Class labels: checks, and the code of each label among the classes."""

from collections.abc import Sequence
from datetime import date, timedelta

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from epiboost._inputs.inexact_values import refusing_overflow
from epiboost._typing import AnyArray, Column, Integers

_NONE = np.array(None)
_TEXT, _NUMBERS = "US", "biuf"


def check_labels(y: Column) -> AnyArray:
    """Return one label per row, none of them missing; all labels can be ordered.

    >>> check_labels(["no", "yes"])
    array(['no', 'yes'], dtype='<U3')
    """
    labels = column_or_1d(to_array(y), warn=True)
    if _any_missing(labels):
        message = "y holds missing labels; every row needs one"
        raise ValueError(message)
    if holds_dates(labels):
        message = f"y holds dates or durations ({labels.dtype}); make the labels text"
        raise ValueError(message)
    if labels.dtype.kind == "f":
        check_finite(labels)
    distinct_labels(labels)
    check_classification_targets(labels)
    return np.asarray(labels)


def check_finite(y: Column, dtype: npt.DTypeLike | None = "numeric") -> AnyArray:
    """Return a target as an array; an error says where a value is missing or infinite.

    >>> check_finite([1.0, 2.0])
    array([1., 2.])
    """
    try:
        with refusing_overflow("y"):
            values: AnyArray = check_array(y, ensure_2d=False, dtype=dtype, input_name="y")
    except ValueError as error:
        if "Input y contains" not in str(error):
            raise
        not_finite = np.flatnonzero(~np.isfinite(np.asarray(y, dtype=np.float64)).reshape(len(y), -1).all(axis=1))
        message = (
            f"{str(error).rstrip('.')}: {len(not_finite)} of {len(y)} rows, the first is row {not_finite[0]}, counted "
            "from 0; leave such rows out"
        )
        raise ValueError(message) from None
    return values


def distinct_labels(labels: AnyArray) -> AnyArray:
    """Return the labels that occur, in ascending order."""
    try:
        return np.unique(labels)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        message = f"y mixes labels that have no order, of types {', '.join(kinds)}; make them all text or all numbers"
        raise ValueError(message) from error


def label_codes(labels: npt.ArrayLike, classes: Sequence[object] | AnyArray, *, name: str) -> Integers:
    """Return each label's position among the classes; an unknown label is an error that calls the labels ``name``.

    >>> label_codes(["yes", "no"], ["no", "yes"], name="y")
    array([1, 0])
    """
    given, known = np.asarray(labels), np.asarray(classes)
    check_present(given, name)
    try:
        check_same_kind(given, known)
        order = np.argsort(known, kind="stable")
        places = np.minimum(np.searchsorted(known, given, sorter=order), len(known) - 1)
    except TypeError as error:
        message = f"{name} holds {given.dtype} and the classes are {known.tolist()}; give labels of the same kind"
        raise ValueError(message) from error
    codes: Integers = order[places].astype(np.int64)
    unknown = known[codes] != given
    if unknown.any():
        message = f"{name} holds {given[unknown].tolist()[0]!r}, which is none of the classes {known.tolist()}"
        raise ValueError(message)
    return codes


def check_present(labels: AnyArray, name: str) -> None:
    """Raise an error if a label is missing: None, NaN or pandas' NA.

    >>> check_present(np.array(["no", "yes"]), "y")
    """
    try:
        missing = labels.dtype.kind in "fO" and bool(((labels == _NONE) | (labels != labels)).any())  # noqa: PLR0124
    except TypeError:  # NA is neither equal to anything nor unequal
        missing = True
    if missing:
        message = f"{name} holds missing labels; give one for every sample"
        raise ValueError(message)


def check_classes(classes: Sequence[object] | AnyArray, n_classes: int) -> AnyArray:
    """Return the labels of the classes: as many as there are classes, all different.

    >>> check_classes(["no", "yes"], 2)
    array(['no', 'yes'], dtype='<U3')
    """
    known: AnyArray = np.asarray(classes)
    if known.shape != (n_classes,):
        message = f"classes must name the {n_classes} classes of the prediction, got {known.tolist()}"
        raise ValueError(message)
    if len(set(known.tolist())) < n_classes:
        message = f"classes must differ from one another, got {known.tolist()}"
        raise ValueError(message)
    return known


def check_same_kind(some: AnyArray, others: AnyArray) -> None:
    """Raise a TypeError if some labels are text and others numbers; objects may be either.

    >>> check_same_kind(np.array([1, 2]), np.array([1.0, 2.0]))
    """
    if (some.dtype.kind in _TEXT and others.dtype.kind in _NUMBERS) or (
        some.dtype.kind in _NUMBERS and others.dtype.kind in _TEXT
    ):
        message = f"text and numbers cannot be compared: {some.dtype}, {others.dtype}"
        raise TypeError(message)


def to_array(y: Column) -> Column:
    """Return a series of any data frame library as an array, anything else as it is."""
    series = nw.from_native(y, allow_series=True, pass_through=True, eager_only=True)
    return series.to_numpy() if isinstance(series, nw.Series) else y


def holds_dates(array: AnyArray) -> bool:
    """Return whether an array holds dates or durations."""
    kinds = set(map(type, array.ravel())) if array.dtype.kind == "O" else set()
    return array.dtype.kind in "mM" or any(
        issubclass(kind, date | timedelta | np.datetime64 | np.timedelta64) for kind in kinds
    )


def _any_missing(labels: AnyArray) -> bool:
    if labels.dtype.kind in "mM":
        return bool(np.isnat(labels).any())
    # pandas' missing values are objects of its own; comparing the name of their type needs no import of pandas
    return labels.dtype.kind == "O" and any(
        label is None or (isinstance(label, float) and np.isnan(label)) or type(label).__name__ in {"NAType", "NaTType"}
        for label in labels
    )
