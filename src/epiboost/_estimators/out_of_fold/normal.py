"""Recalibration of a regression: the size and the shape of data uncertainty, and the size of knowledge uncertainty.

The variance that a chain predicts is replaced by ``factor * reference * (variance / reference) ** power``, fitted by
likelihood to residuals of rows that the chain has not seen. An out-of-fold chain errs more than the ensemble: it has
seen fewer rows, and is one chain. That excess is known (see `disagreement`) and taken off. Knowledge is multiplied by
one factor, so that it is the variance between models on other rows; what it gains, data uncertainty loses.
"""

from dataclasses import dataclass

import numpy as np

from epiboost._estimators.out_of_fold.disagreement import Disagreement
from epiboost._estimators.out_of_fold.recalibration import Recalibration
from epiboost._native import NormalRecalibration as NativeRecalibration
from epiboost._native import native
from epiboost._posterior.parameters import check_parameters
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import Floats, LibraryObject

_PRIOR_ROWS = 10.0  # weight of the prior that keeps the power near one
_MAX_LOG_FACTOR = 12.0
_MAX_POWER = 2.0
_MAX_KNOWLEDGE_SHARE = 0.5  # of the total variance, on average over rows
_MAX_EXCESS_SHARE = 0.5
_KNOWN_SHARE = 0.75  # of knowledge: it is known up to a factor of two, and intervals should rather be too wide
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class NormalRecalibration(Recalibration):
    """Changes means and variances of the members.

    Attributes
    ----------
    factor, reference, power : float
        See the module.
    knowledge : float
        Factor on knowledge uncertainty, as long as that is far below the limit.
    limit : float
        Variance of the target. A model that knows nothing predicts the target's mean, so knowledge uncertainty v
        becomes ``knowledge * v / (1 + knowledge * v / limit)``.

    Examples
    --------
    >>> members = np.array([[[1.0, 4.0]], [[3.0, 4.0]]])
    >>> recalibration = NormalRecalibration(factor=0.5, reference=1.0, power=1.0, knowledge=4.0, limit=1e9)
    >>> recalibration.apply(members)[:, 0].round(3)
    array([[0., 2.],
           [4., 2.]])
    """

    factor: float
    reference: float
    power: float
    knowledge: float
    limit: float

    def apply(self, parameters: Floats, *, threads: int = 1) -> Floats:
        """Return the recalibrated parameters, shape (members, n, 2); the mean over members stays."""
        parameters = np.ascontiguousarray(parameters)
        changed = np.empty_like(parameters)
        native().recalibrate_normal(self._native(), parameters, threads, changed)
        return changed

    def uncertainty(self, parameters: Floats, *, index: LibraryObject = None, threads: int = 1) -> Uncertainty:
        """Return the uncertainty of the recalibrated parameters, without writing them."""
        parameters = np.ascontiguousarray(check_parameters(parameters, "normal"))
        data, knowledge = native().recalibrated_normal_variance(self._native(), parameters, threads)
        return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit="variance", index=index)

    def _native(self) -> NativeRecalibration:
        """Return the numbers as an object of the native core."""
        return native().NormalRecalibration(self.factor, self.reference, self.power, self.knowledge, self.limit)

    def data_variance(self, variance: Floats) -> Floats:
        """Return the data uncertainty for the variance that a chain predicts."""
        if self.power == 1.0:
            return self.factor * variance
        return _powered(variance, self.factor, self.reference, self.power)

    def requirements(self) -> dict[str, bool]:
        """Return what must hold for the numbers."""
        return {
            "factors of the recalibration must be positive": min(self.factor, self.reference, self.limit) > 0.0,
            "power and knowledge of the recalibration must not be negative": min(self.power, self.knowledge) >= 0.0,
        }


def fit_normal(
    y: Floats, predicted: Floats, weight: Floats, share: float, disagreement: Disagreement
) -> tuple[NormalRecalibration, Floats]:
    """Return the recalibration, and the variance of each out-of-fold residual under it.

    Parameters
    ----------
    y : array of shape (n,)
    predicted : array of shape (n, 2)
        Mean and variance by a chain that has not seen the row.
    weight : array of shape (n,)
    share : float
        Share of the rows that such a chain has seen.
    disagreement : Disagreement
        Between means.
    """
    squared, variance = np.square(y - predicted[:, 0]), np.maximum(predicted[:, 1], _TINY)
    log_reference = float(np.average(np.log(variance), weights=weight))
    reference = float(np.exp(log_reference))
    log_factor, power = _fit_power(squared / reference, np.log(variance) - log_reference, weight)
    residual_variance = _powered(variance, float(np.exp(log_factor)), reference, power)
    mean_variance = float(np.average(residual_variance, weights=weight))
    without_excess = 1.0 - min(disagreement.excess(share) / mean_variance, _MAX_EXCESS_SHARE)
    factor = disagreement.knowledge_factor
    if disagreement.seeds > 0.0:
        factor = min(factor, _MAX_KNOWLEDGE_SHARE * without_excess * mean_variance / disagreement.seeds)
    knowledge_share = _KNOWN_SHARE * factor * disagreement.seeds / mean_variance
    scale = float(np.exp(log_factor)) * (without_excess - knowledge_share)
    limit = max(float(np.average(np.square(y - np.average(y, weights=weight)), weights=weight)), _TINY)
    return NormalRecalibration(scale, reference, power, factor, limit), residual_variance


def _fit_power(squared: Floats, log_variance: Floats, weight: Floats) -> tuple[float, float]:
    """Return log factor and power of the most likely variances, both relative to the reference."""
    from scipy.optimize import minimize  # noqa: PLC0415 (slow to import)

    def objective(parameters: Floats) -> tuple[float, Floats]:
        log_factor, power = parameters
        log_scaled = log_factor + power * log_variance
        with np.errstate(over="ignore"):
            relative = np.minimum(squared * np.exp(-log_scaled), 1e100)
        slope = 0.5 * weight * (1.0 - relative)
        loss = 0.5 * (weight * (log_scaled + relative)).sum() + 0.5 * _PRIOR_ROWS * (power - 1.0) ** 2
        return float(loss), np.array([slope.sum(), (slope * log_variance).sum() + _PRIOR_ROWS * (power - 1.0)])

    bounds = [(-_MAX_LOG_FACTOR, _MAX_LOG_FACTOR), (0.0, _MAX_POWER)]
    with np.errstate(over="ignore"):
        ratio = float(np.average(np.minimum(squared * np.exp(-log_variance), 1e100), weights=weight))
    start = np.clip(np.log(max(ratio, _TINY)), *bounds[0])
    log_factor, power = minimize(objective, [start, 1.0], jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(log_factor), float(power)


def _powered(variance: Floats, factor: float, reference: float, power: float) -> Floats:
    logarithm = np.log(np.maximum(variance, _TINY)) - np.log(reference)  # the ratio itself may overflow
    powered: Floats = (factor * reference) * np.exp(power * logarithm)
    return powered
