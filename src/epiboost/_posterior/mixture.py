"""Mixtures of Normals: distribution function, density and quantiles.

Every function takes the members' ``parameters`` of shape (members, samples, 2): means and variances. The mixture's
distribution function and density are averages over the members.

**Quantiles** have no closed form. The mixture's q-quantile lies between the smallest and the largest of the members'
q-quantiles. Inside that bracket it is found by Newton's method on the probit scale, Φ⁻¹(F(x)) = Φ⁻¹(q), on which one
Normal is a straight line and a mixture nearly one. A step that leaves the bracket or gains too little is replaced by a
bisection. Upper quantiles are lower quantiles of the mirrored mixture, so that both tails keep their digits.

A member of zero variance is a point mass, where the distribution function jumps. The quantile is always the smallest x
with F(x) ≥ q.

>>> parameters = np.array([[[0.0, 1.0]], [[4.0, 1.0]]])
>>> mixture_quantile(parameters, np.array([0.05, 0.5])).round(3)
array([[-1.282,  2.   ]])
"""

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from epiboost._typing import Floats

_EPSILON = float(np.finfo(np.float64).eps)
_LOG_TWO_PI = float(np.log(2 * np.pi))
_BLOCK_SAMPLES = 4096
"""Samples whose quantiles are computed together: few enough for the cache, enough to outweigh the cost of a call."""


def mixture_quantile(parameters: Floats, q: Floats) -> Floats:
    """Return the quantiles, of shape (samples,) or (samples, k); they never cross.

    Parameters
    ----------
    parameters : array of shape (members, samples, 2)
    q : array of shape () or (k,)
        Probabilities strictly between 0 and 1, in any order.
    """
    levels = np.unique(q)
    n_samples = parameters.shape[1]
    quantiles = np.empty((n_samples, levels.size))
    for start in range(0, n_samples, _BLOCK_SAMPLES):
        samples = slice(start, start + _BLOCK_SAMPLES)
        mean = np.ascontiguousarray(parameters[:, samples, 0])
        std = np.sqrt(parameters[:, samples, 1])
        for column, level in enumerate(levels):
            quantiles[samples, column] = _quantile(mean, std, float(level))
    np.maximum.accumulate(quantiles, axis=1, out=quantiles)
    return quantiles[:, np.searchsorted(levels, q)]


def mixture_cdf(parameters: Floats, y: Floats) -> Floats:
    """Return the distribution function at y, of shape (samples,) or (samples, k).

    >>> mixture_cdf(np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), np.array([2.0]))
    array([0.5])
    """
    probability = np.zeros_like(y)
    for member in parameters:
        mean, variance = _broadcast_to(y, member)
        probability += ndtr(_standardise(y, mean, np.sqrt(variance)))
    return probability / len(parameters)


def mixture_sf(parameters: Floats, y: Floats) -> Floats:
    """Return the probability of more than y, of shape (samples,) or (samples, k); its small values keep their digits.

    >>> mixture_sf(np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), np.array([2.0]))
    array([0.5])
    """
    probability = np.zeros_like(y)
    for member in parameters:
        mean, variance = _broadcast_to(y, member)
        probability += ndtr(-_standardise(y, mean, np.sqrt(variance)))
    return probability / len(parameters)


def mixture_logpdf(parameters: Floats, y: Floats) -> Floats:
    """Return the logarithm of the density at y, of shape (samples,) or (samples, k).

    >>> mixture_logpdf(np.array([[[0.0, 1.0]]]), np.array([0.0])).round(4)
    array([-0.9189])
    """
    log_density = np.full_like(y, -np.inf)
    for member in parameters:
        mean, variance = _broadcast_to(y, member)
        with np.errstate(invalid="ignore"):
            np.logaddexp(log_density, _normal_logpdf(y, mean, variance), out=log_density)
    log_density -= np.log(len(parameters))
    return log_density


def _broadcast_to(y: Floats, member: Floats) -> tuple[Floats, Floats]:
    """Return a member's means and variances in a shape that broadcasts against y."""
    mean, variance = member[:, 0], member[:, 1]
    return (mean, variance) if y.ndim == 1 else (mean[:, np.newaxis], variance[:, np.newaxis])


