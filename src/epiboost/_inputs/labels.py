"""Labels and their places among the classes of a model."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from epiboost._typing import AnyArray, Integers

_NONE = np.array(None)
_TEXT, _NUMBERS = "US", "biuf"


def label_codes(labels: npt.ArrayLike, classes: Sequence[object] | AnyArray, *, name: str) -> Integers:
    """Return each label's place among the classes; one that is none of them is an error, which calls them by a name.

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
    strange = known[codes] != given
    if strange.any():
        message = f"{name} holds {given[strange].tolist()[0]!r}, which is none of the classes {known.tolist()}"
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
    """Return the labels of so many classes: one each, no two alike.

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
