"""Targets of the families that the native core trains with formulas of their own, as it takes them."""

import numpy as np

from epiboost._boosting.objectives import OBJECTIVES

_MAX_ENCODED = 1e18  # what has no bound, in single precision


def bounds_of(duration, rng):
    """Return bounds of durations: some observed, some censored on the right, on the left, or in an interval."""
    kind = rng.integers(0, 4, len(duration))
    lower, upper = np.where(kind == 1, 0.0, duration), np.where(kind == 2, np.inf, duration)
    return np.stack([lower, np.where(kind == 3, 1.5 * duration, upper)], axis=1)


TARGETS = {
    "student": lambda signal, _rng: signal,
    "laplace": lambda signal, _rng: signal,
    "gamma": lambda signal, _rng: np.exp(0.7 * signal),
    "weibull": lambda signal, _rng: np.exp(0.7 * signal),
    "poisson": lambda signal, rng: rng.poisson(np.exp(1.0 + 0.7 * signal)).astype(np.float64),
    "negative_binomial": lambda signal, rng: rng.poisson(rng.gamma(2.0, np.exp(1.0 + 0.7 * signal))).astype(np.float64),
    "beta": lambda signal, _rng: 1.0 / (1.0 + np.exp(-signal)),
    "censored_lognormal": lambda signal, rng: bounds_of(np.exp(0.7 * signal), rng),
    "censored_weibull": lambda signal, rng: bounds_of(np.exp(0.7 * signal), rng),
}
"""Makes a target from a standardised signal."""


def family_objective(name, signal, seed=0):
    """Return the objective of the target that a signal makes."""
    y = TARGETS[name](signal.astype(np.float64), np.random.default_rng(seed))
    weight = np.ones(len(y))
    return OBJECTIVES[name].of(y, weight, 0, OBJECTIVES[name].settings_for(y, weight))


def encoded_target(name, objective, signal, seed=0):
    """Return the target that a signal makes in the units of an objective, in single precision."""
    encoded = objective.encode(TARGETS[name](signal.astype(np.float64), np.random.default_rng(seed)))
    return np.clip(encoded, -_MAX_ENCODED, _MAX_ENCODED).astype(np.float32)