def _standardise(y: Floats, mean: Floats, std: Floats) -> Floats:
    """Return (y - mean) / std; for a point mass, plus infinity from the mean on and minus infinity below it."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled: Floats = (y - mean) / std
    if not std.all():
        np.copyto(scaled, np.inf, where=(std == 0.0) & (y == mean))
    return scaled


def _normal_logpdf(y: Floats, mean: Floats, variance: Floats) -> Floats:
    """Return the log density of a Normal; for a point mass, plus infinity at the mean and minus infinity elsewhere."""
    scaled = _standardise(y, mean, np.sqrt(variance))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_density: Floats = -0.5 * (np.square(scaled) + np.log(variance) + _LOG_TWO_PI)
    if not variance.all():
        np.copyto(log_density, np.where(y == mean, np.inf, -np.inf), where=(variance == 0.0) & ~np.isnan(y))
    return log_density


def _quantile(mean: Floats, std: Floats, q: float) -> Floats:
    """Return the q-quantile of each sample's mixture; mean and std have the shape (members, samples)."""
    quantiles = mean + std * ndtri(q)
    lower, upper = quantiles.min(axis=0), quantiles.max(axis=0)
    if not std.all():
        lower, upper = _narrow_at_point_masses(mean, std, q, lower, upper)
    if q > 1.0 - q:
        return -_solve(-mean, std, 1.0 - q, -upper, -lower)
    return _solve(mean, std, q, lower, upper)


def _narrow_at_point_masses(mean: Floats, std: Floats, q: float, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Move the ends of the bracket to the nearest point masses, and both ends to the one at which F jumps past q."""
    is_point = std == 0.0
    for point, here in zip(mean, is_point, strict=True):
        scaled = _standardise(point, mean, std)
        reached = ndtr(scaled).mean(axis=0) >= q
        scaled[is_point & (mean == point)] = -np.inf
        reached_before = ndtr(scaled).mean(axis=0) >= q
        lower = np.where(here & ~reached_before, np.maximum(lower, point), lower)
        upper = np.where(here & reached, np.minimum(upper, point), upper)
    return lower, upper


@np.errstate(all="ignore")  # an infinite or undefined Newton step is expected, and replaced by a bisection
def _solve(mean: Floats, std: Floats, q: float, lower: Floats, upper: Floats) -> Floats:
    """Solve F(x) = q, q at most one half, for all samples at once; a solved sample leaves the computation."""
    root = upper.copy()
    target = ndtri(q)
    columns = np.flatnonzero(lower < upper)
    mean, std, lower, upper = mean[:, columns], std[:, columns], lower[columns], upper[columns]
    x = np.clip(np.mean(mean + std * target, axis=0), lower, upper)
    move = upper - lower
    while columns.size:
        probability, slope = _probit(x, mean, std)
        below = probability < q
        lower, upper = np.where(below, x, lower), np.where(below, upper, x)
        step = (target - ndtri(probability)) / slope
        newton = (np.abs(step) <= np.abs(move) / 2) & _inside(x + step, lower, upper)
        proposal = np.where(newton, x + step, lower / 2 + upper / 2)
        solved = (np.abs(probability - q) <= 16 * _EPSILON * q) | (np.abs(step) <= 2 * _EPSILON * np.abs(x))
        done = solved | ~_inside(proposal, lower, upper)
        root[columns[done]] = np.where(solved, x, upper)[done]
        unsolved = ~done
        columns, mean, std = columns[unsolved], mean[:, unsolved], std[:, unsolved]
        move, x, lower, upper = (proposal - x)[unsolved], proposal[unsolved], lower[unsolved], upper[unsolved]
    return root


def _inside(x: Floats, lower: Floats, upper: Floats) -> npt.NDArray[np.bool_]:
    return (lower < x) & (x < upper)


def _probit(x: Floats, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
    """Return F(x) and the derivative of Φ⁻¹(F(x))."""
    scaled = _standardise(x, mean, std)
    probability: Floats = ndtr(scaled).mean(axis=0)
    density = (np.exp(-0.5 * np.square(scaled)) / np.where(std == 0.0, 1.0, std)).mean(axis=0)
    return probability, density / np.exp(-0.5 * np.square(ndtri(probability)))
