"""Offsets: a known part of the score of each row, which the trees do not have to learn.

>>> check_offset([1, 2], 2, 1)
array([1., 2.])
>>> check_offset(0.5, 3, 1)
array([0.5, 0.5, 0.5])
"""

import numpy as np
from sklearn.utils.validation import check_array

from epiboost._inputs.inexact_values import refusing_overflow
from epiboost._inputs.labels import to_array
from epiboost._typing import Column, Floats

_BINARY = 2
_MAX_SCORE = 200.0  # of log-odds; probabilities below exp(-600) would be lost


def check_offset(offset: Column, n_samples: int, n_scores: int) -> Floats:
    """Return finite numbers, shape (n,) for one score per row, (n, scores) for several.

    Parameters
    ----------
    offset : number or array of shape (n,) or (n, scores)
        A number is that of every row.
    n_samples : int
    n_scores : int
        1 for a mean or for log-odds, the number of classes for three or more.
    """
    if np.isscalar(offset) and n_scores == 1:
        offset = np.full(n_samples, offset)
    try:
        with refusing_overflow("offset"):
            checked: Floats = check_array(to_array(offset), ensure_2d=False, dtype=np.float64, input_name="offset")
    except ValueError as error:
        if "convert string" not in str(error):
            raise
        message = f"offset must hold numbers; {error}"
        raise ValueError(message) from error
    shape = (n_samples,) if n_scores == 1 else (n_samples, n_scores)
    if checked.shape != shape:
        what = "one number per row" if n_scores == 1 else "one number per row and class"
        message = f"offset must hold {what}, shape {shape}; got shape {checked.shape}"
        raise ValueError(message)
    return checked


def known_offset(offset: Column, n_samples: int, n_classes: int, *, trained_with_offset: bool) -> Floats | None:
    """Return the offset for a prediction; an error if a model needs one, or was trained without.

    Parameters
    ----------
    offset : number or array, or None
    n_samples : int
    n_classes : int
        0 for a regression.
    trained_with_offset : bool
    """
    require_matching_offset(offset, trained_with_offset=trained_with_offset)
    if offset is None:
        return None
    return check_class_offset(offset, n_samples, n_classes) if n_classes else check_offset(offset, n_samples, 1)


def check_class_offset(offset: Column, n_samples: int, n_classes: int) -> Floats:
    """Return the offsets of log-odds, shape (n,) for two classes, or of scores, shape (n, classes) for more."""
    checked = check_offset(offset, n_samples, 1 if n_classes == _BINARY else n_classes)
    if np.abs(checked).max(initial=0.0) > _MAX_SCORE:
        message = f"offset of classes are log-odds or scores, from -{_MAX_SCORE:g} to {_MAX_SCORE:g}; got larger ones"
        raise ValueError(message)
    return checked


def require_matching_offset(offset: Column, *, trained_with_offset: bool) -> None:
    """Raise an error if a model was trained with an offset and none is given, or the other way round."""
    if trained_with_offset and offset is None:
        message = "this model was trained with an offset; give offset="
        raise ValueError(message)
    if not trained_with_offset and offset is not None:
        message = "this model was trained without an offset; leave offset out"
        raise ValueError(message)
