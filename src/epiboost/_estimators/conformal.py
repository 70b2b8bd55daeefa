"""Calibration on held-out rows: scales of the uncertainty, a temperature, and conformal quantiles.

**Conformal prediction.** Each held-out row gets a score, larger where the model did worse. The rank of a new row from
the same distribution among them is uniform, so its score is at most the k-th smallest of n with a probability of at
least k / (n + 1), whatever the model and the distribution. `conformal_quantile` returns that score.

**Scales.** The width of an interval should differ from row to row. `fit_scales` fits the variance of the residuals as
``constant + data_scale * data + knowledge_scale * knowledge``, so that each kind of uncertainty is weighted by what it
explains of the residuals. Few rows are enough: the fit is robust, by the likelihood of Student's t with four degrees of
freedom, and regularised towards equal parts by a prior that is worth a few rows.

The rows that scales are fitted to must not be those that conformal quantiles are computed from. Intervals and sets are
made of both in `epiboost._estimators.calibrated`.
"""

import math
import numbers
from dataclasses import dataclass

import numpy as np

from epiboost._typing import Floats, Integers

_DEGREES_OF_FREEDOM = 4.0  # of Student's t: heavy tails, so that a few outliers do not determine the scales
_MIN_LOG_WEIGHT, _MAX_LOG_WEIGHT = -14.0, 5.0  # shares of the mean squared residual, from 1e-6 to 148
_STARTS = (
    (-1.0, -1.0, -1.0),
    (-6.0, 0.0, -2.0),
    (0.0, -6.0, -6.0),
    (-6.0, -2.0, 0.0),
)  # several, as the loss is not convex
_EQUAL_PARTS = math.log(1.0 / 3.0)  # centre of the prior: constant, data and knowledge explain a third each
_MAX_LOG_TEMPERATURE = 4.0  # beyond it probabilities are practically uniform, or 0 and 1
_TEMPERATURE_PRIOR = 0.1  # weak: the penalty of temperature e is 0.1 nats, far below one row's loss
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

    def variance(self, data: Floats, knowledge: Floats) -> Floats:
        """Return the calibrated variance of each row."""
        return self.constant + self.data * data + self.knowledge * knowledge


def fit_scales(residual: Floats, data: Floats, knowledge: Floats) -> Scales:
    """Fit the variance of residuals as a weighted sum of a constant, data and knowledge uncertainty.

    Parameters
    ----------
    residual, data, knowledge : arrays of shape (n,)
        Target minus prediction, and the two variances, of rows that the model was not trained on.

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

    with np.errstate(over="ignore"):
        squared = np.square(residual)
    if not all(np.isfinite(part).all() for part in (squared, data, knowledge)):
        message = "squared residuals and uncertainties must be finite to learn their scales, got too large ones or NaN"
        raise ValueError(message)
    size = max(float(squared.mean()), _TINY)
    kinds = np.stack([np.ones_like(data), data, knowledge])
    means = kinds.mean(axis=1)
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
        value = loss.sum() + np.square(distance).sum()
        return float(value), weights * (parts @ slope) + 2.0 * distance

    limits = [(_MIN_LOG_WEIGHT, _MAX_LOG_WEIGHT)] * len(parts)
    starts = np.unique(np.array(_STARTS)[:, nonzero], axis=0)
    fits = [minimize(objective, start, jac=True, method="L-BFGS-B", bounds=limits) for start in starts]
    weights = np.exp(min(fits, key=lambda fit: float(fit.fun)).x)
    weights *= float(np.mean(relative / np.maximum(weights @ parts, _TINY)))
    scales = np.zeros(len(kinds))
    scales[nonzero] = weights * size / means[nonzero]
    constant, data_scale, knowledge_scale = scales.tolist()
    return Scales(constant, data_scale, knowledge_scale)


def fit_temperature(parameters: Floats, codes: Integers) -> float:
    """Fit the temperature that maximises the likelihood of the labels.

    Parameters
    ----------
    parameters : array of shape (members, n, classes)
        Probabilities of rows that the model was not trained on.
    codes : integer array of shape (n,)
        Positions of the labels among the classes.

    Returns
    -------
    float
        Above 1 softens probabilities, below 1 sharpens them; a weak prior pulls it towards 1.

    Examples
    --------
    An overconfident model:

    >>> probabilities = np.tile([0.99, 0.01], (1, 100, 1))
    >>> round(fit_temperature(probabilities, np.repeat([0, 1], [70, 30])), 1)
    5.3
    """
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 (slow to import, and needed by few users)

    def objective(log_temperature: float) -> float:
        probability = temper(parameters, math.exp(log_temperature)).mean(axis=0)
        of_label = probability[np.arange(len(codes)), codes]
        return float(-np.log(np.maximum(of_label, _TINY)).sum() + _TEMPERATURE_PRIOR * log_temperature**2)

    bounds = (-_MAX_LOG_TEMPERATURE, _MAX_LOG_TEMPERATURE)
    return math.exp(float(minimize_scalar(objective, bounds=bounds, method="bounded").x))


def temper(parameters: Floats, temperature: float) -> Floats:
    """Return probabilities to the power of 1 / temperature, normalised per member.

    >>> temper(np.array([[[0.8, 0.2]]]), 2.0).round(3)
    array([[[0.667, 0.333]]])
    """
    scaled: Floats = np.power(parameters / parameters.max(axis=2, keepdims=True), 1.0 / temperature)
    tempered: Floats = scaled / scaled.sum(axis=2, keepdims=True)
    return tempered


def conformal_quantile(scores: Floats, coverage: float) -> float:
    """Return the score that a new row does not exceed with a probability of at least ``coverage``.

    Parameters
    ----------
    scores : array of shape (n,)
        Scores of held-out rows, in ascending order.
    coverage : float
        Strictly between 0 and 1.

    Returns
    -------
    float
        The k-th smallest score, k = ceil((n + 1) coverage).

    Raises
    ------
    ValueError
        If n is too small for the guarantee: k would be above n.

    Examples
    --------
    >>> conformal_quantile(np.arange(1.0, 20.0), 0.9)
    18.0
    """
    check_share(coverage, "coverage")
    rank = conformal_rank(len(scores), coverage)
    if rank > len(scores):
        message = (
            f"a coverage of {coverage} cannot be guaranteed by {len(scores)} rows; at least "
            f"{min_rows_for_coverage(coverage)} are needed"
        )
        raise ValueError(message)
    return float(scores[rank - 1])


def conformal_rank(n_scores: int, coverage: float) -> int:
    """Return k such that a new score is at most the k-th smallest of n with a probability of at least ``coverage``.

    >>> conformal_rank(19, 0.9)
    18
    """
    return math.ceil(round((n_scores + 1) * coverage, 9))


def min_rows_for_coverage(coverage: float) -> int:
    """Return the smallest number of calibration rows that can guarantee a coverage.

    >>> min_rows_for_coverage(0.9), min_rows_for_coverage(0.5)
    (9, 1)
    """
    return math.ceil(round(coverage / (1.0 - coverage), 9))


def check_share(share: float, name: str) -> None:
    """Raise a ValueError unless the share is a number strictly between 0 and 1.

    >>> check_share(0.9, "coverage")
    """
    if not isinstance(share, numbers.Real) or not 0.0 < share < 1.0:
        message = f"{name} must be a number strictly between 0 and 1, got {share!r}"
        raise ValueError(message)
