"""Mixtures of Normals: their quantiles, to the last digits.

The quantile of a mixture has no closed form, but lies between the smallest and the largest of its members' quantiles.
It is found there by Newton's method on the probit scale, on which a single Normal is a straight line, with bisection
wherever a step would leave the bracket. A member of zero variance is a point mass.
"""

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from epiboost._typing import Floats

_EPSILON = float(np.finfo(np.float64).eps)
_LOG_TWO_PI = float(np.log(2 * np.pi))


def mixture_quantile(mean: Floats, std: Floats, q: float) -> Floats:
    """Find the q-quantile of each column's mixture; mean and std are of shape (members, samples)."""
    quantiles = mean + std * ndtri(q)
    lower, upper = quantiles.min(axis=0), quantiles.max(axis=0)
    if not std.all():
        lower, upper = _narrow_at_point_masses(mean, std, q, lower, upper)
    if q > 1.0 - q:
        return -_solve(-mean, std, 1.0 - q, -upper, -lower)
    return _solve(mean, std, q, lower, upper)


def standardise(y: Floats, mean: Floats, std: Floats) -> Floats:
    """Return (y - mean) / std; at a point mass that is plus infinity from the mean on, minus infinity before it."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled: Floats = (y - mean) / std
    if not std.all():
        np.copyto(scaled, np.inf, where=(std == 0.0) & (y == mean))
    return scaled


def normal_logpdf(y: Floats, mean: Floats, variance: Floats) -> Floats:
    """Return the log density; at a point mass it is plus infinity, and minus infinity beside it."""
    scaled = standardise(y, mean, np.sqrt(variance))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_density: Floats = -0.5 * (np.square(scaled) + np.log(variance) + _LOG_TWO_PI)
    if not variance.all():
        np.copyto(log_density, np.where(y == mean, np.inf, -np.inf), where=(variance == 0.0) & ~np.isnan(y))
    return log_density


def _narrow_at_point_masses(mean: Floats, std: Floats, q: float, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Move the bracket's ends to the point masses next to the root, and both to the one where F jumps past q."""
    is_point = std == 0.0
    for point, here in zip(mean, is_point, strict=True):
        scaled = standardise(point, mean, std)
        reached = ndtr(scaled).mean(axis=0) >= q
        scaled[is_point & (mean == point)] = -np.inf
        reached_before = ndtr(scaled).mean(axis=0) >= q
        lower = np.where(here & ~reached_before, np.maximum(lower, point), lower)
        upper = np.where(here & reached, np.minimum(upper, point), upper)
    return lower, upper


@np.errstate(all="ignore")  # an infinite or undefined Newton step is expected, and replaced by a bisection
def _solve(mean: Floats, std: Floats, q: float, lower: Floats, upper: Floats) -> Floats:
    """Solve F(x) = q for q of at most one half, in all columns at once; a column is dropped when it is solved."""
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
        left = ~done
        columns, mean, std = columns[left], mean[:, left], std[:, left]
        move, x, lower, upper = (proposal - x)[left], proposal[left], lower[left], upper[left]
    return root


def _inside(x: Floats, lower: Floats, upper: Floats) -> npt.NDArray[np.bool_]:
    return (lower < x) & (x < upper)


def _probit(x: Floats, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
    """Return F(x) and the derivative of Φ⁻¹(F(x))."""
    scaled = standardise(x, mean, std)
    probability: Floats = ndtr(scaled).mean(axis=0)
    density = (np.exp(-0.5 * np.square(scaled)) / np.where(std == 0.0, 1.0, std)).mean(axis=0)
    return probability, density / np.exp(-0.5 * np.square(ndtri(probability)))
