"""Conversion of arrays to real numbers, and sums and averages over their axes."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import Floats

_FEW_OUTPUTS = 8
_BLOCK_ELEMENTS = 1 << 15
"""Parameters of one member per block: a few temporaries of this size stay in the processor's cache."""


def real_numbers(values: npt.ArrayLike, name: str) -> Floats:
    """Return the values as float64, or raise a ValueError that names the argument.

    >>> real_numbers([1, 2], "y_true")
    array([1., 2.])
    """
    if isinstance(values, Uncertainty):
        message = f"{name} must be one array, got an Uncertainty: pass its .total, .data or .knowledge"
        raise ValueError(message)  # noqa: TRY004 (all bad arrays are value errors)
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            message = f"{name} must be real numbers, got complex ones"
            raise ValueError(message)
        numbers: Floats = array.astype(np.float64, copy=False)
    except TypeError as error:
        message = f"{name} must be numbers without missing values: {error}"
        raise ValueError(message) from error
    return numbers


def sum_outputs(values: Floats) -> Floats:
    """Return the sum over the last axis.

    A short axis is added up one output at a time, which is several times as fast as NumPy's sum.

    >>> sum_outputs(np.array([[0.25, 0.75], [0.5, 0.5]]))
    array([1., 1.])
    """
    if values.shape[-1] > _FEW_OUTPUTS:
        return np.asarray(values.sum(axis=-1))
    total: Floats = values[..., 0].copy()
    for output in range(1, values.shape[-1]):
        total += values[..., output]
    return total


def mean_over_members(members: Floats) -> Floats:
    """Return the average over the first axis.

    Differences from the first member are averaged, so that the average of equal members is exact.

    >>> mean_over_members(np.array([[0.1], [0.1], [0.1]]))
    array([0.1])
    """
    first: Floats = members[0]
    excess = np.zeros_like(first)
    for member in members[1:]:
        excess += member - first
    return first + excess / len(members)


def sample_blocks(parameters: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield blocks of samples that fit into the processor's cache, with their positions.

    >>> [(samples, block.shape) for samples, block in sample_blocks(np.zeros((3, 10, 2)))]
    [(slice(0, 16384, None), (3, 10, 2))]
    """
    _, n_samples, n_outputs = parameters.shape
    size = max(1, _BLOCK_ELEMENTS // n_outputs)
    for start in range(0, n_samples, size):
        samples = slice(start, start + size)
        yield samples, parameters[:, samples]


def apply_by_block(measure: Callable[[Floats], Floats], parameters: Floats) -> Floats:
    """Return one number per sample, computed block by block.

    >>> apply_by_block(lambda members: members[0, :, 0], np.array([[[1.0, 2.0], [3.0, 4.0]]]))
    array([1., 3.])
    """
    values = np.empty(parameters.shape[1])
    for samples, block in sample_blocks(parameters):
        values[samples] = measure(block)
    return values
