"""Divergences between members of any family of numbers, by the quadrature of expectations.

The log ratio of two densities of a family changes slowly, so that its expectation under a member is accurate to about
1e-6 nats: exact sums for counts.

>>> from epiboost._boosting.objectives import distribution_named
>>> poisson = distribution_named("poisson")
>>> information, pairwise = divergences_of_numbers(poisson, np.array([[[1.0]], [[3.0]]]))
>>> information.round(4), pairwise.round(4)  # (3 - 1) log(3) / 4
(array([0.2118]), array([0.5493]))
"""

import numpy as np

from epiboost._boosting.objectives import Distribution
from epiboost._posterior.numbers.mixtures import beside
from epiboost._posterior.numbers.quadrature import nodes_of
from epiboost._typing import Floats


def divergences_of_numbers(distribution: Distribution, parameters: Floats) -> tuple[Floats, Floats]:
    """Return the mutual information of target and member, and the expected pairwise divergence, each (samples,)."""
    n_members, n_samples = parameters.shape[:2]
    information, pairwise = np.zeros(n_samples), np.zeros(n_samples)
    for member in parameters:
        for rows, y, weights in nodes_of(distribution, member):
            own = distribution.logpdf(beside(member[rows], y), y)
            others = np.stack([distribution.logpdf(beside(other[rows], y), y) for other in parameters])
            mixture = np.logaddexp.reduce(others, axis=0) - np.log(n_members)
            information[rows] += (weights * (own - mixture)).sum(axis=1)
            pairwise[rows] += (weights * (own - others.mean(axis=0))).sum(axis=1)
    equal = (parameters == parameters[0]).all(axis=(0, 2))
    information = np.clip(information / n_members, 0.0, np.log(n_members))
    pairwise = np.maximum(pairwise / n_members, 0.0)
    return np.where(equal, 0.0, information), np.where(equal, 0.0, pairwise)
