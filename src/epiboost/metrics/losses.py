"""Proper scoring rules of predicted distributions; lower is better.

The mixture of all members is scored, which is the prediction of the ensemble, and not each member by itself.
"""

import numpy as np
import numpy.typing as npt

from epiboost._posterior.numbers.crps import crps
from epiboost._typing import Family
from epiboost.metrics.inputs import (
    Classes,
    Prediction,
    average,
    check_codes,
    check_numbers,
    check_prediction,
    check_target,
    check_weight,
)


def negative_log_likelihood_loss(
    y_true: npt.ArrayLike,
    prediction: Prediction,
    *,
    family: Family | None = None,
    classes: Classes | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the mean negative log-likelihood of the members' mixture, in nats.

    Parameters
    ----------
    y_true : array of shape (n,)
        Numbers, or labels.
    prediction : Posterior, or array of shape (members, n, outputs) or (n, outputs)
        Means and variances, or class probabilities. A posterior may be of any family.
    family : {"normal", "categorical"}, optional
        The distribution that an array parametrises; a posterior has its own.
    classes : sequence of shape (classes,), optional
        Labels in the order of the probabilities; by default those of the posterior, and 0, 1, … for an array.
    sample_weight : array of shape (n,), optional
        Weights: none negative, not all zero.

    Returns
    -------
    float
        Infinite if the prediction gives probability zero to an outcome: a class, or a value beside members of zero
        variance. Otherwise minus infinity if an outcome is the mean of a member of zero variance.

    Raises
    ------
    ValueError
        For empty arrays, NaN, weights that are negative or all zero, and unknown labels.

    Examples
    --------
    >>> round(negative_log_likelihood_loss([0.0], [[0.0, 1.0]], family="normal"), 4)
    0.9189
    >>> round(negative_log_likelihood_loss(["no"], [[0.5, 0.5]], family="categorical", classes=["no", "yes"]), 4)
    0.6931
    """
    posterior = check_prediction(prediction, family)
    if posterior.is_numeric:
        log_likelihood = posterior.logpdf(check_target(y_true, posterior.n_samples))
    else:
        log_likelihood = posterior.log_probability(check_codes(y_true, posterior, classes))
    weight = check_weight(sample_weight, posterior.n_samples)
    if np.isneginf(log_likelihood[weight > 0.0]).any():
        return np.inf  # also if another sample has an infinite density
    return average(-log_likelihood, weight)


def crps_loss(y_true: npt.ArrayLike, prediction: Prediction, *, sample_weight: npt.ArrayLike | None = None) -> float:
    r"""Return the mean continuous ranked probability score of the members' mixture, in units of the target.

    The score is the integral of the squared distance between the predicted distribution function and the step at the
    outcome: :math:`\int (F(x) - 1[x \ge y])^2 dx`. For a point mass it is the absolute error. For a mixture of M
    Normals it is, with :math:`A(m, v) = \mathrm E|Z|` for :math:`Z \sim N(m, v)`,

    .. math::
        \tfrac1M \sum_i A(y - \mu_i, \sigma_i^2) - \tfrac1{2M^2} \sum_{i, j} A(\mu_i - \mu_j, \sigma_i^2 + \sigma_j^2).

    Parameters
    ----------
    y_true, prediction, sample_weight
        As in `negative_log_likelihood_loss`, whose errors are raised too; numbers only: means and variances, or a
        posterior of any family of numbers. That of counts is a sum over them, exact to rounding; that of other
        families is computed by quadrature with a relative error below 1e-4.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the numbers are so large that the score is not finite.

    References
    ----------
    E. Grimit, T. Gneiting, V. Berrocal, N. Johnson: The continuous ranked probability score for circular variables and
    its application to mesoscale forecast ensemble verification. 2006.

    Examples
    --------
    >>> round(crps_loss([0.0], [[0.0, 1.0]]), 4)
    0.2337
    >>> crps_loss([3.0], [[1.0, 0.0]])
    2.0
    """
    posterior = check_numbers(prediction)
    y = check_target(y_true, posterior.n_samples)
    weight = check_weight(sample_weight, posterior.n_samples)
    with np.errstate(over="ignore", invalid="ignore"):
        score = average(crps(posterior.distribution, posterior.parameters, y), weight)
    if not np.isfinite(score):
        message = "y_true and prediction hold numbers that are too large: the score is not finite"
        raise ValueError(message)
    return score


def brier_loss(
    y_true: npt.ArrayLike,
    prediction: Prediction,
    *,
    classes: Classes | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the mean squared distance between predicted probabilities and one-hot labels, summed over the classes.

    With two classes it is twice scikit-learn's ``brier_score_loss``, which counts one of them.

    Parameters
    ----------
    y_true, prediction, classes, sample_weight
        As in `negative_log_likelihood_loss`, whose errors are raised too; class probabilities only.

    Returns
    -------
    float
        0 if all predictions are certain and right, 2 if all are certain and wrong.

    Examples
    --------
    >>> brier_loss([0, 1], [[1.0, 0.0], [0.5, 0.5]])
    0.25
    """
    posterior = check_prediction(prediction, "categorical")
    codes = check_codes(y_true, posterior, classes)
    distance = posterior.mean
    distance[np.arange(posterior.n_samples), codes] -= 1.0
    return average(np.square(distance).sum(axis=1), check_weight(sample_weight, posterior.n_samples))
