"""Checks of sample weights."""

import numpy as np
from sklearn.utils.validation import check_array

from epiboost._inputs.inexact_values import refusing_overflow
from epiboost._typing import Column, Floats

_MAX_TOTAL = 1e15  # whole numbers up to here add up exactly in double precision
_MAX_RATIO = 1e9  # with a heavier row, sums of gradients have no bits left for rows of weight one


def check_weights(sample_weight: Column, n_samples: int) -> Floats:
    """Return one weight per row: finite, none negative, not all zero.

    >>> check_weights(None, 2)
    array([1., 1.])
    """
    weight = row_weights(sample_weight, n_samples)
    smallest = float(weight.min(where=weight > 0.0, initial=np.inf))
    check_weight_range(smallest, float(weight.max()), n_samples)
    return weight


def row_weights(sample_weight: Column, n_samples: int) -> Floats:
    """Return one weight per row: finite, none negative."""
    if sample_weight is None:
        return np.ones(n_samples)
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_samples, sample_weight)
    try:
        with refusing_overflow("sample_weight"):
            weight: Floats = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    except ValueError as error:
        if "convert string" not in str(error):
            raise
        message = f"sample_weight must hold numbers; {error}"
        raise ValueError(message) from error
    if weight.shape != (n_samples,):
        message = f"sample_weight must hold one number per row, shape ({n_samples},); got shape {weight.shape}"
        raise ValueError(message)
    if weight.min() < 0:
        message = f"sample_weight must not be negative; got {weight.min()} among the weights"
        raise ValueError(message)
    return weight


def check_weight_range(smallest: float, largest: float, n_samples: int) -> None:
    """Raise an error if all weights are zero, or too large to be counts of rows, or too far apart.

    ``smallest`` is the smallest positive weight. Rows that weigh less than one do not matter beside a heavy one.
    """
    if not largest:
        message = "sample_weight is zero for every row; at least two rows must have a positive weight"
        raise ValueError(message)
    if largest * n_samples > _MAX_TOTAL:
        message = f"sample_weight must not sum to more than {_MAX_TOTAL:.0e}; got a weight of {largest}"
        raise ValueError(message)
    if largest > _MAX_RATIO * max(smallest, 1.0):
        message = (
            f"sample_weight must not differ by more than a factor of {_MAX_RATIO:.0e}; got weights of {largest:g} and "
            f"{smallest:g}; remove the light rows, which could not matter, or make the heavy ones lighter"
        )
        raise ValueError(message)
