"""The temperature of a classifier's probabilities, fitted to held-out rows."""

import math

import numpy as np

from epiboost._estimators.conformal import temper
from epiboost._typing import Floats, Integers

_MAX_LOG_TEMPERATURE = 4.0  # beyond it probabilities are practically uniform, or 0 and 1
_PRIOR_ROWS = 40.0  # chosen on generated tables and training rows of two tables: a calibrated model loses nothing
_TINY = float(np.finfo(np.float64).tiny)


def fit_temperature(parameters: Floats, codes: Integers, weight: Floats | None = None) -> float:
    """Fit the temperature that maximises the likelihood of the labels.

    The prior is a number of rows whose labels are as frequent as the model predicts, so that few rows change the
    temperature little.

    Parameters
    ----------
    parameters : array of shape (members, n, classes)
        Probabilities of rows that the model was not trained on.
    codes : integer array of shape (n,)
        Positions of the labels among the classes.
    weight : array of shape (n,), optional
        How many rows each row stands for.

    Returns
    -------
    float
        Above 1 softens probabilities, below 1 sharpens them.

    Examples
    --------
    An overconfident model:

    >>> probabilities = np.tile([0.99, 0.01], (1, 1000, 1))
    >>> round(fit_temperature(probabilities, np.repeat([0, 1], [700, 300])), 1)
    5.1
    """
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 (slow to import, and needed by few users)

    weight = np.ones(len(codes)) if weight is None else weight
    frequency = parameters.mean(axis=0) * (_PRIOR_ROWS / weight.sum())
    frequency[np.arange(len(codes)), codes] += 1.0
    frequency *= weight[:, np.newaxis]

    def objective(log_temperature: float) -> float:
        probability = temper(parameters, math.exp(log_temperature)).mean(axis=0)
        return float(-(frequency * np.log(np.maximum(probability, _TINY))).sum())

    bounds = (-_MAX_LOG_TEMPERATURE, _MAX_LOG_TEMPERATURE)
    return math.exp(float(minimize_scalar(objective, bounds=bounds, method="bounded").x))
