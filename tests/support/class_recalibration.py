"""The recalibration of class probabilities in NumPy: the twin that judges the native one."""

import numpy as np

from epiboost._estimators.conformal import temper

_FITTING_STEPS = 4
_TINY = float(np.finfo(np.float64).tiny)


def recalibrated(recalibration, parameters):
    """Return what `CategoricalRecalibration.apply` returns."""
    tempered = temper(parameters, recalibration.temperature)
    if len(parameters) == 1 or recalibration.knowledge == 1.0:
        return tempered
    return spread(tempered, np.sqrt(recalibration.knowledge), recalibration.max_mean_error)


def spread(parameters, factor, max_mean_error):
    """Multiply the members' deviations from their mean logarithm; the mean probabilities are kept."""
    mean = parameters.mean(axis=0)
    logarithm = np.log(np.maximum(parameters, _TINY))
    center = logarithm.mean(axis=0)
    logarithm = center + factor * (logarithm - center)
    changed = np.exp(logarithm - logarithm.max(axis=2, keepdims=True))
    changed /= changed.sum(axis=2, keepdims=True)
    for _ in range(_FITTING_STEPS):  # iterative proportional fitting
        changed *= mean / np.maximum(changed.mean(axis=0), _TINY)
        changed /= changed.sum(axis=2, keepdims=True)
    return with_mean(changed, mean, parameters, max_mean_error)


def with_mean(changed, mean, parameters, max_error):
    """Shift the probabilities of each row to a mean, as far as none of them becomes negative."""
    shift = changed + (mean - changed.mean(axis=0)) - parameters
    is_limited = parameters + shift < -max_error
    most = (parameters + max_error) / np.maximum(-shift, max(max_error, _TINY))
    limit = np.where(is_limited, most, 1.0).min(axis=(0, 2))
    moved = np.maximum(parameters + limit[:, np.newaxis] * shift, _TINY)
    return moved / moved.sum(axis=2, keepdims=True)
