"""Functions of the mixture of any family of numbers, Normals included, by the fastest way that the family has.

>>> import numpy as np
>>> parameters = np.array([[[0.0, 1.0]], [[4.0, 1.0]]])
>>> cdf(None, parameters, np.array([2.0])), sf(None, parameters, np.array([2.0]))
(array([0.5]), array([0.5]))
"""

import numpy as np

from epiboost._boosting.objectives import Distribution
from epiboost._posterior.mixture import mixture_cdf, mixture_logpdf, mixture_quantile, mixture_sf
from epiboost._posterior.numbers import number_mixture
from epiboost._typing import Floats


def cdf(distribution: Distribution | None, parameters: Floats, y: Floats) -> Floats:
    """Return the distribution function at y, of shape (samples,) or (samples, k); None is the Normal."""
    if distribution is None:
        return mixture_cdf(parameters, y)
    return _missing_as(y, number_mixture.cdf(distribution, parameters, y))


def sf(distribution: Distribution | None, parameters: Floats, y: Floats) -> Floats:
    """Return the probability of more than y, of shape (samples,) or (samples, k)."""
    if distribution is None:
        return mixture_sf(parameters, y)
    return _missing_as(y, number_mixture.sf(distribution, parameters, y))


def logpdf(distribution: Distribution | None, parameters: Floats, y: Floats) -> Floats:
    """Return the logarithm of the density or the probability at y, of shape (samples,) or (samples, k)."""
    if distribution is None:
        return mixture_logpdf(parameters, y)
    return _missing_as(y, number_mixture.logpdf(distribution, parameters, y))


def quantile(distribution: Distribution | None, parameters: Floats, q: Floats) -> Floats:
    """Return the quantiles, of shape (samples,) or (samples, k), for q of shape () or (k,)."""
    if distribution is None:
        return mixture_quantile(parameters, q)
    return number_mixture.quantile(distribution, parameters, q)


def _missing_as(y: Floats, found: Floats) -> Floats:
    """Return what was found, and NaN where y is missing."""
    return np.where(np.isnan(y), np.nan, found) if np.isnan(y).any() else found
