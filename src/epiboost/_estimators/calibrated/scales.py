"""Scales of the uncertainties of a regressor, fitted to held-out rows.

The width of an interval should differ from row to row. `fit_scales` fits the variance of the residuals as ``constant +
data_scale * data + knowledge_scale * knowledge``, so that each kind of uncertainty is weighted by what it explains of
the residuals. Few rows are enough: the fit is robust, by the likelihood of Student's t with four degrees of freedom,
and regularised towards equal parts by a prior that is worth a few rows. These scales are made for intervals, whose size
the conformal quantile sets.

The posterior has no such quantile, and may be calibrated already. `fit_posterior_scales` therefore shrinks its scales
towards no change as far as what they gain on rows that are left out could be chance.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from epiboost._posterior.posterior import Posterior
from epiboost._typing import Floats

_DEGREES_OF_FREEDOM = 4.0  # of Student's t: heavy tails, so that a few outliers do not determine the scales
_MIN_LOG_WEIGHT, _MAX_LOG_WEIGHT = -14.0, 5.0  # shares of the mean squared residual, from 1e-6 to 148
_STARTS = (
    (-1.0, -1.0, -1.0),
    (-6.0, 0.0, -2.0),
    (0.0, -6.0, -6.0),
    (-6.0, -2.0, 0.0),
)  # several, as the loss is not convex
_EQUAL_PARTS = math.log(1.0 / 3.0)  # centre of the prior: constant, data and knowledge explain a third each
_FOLDS = 4
_CHANCE_GAIN = 3.0  # nats of cross-validated gain that a calibrated model may have by chance
_PRIOR_ROWS = 20.0  # that no change is worth; both chosen on generated tables and training rows of eight tables
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class Scales:
    """Variance of a residual: ``constant + data * (data uncertainty) + knowledge * (knowledge uncertainty)``.

    >>> Scales(constant=1.0, data=2.0, knowledge=3.0).variance(np.array([1.0]), np.array([10.0]))
    array([33.])
    """

    constant: float
    data: float
    knowledge: float

    @property
    def values(self) -> Floats:
        """Constant, data and knowledge."""
        return np.array([self.constant, self.data, self.knowledge])

    def variance(self, data: Floats, knowledge: Floats) -> Floats:
        """Return the calibrated variance of each row."""
        return self.constant + self.data * data + self.knowledge * knowledge


NO_CHANGE = Scales(constant=0.0, data=1.0, knowledge=1.0)


def fit_scales(
    residual: Floats,
    data: Floats,
    knowledge: Floats,
    weight: Floats | None = None,
    *,
    start: Scales | None = None,
) -> Scales:
    """Fit the variance of residuals as a weighted sum of a constant, data and knowledge uncertainty.

    Parameters
    ----------
    residual, data, knowledge : arrays of shape (n,)
        Target minus prediction, and the two variances, of rows that the model was not trained on.
    weight : array of shape (n,), optional
        How many rows each row stands for.
    start : Scales, optional
        Where the search starts; by default it has several starts.

    Returns
    -------
    Scales
        Finite and not negative; the variances match the mean of the squared residuals. An uncertainty that is zero on
        all rows, as the knowledge uncertainty of a model with one member, has the scale zero.

    Raises
    ------
    ValueError
        If residuals or uncertainties are not finite, or squared residuals are not.

    Examples
    --------
    The standard deviation of the noise is twice the predicted one:

    >>> rng = np.random.default_rng(0)
    >>> data, knowledge = rng.gamma(1.0, size=(2, 4000))
    >>> scales = fit_scales(rng.normal(scale=2 * np.sqrt(data)), data, knowledge)
    >>> round(scales.data), round(scales.constant), round(scales.knowledge)
    (4, 0, 0)
    """
    from scipy.optimize import minimize  # noqa: PLC0415 (slow to import, and needed by few users)
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    with np.errstate(over="ignore"):
        squared = np.square(residual)
    if not all(np.isfinite(part).all() for part in (squared, data, knowledge)):
        message = "squared residuals and uncertainties must be finite to learn their scales, got too large ones or NaN"
        raise ValueError(message)
    weight = np.ones_like(squared) if weight is None else weight
    size = max(float(np.average(squared, weights=weight)), _TINY)
    kinds = np.stack([np.ones_like(data), data, knowledge])
    means = np.average(kinds, axis=1, weights=weight)
    nonzero = means > 0.0
    parts = kinds[nonzero] / means[nonzero, np.newaxis]
    relative = squared / size

    def objective(logarithms: Floats) -> tuple[float, Floats]:
        weights = np.exp(logarithms)
        variance = np.maximum(weights @ parts, _TINY)
        excess = relative / (variance * _DEGREES_OF_FREEDOM)
        loss = 0.5 * np.log(variance) + 0.5 * (_DEGREES_OF_FREEDOM + 1) * np.log1p(excess)
        slope = (0.5 - 0.5 * (_DEGREES_OF_FREEDOM + 1) * excess / (1.0 + excess)) / variance
        distance = logarithms - _EQUAL_PARTS
        value = (weight * loss).sum() + np.square(distance).sum()
        return float(value), weights * (parts @ (weight * slope)) + 2.0 * distance

    limits = [(_MIN_LOG_WEIGHT, _MAX_LOG_WEIGHT)] * len(parts)
    if start is None:
        starts = np.unique(np.array(_STARTS)[:, nonzero], axis=0)
    else:
        shares = np.maximum((start.values * means)[nonzero] / size, _TINY)
        starts = np.clip(np.log(shares), _MIN_LOG_WEIGHT, _MAX_LOG_WEIGHT)[np.newaxis]
    with threadpool_limits(1):  # threads of BLAS take forty times as long as the matrices, which are tiny
        fits = [minimize(objective, start, jac=True, method="L-BFGS-B", bounds=limits) for start in starts]
    weights = np.exp(min(fits, key=lambda fit: float(fit.fun)).x)
    weights *= float(np.average(relative / np.maximum(weights @ parts, _TINY), weights=weight))
    scales = np.zeros(len(kinds))
    scales[nonzero] = weights * size / means[nonzero]
    return Scales(*scales.tolist())


def scale_posterior(posterior: Posterior, scales: Scales) -> Posterior:
    """Return the posterior with ``constant + a * data`` as data and ``b * knowledge`` as knowledge uncertainty."""
    mean, variance = posterior.parameters[:, :, 0], posterior.parameters[:, :, 1]
    spread = posterior.mean + np.sqrt(scales.knowledge) * (mean - posterior.mean)
    return replace(posterior, parameters=np.stack([spread, scales.constant + scales.data * variance], axis=2))


def fit_posterior_scales(posterior: Posterior, y: Floats, weight: Floats) -> Scales:
    """Fit scales of the posterior, and shrink them towards no change as far as what they gain could be chance.

    The gain g in log-likelihood is cross-validated: each row is judged by scales that are fitted without its fold. It
    leaves out the row that gains most, so that one outlier does not decide. Of n rows, the share of the fitted scales
    is ``(1 - 3 / g) * n / (n + 20)``, and zero if the gain is below 3. The first factor is that of James and Stein.

    Parameters
    ----------
    posterior : Posterior
        Of rows that the model was not trained on.
    y, weight : arrays of shape (n,)

    Examples
    --------
    The standard deviation of the noise is twice the predicted one:

    >>> y = np.random.default_rng(0).normal(scale=2.0, size=500)
    >>> posterior = Posterior(np.tile([0.0, 1.0], (1, 500, 1)), "normal")
    >>> scales = fit_posterior_scales(posterior, y, np.ones(500))
    >>> round(scales.constant + scales.data, 1)
    4.0
    >>> fit_posterior_scales(posterior, y / 2, np.ones(500))
    Scales(constant=0.0, data=1.0, knowledge=1.0)
    """
    residual, uncertainty = y - posterior.mean, posterior.uncertainty()
    parts = np.stack([residual, uncertainty.data, uncertainty.knowledge, weight])
    fitted = fit_scales(*parts)
    fold = np.arange(len(y)) % _FOLDS
    gain = np.empty(len(y))
    for number in range(_FOLDS):
        left_out = fold == number
        without = fit_scales(*parts[:, ~left_out], start=fitted)
        rows = Posterior(posterior.parameters[:, left_out], "normal")
        with np.errstate(all="ignore"):  # variances of zero have infinite densities
            gain[left_out] = scale_posterior(rows, without).logpdf(y[left_out]) - rows.logpdf(y[left_out])
    weighted, n_rows = weight * gain, float(weight.sum())
    with np.errstate(invalid="ignore"):
        total = float(weighted.sum() - max(weighted.max(), 0.0))  # NaN, where infinite, is not above the limit
    share = (1.0 - _CHANCE_GAIN / total) * n_rows / (n_rows + _PRIOR_ROWS) if total > _CHANCE_GAIN else 0.0
    return Scales(*(share * fitted.values + (1.0 - share) * NO_CHANGE.values).tolist())
