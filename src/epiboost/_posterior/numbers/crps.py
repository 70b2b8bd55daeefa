r"""The continuous ranked probability score of mixtures, :math:`\int (F(x) - 1[x \ge y])^2 dx`.

- Mixtures of **Normals** have a closed form, see `normal_crps`.
- For **counts** the integral is a sum over whole numbers, taken one by one; exact to rounding.
- For **other families** it is computed by Gauss–Legendre quadrature between the quantiles of every member at 21 levels,
  and y: the relative error is below 1e-4 (2e-6 for a Student of 5 degrees of freedom).
"""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from epiboost._boosting.objectives import Distribution
from epiboost._posterior.numbers import mixtures
from epiboost._typing import Floats

_SQRT_TWO_PI = float(np.sqrt(2 * np.pi))
_DEVIATIONS = np.array([0.0, 0.4, 0.8, 1.2, 1.7, 2.2, 2.8, 3.5, 4.5, 6.0, 8.0])
_LEVELS = ndtr(np.concatenate([-_DEVIATIONS[:0:-1], _DEVIATIONS]))
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_BLOCK_ELEMENTS = 1 << 19
_MAX_COUNTS = 20_000
_LEFT_OUT = 1e-12

Score = Callable[[Distribution, Floats, Floats], Floats]


def crps(distribution: Distribution | None, parameters: Floats, y: Floats) -> Floats:
    """Return the score of each sample, shape (samples,), in units of the target; None is the Normal.

    >>> from epiboost._boosting.objectives import distribution_named
    >>> student = distribution_named("student")
    >>> crps(student, np.array([[[0.0, 1.0, 1e6]]]), np.array([0.0])).round(4)  # nearly a Normal
    array([0.2337])
    """
    if distribution is None:
        return normal_crps(parameters, y)
    if distribution.is_discrete and len(y):
        lower, upper = _count_limits(distribution, parameters, y)
        if (width := float((upper - lower).max())) <= _MAX_COUNTS:
            return _by_block(_of_counts, distribution, parameters, y, int(width) + 1)
    return _by_block(_of_intervals, distribution, parameters, y, len(parameters) * len(_LEVELS) * len(_NODES))


def normal_crps(parameters: Floats, y: Floats) -> Floats:
    """Return the score of mixtures of Normals: the distance from y less half the distance between two draws."""
    means, variances = parameters[:, :, 0], parameters[:, :, 1]
    distance, spread = np.zeros_like(y), np.zeros_like(y)
    for number, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        distance += _expected_absolute(y - mean, variance)
        spread += _expected_absolute(np.zeros_like(y), 2 * variance) / 2
        for other_mean, other_variance in zip(means[:number], variances[:number], strict=True):
            spread += _expected_absolute(mean - other_mean, variance + other_variance)
    score: Floats = distance / len(parameters) - spread / len(parameters) ** 2
    return score


def _expected_absolute(mean: Floats, variance: Floats) -> Floats:
    """Return E|Z| of a Normal Z; for a point mass, its distance from zero."""
    std = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled = mean / std
        expected = 2 * std * np.exp(-0.5 * np.square(scaled)) / _SQRT_TWO_PI + mean * (2 * ndtr(scaled) - 1)
    return np.where(std > 0.0, expected, np.abs(mean))


def _by_block(score_of: Score, distribution: Distribution, parameters: Floats, y: Floats, n_columns: int) -> Floats:
    size = max(1, _BLOCK_ELEMENTS // n_columns)
    scores = np.empty_like(y)
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        scores[rows] = score_of(distribution, parameters[:, rows], y[rows])
    return scores


def _of_counts(distribution: Distribution, parameters: Floats, y: Floats) -> Floats:
    """Return the sum over counts k of the integral of (F(x) − 1[x ≥ y])² from k to k + 1."""
    lower, upper = _count_limits(distribution, parameters, y)
    counts = lower[:, np.newaxis] + np.arange(int((upper - lower).max()) + 1)
    below = mixtures.cdf(distribution, parameters, counts)
    above = mixtures.sf(distribution, parameters, counts)
    before = np.clip(y[:, np.newaxis] - counts, 0.0, 1.0)  # part of the step from k that lies before y
    score: Floats = (before * np.square(below) + (1.0 - before) * np.square(above)).sum(axis=1)
    return score


def _count_limits(distribution: Distribution, parameters: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and the largest count of each sample that matter, y among them."""
    levels = np.array([_LEFT_OUT, 1.0 - _LEFT_OUT])
    ends = np.stack([distribution.quantile(member[:, np.newaxis], levels) for member in parameters])
    return np.minimum(ends[:, :, 0].min(axis=0), np.floor(y)), np.maximum(ends[:, :, 1].max(axis=0), np.ceil(y))


def _of_intervals(distribution: Distribution, parameters: Floats, y: Floats) -> Floats:
    """Return the integral between the quantiles of all members; the score of y outside them grows with its distance."""
    breaks = np.concatenate(
        [
            y[:, np.newaxis],
            np.broadcast_to(distribution.jumps, (len(y), len(distribution.jumps))),
            *(distribution.quantile(member[:, np.newaxis], _LEVELS) for member in parameters),
        ],
        axis=1,
    )
    breaks.sort(axis=1)
    half = np.diff(breaks, axis=1)[:, :, np.newaxis] / 2
    x = breaks[:, :-1, np.newaxis] + half + half * _NODES
    flat = x.reshape(len(y), -1)
    is_below = flat < y[:, np.newaxis]
    below = mixtures.cdf(distribution, parameters, flat)
    above = mixtures.sf(distribution, parameters, flat)
    weights = (half * _WEIGHTS).reshape(len(y), -1)
    score: Floats = (weights * np.square(np.where(is_below, below, above))).sum(axis=1)
    return score
