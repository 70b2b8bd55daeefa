"""Losses of censored durations, by which ensembles of other lengths and trees are compared.

A single chain is too sure of itself from an early tree on, and its ensemble is recalibrated. So its loss is taken at
the best of a few common factors on its dispersions.
"""

import numpy as np

from epiboost._boosting.objectives import distribution_of, log_likelihood
from epiboost._typing import Floats

_SHIFTS = np.linspace(-0.25, 1.5, 8)  # of the log dispersion
_LARGE = 1e3  # a loss that no row exceeds, so that one row does not decide
_ENOUGH_ROWS = 20_000


def least_loss(objective: str, parameters: Floats, y: Floats, weight: Floats) -> float:
    """Return the mean negative log-likelihood at the best common factor on the dispersions.

    Parameters
    ----------
    objective : str
    parameters : array of shape (n, outputs)
    y : array of shape (n, 2)
    weight : array of shape (n,)

    Examples
    --------
    >>> sure = np.array([[0.0, 1e-4], [0.0, 1e-4]])
    >>> bool(least_loss("censored_lognormal", sure, np.array([[2.0, 2.0], [0.5, np.inf]]), np.ones(2)) < 500.0)
    True
    """
    distribution = distribution_of(objective)
    rows = np.linspace(0, len(y) - 1, min(len(y), _ENOUGH_ROWS)).astype(np.int64)
    parameters, y, weight = parameters[rows], y[rows], weight[rows]
    link = distribution.link(parameters)
    losses = []
    for shift in _SHIFTS:
        changed = distribution.from_link(link + np.array([0.0, shift]), parameters)
        with np.errstate(all="ignore"):
            of_rows = -log_likelihood(objective, distribution, changed, y)
        bounded = np.minimum(np.nan_to_num(of_rows, nan=_LARGE, posinf=_LARGE), _LARGE)
        losses.append(float(np.average(bounded, weights=weight)))
    return min(losses)


def averaging_gain(objective: str, first: Floats, second: Floats, y: Floats, weight: Floats) -> float:
    """Return by how much the average of very many chains is better than one, from two that differ in their seeds.

    A location that is off by d costs d² / 2 in units of an observed row's variance. A row that was not observed says
    less of its location; it is left out.
    """
    distribution = distribution_of(objective)
    one, other = distribution.link(first), distribution.link(second)
    square = np.square(one[:, 0] - other[:, 0]) * np.exp(-one[:, 1] - other[:, 1])
    known = np.isfinite(y[:, 1])
    return float(0.25 * (weight * known * np.minimum(square, _LARGE)).sum() / weight.sum())


def average(objective: str, chains: Floats) -> Floats:
    """Return the parameters of averaged locations and log dispersions, over the first axis."""
    distribution = distribution_of(objective)
    return distribution.from_link(distribution.link(chains).mean(axis=0), chains[0])


def censored_mixture(objective: str, parameters: Floats, y: Floats) -> Floats:
    """Return the log-likelihood of bounds by the mixture of the members, shape (n,).

    Parameters
    ----------
    objective : str
    parameters : array of shape (members, n, outputs)
    y : array of shape (n, 2)
    """
    distribution = distribution_of(objective)
    total = np.full(len(y), -np.inf)
    for member in parameters:
        np.logaddexp(total, log_likelihood(objective, distribution, member, y), out=total)
    mixture: Floats = np.maximum(total - np.log(len(parameters)), -_LARGE)
    return mixture
