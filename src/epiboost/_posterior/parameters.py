"""Checks of the parameters of a posterior: an array of shape (members, samples, outputs) and its family."""

from typing import get_args

import numpy as np

from epiboost._posterior.arrays import real_numbers, sum_outputs
from epiboost._typing import Family, Floats

_N_AXES = 3
_NORMAL_OUTPUTS = 2
_MIN_CLASSES = 2
_SUM_TOLERANCE = 1e-3
"""Tolerance of the sum of a sample's probabilities: accepts single precision with many classes."""


def check_parameters(parameters: Floats, family: Family) -> Floats:
    """Return the parameters as float64, or raise a ValueError if their shape does not fit the family.

    Parameters
    ----------
    parameters : array of shape (members, samples, outputs)
        At least one member; two outputs for "normal", two or more for "categorical", one for "mean".
    family : {"normal", "categorical", "mean"}
        The distribution that the outputs parametrise.

    Returns
    -------
    parameters : array of shape (members, samples, outputs)
        The same values; not copied if they are float64 already.

    Examples
    --------
    >>> check_parameters([[[0.0, 1.0]]], "normal").shape
    (1, 1, 2)
    """
    if family not in get_args(Family):
        message = f"family must be one of {get_args(Family)}, got {family!r}"
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
    return parameters


def check_distribution(parameters: Floats, family: Family) -> None:
    """Raise a ValueError if a value is not finite, a variance is negative or probabilities do not add up to 1.

    >>> check_distribution(np.array([[[0.0, 1.0]]]), "normal")
    """
    if not np.isfinite(parameters).all():
        message = f"parameters must be finite, got {np.count_nonzero(~np.isfinite(parameters))} values that are not"
        raise ValueError(message)
    if family == "normal":
        _check_variances(parameters)
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
