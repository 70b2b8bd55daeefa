"""Mixtures of any family of distributions of numbers: distribution function, density and quantiles.

Every function takes the members' ``parameters`` of shape (members, samples, outputs). Distribution function and density
of the mixture are averages over the members. Its q-quantile lies between the smallest and the largest of the members'
q-quantiles and is found there by bisection, to the last digits of double precision; of whole numbers it is exact.
Mixtures of Normals have faster functions of their own, see `mixture`.

>>> from epiboost._boosting.objectives import distribution_named
>>> poisson = distribution_named("poisson")
>>> cdf(poisson, np.array([[[1.0]], [[3.0]]]), np.array([0.0])).round(3)
array([0.209])
"""

import numpy as np

from epiboost._boosting.objectives import Distribution
from epiboost._typing import Floats

_MAX_STEPS = 200
_TINY_STEP = 4.0 * float(np.finfo(np.float64).eps)


def cdf(distribution: Distribution, parameters: Floats, y: Floats) -> Floats:
    """Return the distribution function at y, of shape (samples,) or (samples, k)."""
    total = np.zeros_like(y)
    for member in parameters:
        total += distribution.cdf(beside(member, y), y)
    return total / len(parameters)


def sf(distribution: Distribution, parameters: Floats, y: Floats) -> Floats:
    """Return the probability of more than y, of shape (samples,) or (samples, k)."""
    total = np.zeros_like(y)
    for member in parameters:
        total += distribution.sf(beside(member, y), y)
    return total / len(parameters)


def logpdf(distribution: Distribution, parameters: Floats, y: Floats) -> Floats:
    """Return the logarithm of the density or the probability at y, of shape (samples,) or (samples, k)."""
    log_density = np.full_like(y, -np.inf)
    for member in parameters:
        np.logaddexp(log_density, distribution.logpdf(beside(member, y), y), out=log_density)
    log_density -= np.log(len(parameters))
    return log_density


def quantile(distribution: Distribution, parameters: Floats, q: Floats) -> Floats:
    """Return the quantiles, of shape (samples,) or (samples, k); they never cross.

    Parameters
    ----------
    distribution : Distribution
    parameters : array of shape (members, samples, outputs)
    q : array of shape (), (k,) or (samples, k)
        Probabilities strictly between 0 and 1, in any order.
    """
    n_samples = parameters.shape[1]
    levels = np.broadcast_to(np.atleast_1d(q), (n_samples, np.atleast_1d(q).shape[-1]))
    ends = np.stack([distribution.quantile(beside(member, levels), levels) for member in parameters])
    lower, upper = ends.min(axis=0), ends.max(axis=0)
    found = upper.copy()
    open_ = np.argwhere(lower < upper)
    if len(open_):
        rows, columns = open_.T
        found[rows, columns] = _bisect(
            distribution,
            parameters[:, rows],
            levels[rows, columns],
            lower[rows, columns],
            upper[rows, columns],
        )
    order = np.argsort(levels, axis=1, kind="stable")
    ascending = np.maximum.accumulate(np.take_along_axis(found, order, axis=1), axis=1)
    np.put_along_axis(found, order, ascending, axis=1)
    return np.asarray(found[:, 0]) if np.ndim(q) == 0 else found


def _bisect(distribution: Distribution, parameters: Floats, q: Floats, lower: Floats, upper: Floats) -> Floats:
    """Return the smallest x in (lower, upper] with F(x) of at least q, for one level per sample."""
    reached = cdf(distribution, parameters, lower) >= q
    upper = np.where(reached, lower, upper)
    for _ in range(_MAX_STEPS):
        middle = lower + 0.5 * (upper - lower)
        if distribution.is_discrete:
            middle = np.floor(middle)
            wide = upper - lower > 1.0
        else:
            wide = upper - lower > _TINY_STEP * np.maximum(np.abs(lower), np.abs(upper))
        wide &= (middle >= lower) & (middle < upper)
        if not wide.any():
            break
        above = cdf(distribution, parameters, middle) >= q
        upper = np.where(wide & above, middle, upper)
        lower = np.where(wide & ~above, middle, lower)
    return upper


def beside(member: Floats, y: Floats) -> Floats:
    """Return a member's parameters, shape (samples, outputs), in a shape that broadcasts against y."""
    return member if y.ndim == 1 else member[:, np.newaxis]
