"""Divergences between the members of an ensemble, and between the members and their average.

For a classifier the expected pairwise divergence is the sum of the mutual information (the knowledge uncertainty) and
the reverse mutual information.

References
----------
A. Malinin, L. Prokhorenkova, A. Ustimenko, "Uncertainty in Gradient Boosting via Ensembles", ICLR 2021.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import rel_entr

from epiboost._posterior.parameters import apply_by_block, check_parameters, mean_over_members, sum_outputs
from epiboost._typing import Family, Floats


def expected_pairwise_kl(parameters: Floats, family: Family) -> Floats:
    r"""Return the expected Kullback–Leibler divergence between two random members.

    The average :math:`\tfrac1{M^2} \sum_{m, m'} \mathrm{KL}(p_m \| p_{m'})` over all ordered pairs, in nats. It is
    infinite where a member gives probability zero to something that another member holds possible: a class of
    probability zero, or a variance of zero.

    Parameters
    ----------
    parameters : array of shape (members, samples, outputs)
        Means and variances, or class probabilities.
    family : {"normal", "categorical"}
        The distribution that the outputs parametrise.

    Returns
    -------
    divergence : array of shape (samples,)
        Zero where all members agree.

    Examples
    --------
    >>> import numpy as np
    >>> expected_pairwise_kl(np.array([[[0.0, 1.0]], [[2.0, 1.0]]]), "normal")
    array([1.])
    """
    parameters = check_parameters(parameters, family)
    divergence = _normal_pairwise_kl if family == "normal" else _categorical_pairwise_kl
    return apply_by_block(divergence, parameters)


def reverse_mutual_information(parameters: Floats, family: Family) -> Floats:
    r"""Return the average divergence of the members' average from the members. Categorical only.

    The mean :math:`\tfrac1M \sum_m \mathrm{KL}(\bar p \| p_m)` in nats. It equals the expected pairwise divergence
    minus the mutual information. It is infinite where a member gives probability zero to a class and another does not.

    Parameters
    ----------
    parameters : array of shape (members, samples, classes)
        Class probabilities.
    family : {"categorical"}
        Normals are refused.

    Returns
    -------
    divergence : array of shape (samples,)
        Zero where all members agree.

    Raises
    ------
    ValueError
        If the family is "normal": the average of Normals is a mixture, and its divergence from a Normal has no closed
        form.

    Examples
    --------
    >>> import numpy as np
    >>> reverse_mutual_information(np.array([[[0.9, 0.1]], [[0.1, 0.9]]]), "categorical").round(3)
    array([0.511])
    """
    parameters = check_parameters(parameters, family)
    if family == "normal":
        message = (
            "reverse_mutual_information is defined for family='categorical' only, got 'normal': the divergence of a "
            "mixture of Normals from one of them has no closed form; use expected_pairwise_kl, which has one"
        )
        raise ValueError(message)
    return apply_by_block(_reverse_mutual_information, parameters)


def mutual_information(members: Floats) -> Floats:
    """Return the average of KL(member || average) over the members of a classifier, in nats.

    >>> mutual_information(np.array([[[0.9, 0.1]], [[0.1, 0.9]]])).round(3)
    array([0.368])
    """
    return _mean_divergence(members, rel_entr)


def _reverse_mutual_information(members: Floats) -> Floats:
    """Return the average of KL(average || member) over the members."""
    divergence = _mean_divergence(members, lambda member, average: rel_entr(average, member))
    has_ruled_out_class = ((members == 0.0).any(axis=0) & (members > 0.0).any(axis=0)).any(axis=1)
    divergence[has_ruled_out_class] = np.inf  # also where the average is too small to be a normal number
    return divergence


def _mean_divergence(members: Floats, divergence: Callable[[Floats, Floats], Floats]) -> Floats:
    """Return the mean over members of a divergence between a member and the average, summed over the classes.

    A value below zero is a rounding error and becomes zero.
    """
    average = mean_over_members(members)
    average[average < np.finfo(np.float64).tiny] = 0.0  # averages of subnormal numbers depend on their order
    terms = np.zeros_like(average)
    for member in members:
        terms += divergence(member, average)
    terms[average == 0.0] = 0.0
    return np.maximum(sum_outputs(terms) / len(members), 0.0)


def _categorical_pairwise_kl(members: Floats) -> Floats:
    """Return the sum of the two divergences from the average: all pairs at the cost of one pass each."""
    return mutual_information(members) + _reverse_mutual_information(members)


def _normal_pairwise_kl(members: Floats) -> Floats:
    """Return the average of the closed form over all ordered pairs, in one pass.

    The logarithms cancel in the average over pairs. What remains is, with K the variance of the means and v the
    variances, the mean over m of ((v_m - v̄)² / v̄ + K + (μ_m - μ̄)²) / 2 v_m. No term is negative.
    """
    average = mean_over_members(members)
    mean, variance = average[:, 0], average[:, 1]
    knowledge = _variance_over_members(members[:, :, 0], mean)
    divergence = np.zeros_like(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        for member in members:
            spread = np.square(member[:, 1] - variance) / variance
            divergence += (spread + knowledge + np.square(member[:, 0] - mean)) / member[:, 1]
    divergence /= 2 * len(members)
    has_point_mass = (members[:, :, 1] == 0.0).any(axis=0)
    equal = (members == members[0]).all(axis=(0, 2))
    divergence[has_point_mass] = np.where(equal[has_point_mass], 0.0, np.inf)
    return divergence


def _variance_over_members(members: Floats, mean: Floats) -> Floats:
    """Return the population variance over the first axis, one member at a time."""
    variance = np.zeros_like(mean)
    for member in members:
        variance += np.square(member - mean)
    return variance / len(members)
