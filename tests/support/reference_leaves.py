"""Leaves of the reference trainer: the rows that fall into them, the weights of these rows, and the leaf values."""

import numpy as np

from tests.support.reference_noise import SUBSAMPLE, bits, noise_key


def sampled_weight(recipe, weight, keys, seed, tree):
    """Return the weight of each row in this tree; a row of weight w is drawn about w times."""
    if recipe.subsample == 1:
        return weight
    n_draws = np.clip(np.ceil(weight), 1, 64).astype(int)
    n_drawn = np.zeros(len(weight), dtype=int)
    for draw in range(n_draws.max()):
        drawn = bits(noise_key(seed, tree, SUBSAMPLE, 0), keys + np.uint32((draw * 0x9E3779B9) & 0xFFFFFFFF))
        n_drawn += (draw < n_draws) & (drawn < min(recipe.subsample * 2.0**32, 2.0**32 - 1))
    return weight * n_drawn / n_draws


def leaves_of(bins, features, thresholds, parents):
    """Return the leaf of each row in a tree."""
    leaf = np.zeros(len(bins), dtype=int)
    for split, (f, t) in enumerate(zip(features, thresholds, strict=True)):
        above = bins[:, f] > t
        if len(parents):
            leaf[(leaf == parents[split]) & above] = split + 1
        else:
            leaf |= above.astype(int) << split
    return leaf


def mean_gradient(gradient, total):
    """Return the regularised mean gradient of a leaf; zero for an empty leaf."""
    return np.where(total > 1e-20, gradient / np.maximum(total, 1e-20), 0.0)


STEP_BOUNDS = {
    "normal": (None, "dispersion"),
    "laplace": (None, "mean"),
    "gamma": ("mean", "dispersion"),
    "weibull": (None, "dispersion"),
    "poisson": ("mean",),
    "negative_binomial": ("mean", "mean"),
    "beta": (None, "dispersion"),
    "censored_lognormal": (None, "dispersion"),
    "censored_weibull": (None, "dispersion"),
}
"""Outputs whose steps are bounded, by objective: those of a log dispersion, and of the logarithm of a mean."""


def steps(recipe, gradient):
    """Return the leaf values for mean gradients; a log standard deviation does not go up past the best of its leaf."""
    values = -recipe.learning_rate * gradient
    for k, bound in enumerate(STEP_BOUNDS.get(recipe.objective, ())):
        if bound is not None:
            size, factor = (2.0, 0.5) if bound == "dispersion" else (1.0, 1.0)
            best = factor * np.log(np.maximum(1 - size * gradient[:, k], 1.0))
            values[:, k] = np.where(values[:, k] > 0, np.minimum(values[:, k], best), values[:, k])
    return values


def neighbour_weight(bins, weight):
    """Return the weight of the other rows with the same bins; all but one copy of a row are among them."""
    cell = np.cumsum(np.concatenate([[True], (bins[1:] != bins[:-1]).any(axis=1)])) - 1
    return np.bincount(cell, weight)[cell] - np.minimum(weight, 1.0)
