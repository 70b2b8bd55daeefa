"""Every check on what a metric is given, once: an array is used as it is meant, or the error says what is wrong."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from epiboost._inputs.labels import check_classes, label_codes
from epiboost._posterior.arrays import real_numbers
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Family, Floats, Integers

Prediction: TypeAlias = Posterior | npt.ArrayLike
"""What a model predicts: a posterior, or the plain array of its parameters."""

_WITHOUT_MEMBERS = 2


def check_values(values: npt.ArrayLike, name: str) -> Floats:
    """Return finite numbers of shape (n,), at least one.

    >>> check_values([1, 2], "errors")
    array([1., 2.])
    """
    array = _check_column(values, name)
    if not np.isfinite(array).all():
        message = f"{name} must be finite, got {np.count_nonzero(~np.isfinite(array))} values that are not"
        raise ValueError(message)
    return array


def check_uncertainty(uncertainty: npt.ArrayLike, n_samples: int | None = None) -> Floats:
    """Return uncertainties of shape (n,): any order of numbers, infinite ones too, but none that is NaN.

    >>> check_uncertainty([0.5, float("inf")])
    array([0.5, inf])
    """
    array = _check_column(uncertainty, "uncertainty")
    if np.isnan(array).any():
        message = f"uncertainty must not be NaN, got {np.count_nonzero(np.isnan(array))} such values"
        raise ValueError(message)
    if n_samples is not None:
        check_length(array, n_samples, "uncertainty")
    return array


def check_length(array: AnyArray, n_samples: int, name: str) -> None:
    """Raise an error if there is not one entry a sample."""
    if len(array) != n_samples:
        message = f"{name} must hold one entry a sample, {n_samples}, got {len(array)}"
        raise ValueError(message)


def check_weight(sample_weight: npt.ArrayLike | None, n_samples: int) -> Floats:
    """Return one weight a sample: finite in sum, none negative, not all zero; None is a weight of one for all.

    >>> check_weight(None, 2)
    array([1., 1.])
    """
    if sample_weight is None:
        return np.ones(n_samples)
    weight = check_values(sample_weight, "sample_weight")
    check_length(weight, n_samples, "sample_weight")
    if weight.min() < 0.0:
        message = f"sample_weight must not be negative, got {weight.min()} among the weights"
        raise ValueError(message)
    if not weight.any():
        message = "sample_weight must not be zero for every sample"
        raise ValueError(message)
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        message = f"sample_weight is too large to be added up: the largest is {weight.max()}"
        raise ValueError(message)
    return weight


def check_prediction(prediction: Prediction, family: Family | None) -> Posterior:
    """Return a prediction as a posterior; an array of shape (samples, outputs) is one of a single member.

    >>> check_prediction([[0.0, 1.0]], "normal").n_members
    1
    """
    if isinstance(prediction, Posterior):
        if family is not None and prediction.family != family:
            message = f"a {family} prediction is needed, got a {prediction.family} posterior"
            raise ValueError(message)
        posterior = prediction
    elif family is None:
        message = "an array of parameters says not what it holds: give a Posterior, or the family of the array as well"
        raise ValueError(message)
    else:
        parameters = real_numbers(prediction, "the prediction")
        posterior = Posterior(parameters[np.newaxis] if parameters.ndim == _WITHOUT_MEMBERS else parameters, family)
    if posterior.n_samples == 0:
        message = "the prediction is empty; at least one sample is needed"
        raise ValueError(message)
    return posterior


def check_codes(y_true: npt.ArrayLike, posterior: Posterior, classes: Sequence[object] | AnyArray | None) -> Integers:
    """Return each label's place among the classes, those of the posterior by default.

    Without any the labels are the places.

    >>> certain = Posterior([[[1.0, 0.0]]], "categorical")
    >>> check_codes(["yes"], certain, ["no", "yes"])
    array([1])
    """
    labels = np.asarray(y_true)
    n_classes = posterior.parameters.shape[2]
    if labels.ndim != 1 or len(labels) != posterior.n_samples:
        message = f"y_true must be of shape ({posterior.n_samples},), got {labels.shape}"
        raise ValueError(message)
    if classes is None:
        classes = posterior.classes
    if classes is not None:
        return label_codes(labels, check_classes(classes, n_classes), name="y_true")
    try:
        return label_codes(labels, np.arange(n_classes), name="y_true")
    except ValueError as error:
        message = f"{error}; say with classes= which label each probability belongs to"
        raise ValueError(message) from error


def average(values: Floats, weight: Floats) -> float:
    """Return the weighted mean; a sample of weight zero does not count, even where its value is infinite.

    >>> average(np.array([1.0, np.inf]), np.array([1.0, 0.0]))
    1.0
    """
    counted = weight > 0.0
    return float(np.average(values[counted], weights=weight[counted]))


def _check_column(values: npt.ArrayLike, name: str) -> Floats:
    array = real_numbers(values, name)
    if array.ndim != 1:
        message = f"{name} must be of shape (n,), got {array.shape}"
        raise ValueError(message)
    if array.size == 0:
        message = f"{name} is empty; at least one sample is needed"
        raise ValueError(message)
    return array
