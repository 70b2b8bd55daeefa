"""How far predicted distributions are from what came to pass: lower is better.

All three losses are proper: nobody does better, on average, than by saying what he believes. The mixture of all members
is judged, which is what an ensemble predicts, and not the average loss of its members.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Family, Floats
from epiboost.metrics.inputs import (
    Prediction,
    average,
    check_codes,
    check_length,
    check_prediction,
    check_values,
    check_weight,
)

_SQRT_TWO_PI = float(np.sqrt(2 * np.pi))


def negative_log_likelihood_loss(
    y_true: npt.ArrayLike,
    prediction: Prediction,
    *,
    family: Family | None = None,
    classes: Sequence[object] | AnyArray | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the mean negative log-likelihood of the members' mixture, in nats.

    Parameters
    ----------
    y_true : array of shape (n,)
        Numbers, or labels.
    prediction : Posterior, or array of shape (members, n, outputs) or (n, outputs)
        Means and variances, or class probabilities.
    family : {"normal", "categorical"}, optional
        What an array holds; a posterior knows.
    classes : sequence of shape (classes,), optional
        The labels in the order of the probabilities; by default those of the posterior, and 0, 1, … for an array.
    sample_weight : array of shape (n,), optional
        What each sample counts for; none may be negative, nor all zero.

    Returns
    -------
    float
        Infinite if anything held impossible came to pass: a class, or a value beside members of zero variance. Minus
        infinity if that did not happen and a member of zero variance was right.

    Raises
    ------
    ValueError
        For empty arrays, NaN, weights that are negative or all zero, and labels that are no class.

    Examples
    --------
    >>> round(negative_log_likelihood_loss([0.0], [[0.0, 1.0]], family="normal"), 4)
    0.9189
    >>> round(negative_log_likelihood_loss(["no"], [[0.5, 0.5]], family="categorical", classes=["no", "yes"]), 4)
    0.6931
    """
    posterior = check_prediction(prediction, family)
    if posterior.family == "normal":
        y = check_values(y_true, "y_true")
        check_length(y, posterior.n_samples, "y_true")
        log_likelihood = posterior.logpdf(y)
    else:
        log_likelihood = posterior.log_probability(check_codes(y_true, posterior, classes))
    weight = check_weight(sample_weight, posterior.n_samples)
    if np.isneginf(log_likelihood[weight > 0.0]).any():
        return np.inf  # whatever else was said, the point masses that were hit among it
    return average(-log_likelihood, weight)


def crps_loss(y_true: npt.ArrayLike, prediction: Prediction, *, sample_weight: npt.ArrayLike | None = None) -> float:
    r"""Return the mean continuous ranked probability score of the members' mixture, in units of the target.

    The score is the area between the predicted distribution function and the step at the outcome, squared:
    :math:`\int (F(x) - 1[x \ge y])^2 dx`. It is the absolute error of a prediction without spread. For a mixture of M
    Normals it is, with :math:`A(m, v) = \mathrm E|Z|` for :math:`Z \sim N(m, v)`,

    .. math::
        \tfrac1M \sum_i A(y - \mu_i, \sigma_i^2) - \tfrac1{2M^2} \sum_{i, j} A(\mu_i - \mu_j, \sigma_i^2 + \sigma_j^2).

    Parameters
    ----------
    y_true : array of shape (n,)
    prediction : Posterior, or array of shape (members, n, 2) or (n, 2)
        Means and variances.
    sample_weight : array of shape (n,), optional
        What each sample counts for; none may be negative, nor all zero.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For empty arrays, NaN, numbers whose distances are not finite, weights that are negative or all zero, and a
        classifier's posterior.

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
    posterior = check_prediction(prediction, "normal")
    y = check_values(y_true, "y_true")
    check_length(y, posterior.n_samples, "y_true")
    weight = check_weight(sample_weight, posterior.n_samples)
    with np.errstate(over="ignore", invalid="ignore"):
        score = average(_crps(y, posterior), weight)
    if not np.isfinite(score):
        message = "y_true and the prediction hold numbers that are too large: the score is not finite"
        raise ValueError(message)
    return score


def brier_loss(
    y_true: npt.ArrayLike,
    prediction: Prediction,
    *,
    classes: Sequence[object] | AnyArray | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the mean squared distance between predicted probabilities and what came to pass, summed over the classes.

    It is 0 for a sure and right prediction, 2 for a sure and wrong one. Of two classes both count: that is twice the
    score that looks at one of them.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels.
    prediction : Posterior, or array of shape (members, n, classes) or (n, classes)
        Class probabilities.
    classes : sequence of shape (classes,), optional
        The labels in the order of the probabilities; by default those of the posterior, and 0, 1, … for an array.
    sample_weight : array of shape (n,), optional
        What each sample counts for; none may be negative, nor all zero.

    Returns
    -------
    float
        Between 0 and 2.

    Raises
    ------
    ValueError
        For empty arrays, NaN, weights that are negative or all zero, and labels that are no class.

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


def _crps(y: Floats, posterior: Posterior) -> Floats:
    """Return the score of each sample: the members' distance from the outcome less half that from one another."""
    means, variances = posterior.parameters[:, :, 0], posterior.parameters[:, :, 1]
    distance, spread = np.zeros_like(y), np.zeros_like(y)
    for number, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        distance += _expected_absolute(y - mean, variance)
        spread += _expected_absolute(np.zeros_like(y), 2 * variance) / 2
        for other_mean, other_variance in zip(means[:number], variances[:number], strict=True):
            spread += _expected_absolute(mean - other_mean, variance + other_variance)
    return distance / posterior.n_members - spread / posterior.n_members**2


def _expected_absolute(mean: Floats, variance: Floats) -> Floats:
    """Return E|Z| of a Normal Z; that of a point mass is its distance from zero."""
    std = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled = mean / std
        expected = 2 * std * np.exp(-0.5 * np.square(scaled)) / _SQRT_TWO_PI + mean * (2 * ndtr(scaled) - 1)
    return np.where(std > 0.0, expected, np.abs(mean))
