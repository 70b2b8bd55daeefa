"""Parameters of a posterior, arrays of shape (members, samples, outputs): checks, sums and averages."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from epiboost._boosting.objectives import DISTRIBUTIONS, Distribution
from epiboost._typing import Family, Floats

KNOWN_FAMILIES = ("normal", "categorical", "mean", *DISTRIBUTIONS)
_FEW_OUTPUTS = 8
_BLOCK_ELEMENTS = 1 << 15
"""Parameters of one member per block: a few temporaries of this size stay in the processor's cache."""
_N_AXES = 3
_NORMAL_OUTPUTS = 2
_MIN_CLASSES = 2
_SUM_TOLERANCE = 1e-3
"""Tolerance of the sum of a sample's probabilities: accepts single precision with many classes."""


def check_parameters(parameters: Floats, family: Family, distribution: Distribution | None = None) -> Floats:
    """Return the parameters as float64, or raise a ValueError if their shape does not fit the family.

    Parameters
    ----------
    parameters : array of shape (members, samples, outputs)
        At least one member; two outputs for "normal", two or more for "categorical", one for "mean".
    family : str
        The distribution that the outputs parametrise.
    distribution : Distribution, optional
        Of numbers other than Normals, whose parameters are counted.

    Returns
    -------
    parameters : array of shape (members, samples, outputs)
        The same values; not copied if they are float64 already.

    Examples
    --------
    >>> check_parameters([[[0.0, 1.0]]], "normal").shape
    (1, 1, 2)
    """
    if family not in KNOWN_FAMILIES:
        message = f"family must be one of {KNOWN_FAMILIES}, got {family!r}"
        raise ValueError(message)
    parameters = real_numbers(parameters, "parameters")
    if parameters.ndim != _N_AXES:
        message = f"parameters must have the shape (members, samples, outputs), got {parameters.shape}"
        raise ValueError(message)
    n_members, _, n_outputs = parameters.shape
    if n_members < 1:
        message = f"parameters must have at least one member, got the shape {parameters.shape}"
        raise ValueError(message)
    if family == "normal" and n_outputs != _NORMAL_OUTPUTS:
        message = f"a normal posterior has two outputs, mean and variance, got {n_outputs}"
        raise ValueError(message)
    if family == "mean" and n_outputs != 1:
        message = f"a posterior of means has one output, got {n_outputs}"
        raise ValueError(message)
    if family == "categorical" and n_outputs < _MIN_CLASSES:
        message = f"a categorical posterior has two or more outputs, one per class, got {n_outputs}"
        raise ValueError(message)
    if distribution is not None and n_outputs != distribution.n_parameters:
        names = ", ".join(distribution.parameter_names)
        message = f"a {family} posterior has {distribution.n_parameters} outputs, {names}; got {n_outputs}"
        raise ValueError(message)
    return parameters


def check_distribution(parameters: Floats, family: Family, distribution: Distribution | None = None) -> None:
    """Raise a ValueError if a value is not finite, a variance is negative or probabilities do not add up to 1.

    >>> check_distribution(np.array([[[0.0, 1.0]]]), "normal")
    """
    if not np.isfinite(parameters).all():
        message = f"parameters must be finite, got {np.count_nonzero(~np.isfinite(parameters))} values that are not"
        raise ValueError(message)
    if family == "normal":
        _check_variances(parameters)
    elif distribution is not None:
        distribution.check(parameters)
    elif family == "categorical":
        _check_probabilities(parameters)


def _check_variances(parameters: Floats) -> None:
    if parameters.size and (smallest := parameters[:, :, 1].min()) < 0.0:
        message = f"variances must not be negative, got {smallest}"
        raise ValueError(message)


def _check_probabilities(parameters: Floats) -> None:
    if parameters.size and (smallest := parameters.min()) < 0.0:
        message = f"probabilities must not be negative, got {smallest}"
        raise ValueError(message)
    sums = sum_outputs(parameters)
    if (wrong := np.abs(sums - 1.0) > _SUM_TOLERANCE).any():
        message = f"probabilities of a sample must add up to 1, got a sum of {sums[wrong][0]}"
        raise ValueError(message)


def real_numbers(values: npt.ArrayLike, name: str) -> Floats:
    """Return the values as float64, or raise a ValueError that names the argument.

    >>> real_numbers([1, 2], "y_true")
    array([1., 2.])
    """
    if hasattr(values, "knowledge"):
        message = f"{name} must be one array, got an Uncertainty: pass its .total, .data or .knowledge"
        raise ValueError(message)
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
