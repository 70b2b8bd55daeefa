"""Mixtures of any family of numbers: distribution function, density and quantiles.

Every function takes the members' ``parameters`` of shape (members, samples, outputs). Distribution function and density
of the mixture are averages over the members; at a missing y they are NaN. Its q-quantile lies between the smallest and
the largest of the members' q-quantiles and is found there by bisection, to the last digits of double precision; of
whole numbers it is exact. In place of a distribution, None takes the faster functions of Normals, see
`epiboost._posterior.mixture`.

>>> from epiboost._boosting.objectives import distribution_named
>>> cdf(distribution_named("poisson"), np.array([[[1.0]], [[3.0]]]), np.array([0.0])).round(3)
array([0.209])
>>> cdf(None, np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), np.array([2.0]))
array([0.5])
"""

import numpy as np

from epiboost._boosting.objectives import Distribution
from epiboost._posterior.mixture import mixture_cdf, mixture_logpdf, mixture_quantile, mixture_sf
from epiboost._typing import Floats

_MAX_STEPS = 200
_TINY_STEP = 4.0 * float(np.finfo(np.float64).eps)


def cdf(distribution: Distribution | None, parameters: Floats, y: Floats) -> Floats:
    """Return the distribution function at y, of shape (samples,) or (samples, k)."""
    if distribution is None:
        return mixture_cdf(parameters, y)
    total = np.zeros_like(y)
    for member in parameters:
        total += distribution.cdf(beside(member, y), y)
    return _missing_as(y, total / len(parameters))


def sf(distribution: Distribution | None, parameters: Floats, y: Floats) -> Floats:
    """Return the probability of more than y, of shape (samples,) or (samples, k)."""
    if distribution is None:
        return mixture_sf(parameters, y)
    total = np.zeros_like(y)
    for member in parameters:
        total += distribution.sf(beside(member, y), y)
    return _missing_as(y, total / len(parameters))


def logpdf(distribution: Distribution | None, parameters: Floats, y: Floats) -> Floats:
    """Return the logarithm of the density or the probability at y, of shape (samples,) or (samples, k)."""
    if distribution is None:
        return mixture_logpdf(parameters, y)
    log_density = np.full_like(y, -np.inf)
    for member in parameters:
        np.logaddexp(log_density, distribution.logpdf(beside(member, y), y), out=log_density)
    log_density -= np.log(len(parameters))
    return _missing_as(y, log_density)


def quantile(distribution: Distribution | None, parameters: Floats, q: Floats) -> Floats:
    """Return the quantiles, of shape (samples,) or (samples, k); they never cross.

    Parameters
    ----------
    distribution : Distribution or None
    parameters : array of shape (members, samples, outputs)
    q : array of shape (), (k,) or, of a distribution, (samples, k)
        Probabilities strictly between 0 and 1, in any order.
    """
    if distribution is None:
        return mixture_quantile(parameters, q)
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


def _missing_as(y: Floats, found: Floats) -> Floats:
    """Return what was found, and NaN where y is missing."""
    return np.where(np.isnan(y), np.nan, found) if np.isnan(y).any() else found
