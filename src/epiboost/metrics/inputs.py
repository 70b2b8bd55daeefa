"""Checks of the arguments of metrics, and weighted means."""

import numbers
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from epiboost._inputs.labels import check_classes, label_codes
from epiboost._posterior.knowledge_only import MEAN_ALONE
from epiboost._posterior.parameters import real_numbers
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Family, Floats, Integers

Prediction: TypeAlias = Posterior | npt.ArrayLike
"""A posterior, or the array of its parameters, of shape (members, n, outputs) or (n, outputs)."""

Classes: TypeAlias = Sequence[object] | AnyArray
"""Labels in the order of the probabilities."""

_AXES_WITHOUT_MEMBERS = 2


def check_values(values: npt.ArrayLike, name: str) -> Floats:
    """Return the values as finite numbers of shape (n,), n at least 1.

    >>> check_values([1, 2], "errors")
    array([1., 2.])
    """
    array = _check_column(values, name)
    if not np.isfinite(array).all():
        message = f"{name} must be finite, got {np.count_nonzero(~np.isfinite(array))} values that are not"
        raise ValueError(message)
    return array


def check_target(y_true: npt.ArrayLike, n_samples: int) -> Floats:
    """Return the target of a regression, one finite number per sample.

    >>> check_target([1, 2], 2)
    array([1., 2.])
    """
    y = check_values(y_true, "y_true")
    check_length(y, n_samples, "y_true")
    return y


def check_uncertainty(uncertainty: npt.ArrayLike, n_samples: int | None = None) -> Floats:
    """Return uncertainties of shape (n,); infinite values are allowed, NaN is not.

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
    """Raise a ValueError unless the array has one entry per sample.

    >>> check_length(np.zeros(3), 3, "y_true")
    """
    if len(array) != n_samples:
        message = f"{name} must have one entry per sample, {n_samples}, got {len(array)}"
        raise ValueError(message)


def check_weight(sample_weight: npt.ArrayLike | None, n_samples: int) -> Floats:
    """Return one weight per sample: none negative, not all zero, of finite sum; None means equal weights.

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
        message = f"sample_weight must have a finite sum, got weights as large as {weight.max()}"
        raise ValueError(message)
    return weight


_SOURCES: dict[Family, str] = {
    "normal": "normal, as from a regressor",
    "categorical": "categorical, as from a classifier",
    "mean": f"a posterior of family 'mean', whose members {MEAN_ALONE}",
}


def _source(family: Family) -> str:
    return _SOURCES.get(family, f"{family}, as from a regressor with distribution={family!r}")


def check_prediction(prediction: Prediction, family: Family | None) -> Posterior:
    """Return the prediction as a posterior; an array of shape (samples, outputs) has a single member.

    Members that predict a mean without a variance are refused: they have no distribution to judge.

    >>> check_prediction([[0.0, 1.0]], "normal").n_members
    1
    """
    if (prediction.family if isinstance(prediction, Posterior) else family) == "mean" and family != "categorical":
        message = (
            f"prediction must hold distributions, got {_SOURCES['mean']}: it has no likelihood, no intervals and no "
            "calibration. Use errors of its mean, prediction_rejection_score and ood_auc_score of its "
            "uncertainty().knowledge, or a model that predicts a variance, such as one of engine='native'"
        )
        raise ValueError(message)
    if isinstance(prediction, Posterior):
        if family is not None and prediction.family != family:
            message = f"prediction must be {_source(family)}, got {_source(prediction.family)}"
            raise ValueError(message)
        posterior = prediction
    elif family is None:
        message = (
            "family is missing: an array of parameters needs family='normal' or 'categorical', or give a Posterior"
        )
        raise ValueError(message)
    else:
        parameters = real_numbers(prediction, "prediction")
        has_members = parameters.ndim != _AXES_WITHOUT_MEMBERS
        posterior = Posterior(parameters if has_members else parameters[np.newaxis], family)
    if posterior.n_samples == 0:
        message = "prediction is empty; at least one sample is needed"
        raise ValueError(message)
    return posterior


def check_numbers(prediction: Prediction) -> Posterior:
    """Return the prediction of numbers as a posterior; an array holds means and variances.

    >>> check_numbers([[0.0, 1.0]]).family
    'normal'
    """
    if not isinstance(prediction, Posterior) or not prediction.is_numeric:
        return check_prediction(prediction, "normal")
    return check_prediction(prediction, None)


def check_codes(y_true: npt.ArrayLike, posterior: Posterior, classes: Classes | None) -> Integers:
    """Return the position of each label among the classes.

    The classes are by default those of the posterior. If it has none, the labels are the positions.

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
        message = f"{error}; give classes=, the labels in the order of the probabilities"
        raise ValueError(message) from error


def check_n_bins(n_bins: int) -> None:
    """Raise a ValueError unless the number of bins is a whole number of at least 1.

    >>> check_n_bins(15)
    """
    if isinstance(n_bins, bool) or not isinstance(n_bins, numbers.Integral) or n_bins < 1:
        message = f"n_bins must be a whole number of at least 1, got {n_bins!r}"
        raise ValueError(message)


def average(values: Floats, weight: Floats) -> float:
    """Return the weighted mean of one number per sample; see `weighted_mean`.

    >>> average(np.array([1.0, np.inf]), np.array([1.0, 0.0]))
    1.0
    """
    return float(weighted_mean(values, weight))


def weighted_mean(values: Floats, weight: Floats) -> Floats:
    """Return the weighted mean over the first axis; samples of weight zero are left out, even infinite ones.

    >>> weighted_mean(np.array([[1.0, 0.0], [3.0, 0.0]]), np.array([1.0, 1.0]))
    array([2., 0.])
    """
    counted = weight > 0.0
    mean: Floats = np.average(values[counted], axis=0, weights=weight[counted])
    return mean


def _check_column(values: npt.ArrayLike, name: str) -> Floats:
    array = real_numbers(values, name)
    if array.ndim != 1:
        message = f"{name} must be of shape (n,), got {array.shape}"
        raise ValueError(message)
    if array.size == 0:
        message = f"{name} is empty; at least one sample is needed"
        raise ValueError(message)
    return array
