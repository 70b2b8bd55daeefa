"""Decomposition of uncertainty: total = data + knowledge.

For Normals the measure is the variance (law of total variance), for classifiers the Shannon entropy in nats, whose
knowledge part is the mutual information between the label and the member.

References
----------
A. Malinin, L. Prokhorenkova, A. Ustimenko, "Uncertainty in Gradient Boosting via Ensembles", ICLR 2021.
"""

import numpy as np
from scipy.special import entr

from epiboost._native import native
from epiboost._posterior.arrays import sample_blocks, sum_outputs
from epiboost._posterior.divergences import mutual_information
from epiboost._posterior.parameters import check_parameters
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import Floats


def decompose_normal(parameters: Floats) -> Uncertainty:
    r"""Decompose the variance of an ensemble of Normals.

    With members' means :math:`\mu_m` and variances :math:`\sigma_m^2`,

    .. math::
        \underbrace{\mathrm{Var}[y]}_\text{total}
        = \underbrace{\tfrac1M \sum_m \sigma_m^2}_\text{data}
        + \underbrace{\tfrac1M \sum_m (\mu_m - \bar\mu)^2}_\text{knowledge}.

    Parameters
    ----------
    parameters : array of shape (members, samples, 2)
        Mean and variance of each member for each sample.

    Returns
    -------
    uncertainty : Uncertainty
        In units of variance.

    Examples
    --------
    Two members agree on the first sample and differ on the second:

    >>> import numpy as np
    >>> uncertainty = decompose_normal(np.array([[[5.0, 1.0], [4.0, 1.0]], [[5.0, 1.0], [6.0, 3.0]]]))
    >>> uncertainty.knowledge, uncertainty.data, uncertainty.total
    (array([0., 1.]), array([1., 2.]), array([1., 3.]))
    """
    parameters = check_parameters(parameters, "normal")
    data, knowledge = native().split_normal_variance(np.ascontiguousarray(parameters))
    return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit="variance")


def decompose_categorical(parameters: Floats) -> Uncertainty:
    r"""Decompose the entropy of an ensemble of classifiers.

    With members' probabilities :math:`p_m` and their average :math:`\bar p`,

    .. math::
        \underbrace{H[\bar p]}_\text{total}
        = \underbrace{\tfrac1M \sum_m H[p_m]}_\text{data}
        + \underbrace{\tfrac1M \sum_m \mathrm{KL}(p_m \| \bar p)}_\text{knowledge}.

    The last term is the mutual information between the label and the member. It is computed as a sum of divergences and
    not as a difference of entropies: small disagreements keep their digits, and no value is negative.

    Parameters
    ----------
    parameters : array of shape (members, samples, classes)
        Class probabilities of each member for each sample; zeros are allowed.

    Returns
    -------
    uncertainty : Uncertainty
        In nats.

    Examples
    --------
    On the first sample two members are sure of different classes: all uncertainty is knowledge uncertainty. On the
    second sample both are undecided: all uncertainty is data uncertainty.

    >>> import numpy as np
    >>> uncertainty = decompose_categorical(np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]))
    >>> uncertainty.knowledge.round(3), uncertainty.data.round(3), uncertainty.total.round(3)
    (array([0.693, 0.   ]), array([0.   , 0.693]), array([0.693, 0.693]))
    """
    parameters = check_parameters(parameters, "categorical")
    data, knowledge = np.empty((2, parameters.shape[1]))
    for samples, block in sample_blocks(parameters):
        data[samples] = _mean_entropy(block)
        knowledge[samples] = mutual_information(block)
    return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit="nats")


def _mean_entropy(members: Floats) -> Floats:
    """Return the average of the members' entropies."""
    terms = np.zeros(members.shape[1:])
    for member in members:
        terms += entr(member)
    return sum_outputs(terms) / len(members)
