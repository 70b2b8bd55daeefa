"""Distributional conformal prediction: how far a target is from the median of its own predicted distribution.

The score of a row is |F(y) − 1/2|, F its predicted distribution function; the interval of a score reaches from the
quantile at 1/2 − score to that at 1/2 + score. Scores are kept as |Φ⁻¹(F(y))|, which orders them in the same way and
keeps the digits of both tails. A count takes the middle of its step of F: the interval of its score contains it.

Reference: V. Chernozhukov, K. Wüthrich, Y. Zhu: Distributional conformal prediction. PNAS 2021.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from epiboost._boosting.objectives import Distribution
from epiboost._posterior.numbers import mixtures
from epiboost._typing import Floats

LIMIT = 8.0
"""Scores beyond have levels that cannot be told from 0 and 1; their intervals are not bounded."""

_BEYOND = 40.0
_MARGIN = 1e-9


def scores_of(distribution: Distribution, parameters: Floats, y: Floats) -> Floats:
    """Return Φ⁻¹(F(y)) of each row, shape (n,).

    >>> from epiboost._boosting.objectives import distribution_named
    >>> normal = distribution_named("normal")
    >>> scores_of(normal, np.array([[[1.0, 4.0], [1.0, 4.0]]]), np.array([3.0, -3.0])).round(6)
    array([ 1., -2.])
    """
    below = mixtures.cdf(distribution, parameters, y)
    above = mixtures.sf(distribution, parameters, y)
    if distribution.is_discrete:
        step = 0.5 * np.exp(mixtures.logpdf(distribution, parameters, y))
        below, above = below - step, above + step
    return probit(below, above)


def probit(below: Floats, above: Floats) -> Floats:
    """Return Φ⁻¹ of probabilities, from the smaller of the two tails."""
    with np.errstate(divide="ignore"):
        scores = np.where(below < above, ndtri(np.minimum(below, 0.5)), -ndtri(np.minimum(above, 0.5)))
    return np.asarray(np.where(np.abs(scores) < LIMIT, scores, np.copysign(_BEYOND, scores)))


def ends_of(distribution: Distribution, parameters: Floats, scores: Floats) -> Floats:
    """Return the quantiles of each row at the levels of its scores, (n, k); infinite for scores beyond the limit.

    >>> from epiboost._boosting.objectives import distribution_named
    >>> normal = distribution_named("normal")
    >>> ends_of(normal, np.array([[[1.0, 4.0]]]), np.array([[-1.0, 1.0, 40.0]])).round(6)
    array([[-1.,  3., inf]])
    """
    wider = scores + _MARGIN * np.sign(scores) * np.maximum(np.abs(scores), 1.0)  # despite rounding
    levels = ndtr(np.clip(wider, -LIMIT, LIMIT))
    ends = mixtures.quantile(distribution, parameters, levels)
    return np.where(np.abs(wider) < LIMIT, ends, np.copysign(np.inf, wider))
