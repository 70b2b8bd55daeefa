"""Offsets: a known part of the score of each row, which the trees do not have to learn.

>>> check_offset([1, 2], 2, 1)
array([1., 2.])
>>> check_offset(0.5, 3, 1)
array([0.5, 0.5, 0.5])
"""

import numpy as np
from sklearn.utils.validation import check_array

from epiboost._inputs.labels import to_array
from epiboost._typing import Column, Floats


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


def require_matching_offset(offset: Column, *, trained_with_offset: bool) -> None:
    """Raise an error if a model was trained with an offset and none is given, or the other way round."""
    if trained_with_offset and offset is None:
        message = "this model was trained with an offset; give offset="
        raise ValueError(message)
    if not trained_with_offset and offset is not None:
        message = "this model was trained without an offset; leave offset out"
        raise ValueError(message)
