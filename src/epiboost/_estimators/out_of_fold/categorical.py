"""Recalibration of a classifier: a temperature for the probabilities, and the size of knowledge uncertainty.

The temperature is fitted by likelihood to rows that the chain has not seen. It is never below one: a chain of fewer
rows is less sure than the ensemble, and sharpening by its measure would claim too much. Then the members' deviations
from their mean logarithm are multiplied by one factor, so that mutual information has the size of that between models
on other rows; the mean probabilities are kept.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import entr

from epiboost._estimators.conformal import temper
from epiboost._estimators.out_of_fold.disagreement import Disagreement
from epiboost._estimators.out_of_fold.recalibration import Recalibration
from epiboost._posterior.uncertainty import Uncertainty, decompose_categorical
from epiboost._typing import Floats, Integers, LibraryObject

_PRIOR_ROWS = 10.0  # weight of the prior that keeps the temperature near one
_MAX_LOG_TEMPERATURE = 4.0
_MAX_KNOWLEDGE_SHARE = 0.5  # of the total entropy, on average over rows
_FITTING_STEPS = 4  # of the mean probabilities; more change the fourth digit
MAX_MEAN_ERROR = 1e-3
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class CategoricalRecalibration(Recalibration):
    """Changes the probabilities of the members.

    Attributes
    ----------
    temperature : float
        At least one; softens the probabilities.
    knowledge : float
        Factor on knowledge uncertainty, as long as that is small.
    max_mean_error : float
        How far a mean probability may move, so that the members of a row that are almost sure spread more. It is 0 for
        a model with monotonic constraints, whose mean must keep its order.

    Examples
    --------
    >>> members = np.array([[[0.6, 0.4]], [[0.4, 0.6]]])
    >>> CategoricalRecalibration(temperature=1.0, knowledge=4.0).apply(members)[:, 0].round(2)
    array([[0.69, 0.31],
           [0.31, 0.69]])
    """

    temperature: float
    knowledge: float
    max_mean_error: float = MAX_MEAN_ERROR

    def apply(self, parameters: Floats, *, threads: int = 1) -> Floats:  # noqa: ARG002 (of the interface)
        """Return the recalibrated probabilities, shape (members, n, classes)."""
        tempered = parameters if self.temperature == 1.0 else temper(parameters, self.temperature)
        if len(parameters) == 1 or self.knowledge == 1.0:
            return tempered
        return spread(tempered, float(np.sqrt(self.knowledge)), self.max_mean_error)

    def uncertainty(self, parameters: Floats, *, index: LibraryObject = None, threads: int = 1) -> Uncertainty:
        """Return the uncertainty of the recalibrated probabilities."""
        return decompose_categorical(self.apply(parameters, threads=threads), index)

    def requirements(self) -> dict[str, bool]:
        """Return what must hold for the numbers."""
        return {
            "the temperature must be positive": self.temperature > 0.0,
            "the knowledge factor must not be negative": self.knowledge >= 0.0,
            "the error of the mean must not be negative": self.max_mean_error >= 0.0,
        }


def spread(parameters: Floats, factor: float, max_mean_error: float = MAX_MEAN_ERROR) -> Floats:
    """Multiply the members' deviations from their mean logarithm; the mean probabilities are kept.

    Parameters
    ----------
    parameters : array of shape (members, n, classes)
        Probabilities.
    factor : float
    max_mean_error : float
        See `CategoricalRecalibration`.
    """
    mean = parameters.mean(axis=0)
    logarithm = np.log(np.maximum(parameters, _TINY))
    center = logarithm.mean(axis=0)
    logarithm -= center
    logarithm *= factor
    logarithm += center
    logarithm -= logarithm.max(axis=2, keepdims=True)
    changed: Floats = np.exp(logarithm)
    changed /= changed.sum(axis=2, keepdims=True)
    for _ in range(_FITTING_STEPS):  # iterative proportional fitting
        changed *= mean / np.maximum(changed.mean(axis=0), _TINY)
        changed /= changed.sum(axis=2, keepdims=True)
    return _with_mean(changed, mean, parameters, max_mean_error)


def _with_mean(changed: Floats, mean: Floats, parameters: Floats, max_error: float) -> Floats:
    """Shift the probabilities of each row to a mean, as far as none of them becomes negative.

    Proportional fitting alone fails where members are almost sure of different classes. Such a row stays near the
    parameters, whose mean is right.
    """
    shift = changed + (mean - changed.mean(axis=0)) - parameters
    limit = np.where(
        parameters + shift < -max_error,
        (parameters + max_error) / np.maximum(-shift, max(max_error, _TINY)),
        1.0,
    ).min(axis=(0, 2))
    moved: Floats = np.maximum(parameters + limit[:, np.newaxis] * shift, _TINY)
    moved /= moved.sum(axis=2, keepdims=True)
    return moved


def fit_temperature_above_one(predicted: Floats, codes: Integers, weight: Floats) -> tuple[float, float]:
    """Return the temperature of the greatest likelihood, and the mean loss at it.

    Parameters
    ----------
    predicted : array of shape (n, classes)
        Probabilities by a chain that has not seen the row.
    codes : integer array of shape (n,)
        Classes of the rows.
    weight : array of shape (n,)
    """
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 (slow to import)

    rows = np.arange(len(codes))

    def loss(log_temperature: float) -> float:
        of_label = temper(predicted[np.newaxis], float(np.exp(log_temperature)))[0][rows, codes]
        return float(-(weight * np.log(np.maximum(of_label, _TINY))).sum())

    def objective(log_temperature: float) -> float:
        return loss(log_temperature) + 0.5 * _PRIOR_ROWS * log_temperature**2

    found = float(minimize_scalar(objective, bounds=(0.0, _MAX_LOG_TEMPERATURE), method="bounded").x)
    log_temperature = found if objective(found) < objective(0.0) else 0.0
    return float(np.exp(log_temperature)), loss(log_temperature) / float(weight.sum())


def knowledge_factor(disagreement: Disagreement, total: float) -> float:
    """Return the factor on knowledge uncertainty, limited to half of the mean total entropy."""
    if disagreement.seeds <= 0.0:
        return 1.0
    return min(disagreement.knowledge_factor, max(_MAX_KNOWLEDGE_SHARE * total / disagreement.seeds, 1.0))


def information_distance(one: Floats, other: Floats) -> Floats:
    """Return the mutual information of an ensemble of two, times four: it grows as a squared difference.

    >>> information_distance(np.array([[0.5, 0.5]]), np.array([[0.5, 0.5]]))
    array([0.])
    """
    together = entr(0.5 * (one + other)) - 0.5 * (entr(one) + entr(other))
    distance: Floats = np.maximum(4.0 * together.sum(axis=1), 0.0)
    return distance
