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
from epiboost._native import ClassRecalibration as NativeRecalibration
from epiboost._native import native
from epiboost._posterior.parameters import check_parameters
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import Floats, Integers, LibraryObject

_PRIOR_ROWS = 10.0  # weight of the prior that keeps the temperature near one
_MAX_LOG_TEMPERATURE = 4.0
_MAX_KNOWLEDGE_SHARE = 0.5  # of the total entropy, on average over rows
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

    def apply(self, parameters: Floats, *, threads: int = 1) -> Floats:
        """Return the recalibrated probabilities, shape (members, n, classes)."""
        parameters = np.ascontiguousarray(parameters)
        changed = np.empty_like(parameters)
        native().recalibrate_classes(self._native(), parameters, threads, changed)
        return changed

    def uncertainty(self, parameters: Floats, *, index: LibraryObject = None, threads: int = 1) -> Uncertainty:
        """Return the uncertainty of the recalibrated probabilities, without writing them."""
        parameters = np.ascontiguousarray(check_parameters(parameters, "categorical"))
        data, knowledge = native().recalibrated_class_entropy(self._native(), parameters, threads)
        return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit="nats", index=index)

    def _native(self) -> NativeRecalibration:
        """Return the numbers as an object of the native core."""
        return native().ClassRecalibration(self.temperature, self.knowledge, self.max_mean_error)

    def requirements(self) -> dict[str, bool]:
        """Return what must hold for the numbers."""
        return {
            "the temperature must be positive": self.temperature > 0.0,
            "the knowledge factor must not be negative": self.knowledge >= 0.0,
            "the error of the mean must not be negative": self.max_mean_error >= 0.0,
        }


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
