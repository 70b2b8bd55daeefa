"""Models of families beside the Normal, and tables that are drawn from them."""

import functools

import numpy as np

from epiboost import EpiBoostRegressor

SMALL = {"n_members": 3, "n_estimators": 30, "n_jobs": 1, "random_state": 0}
FAMILIES = ("poisson", "student")


def family_table(family, n=900, seed=0):
    """Return a table and a target that is drawn from a family."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    location = np.sin(2 * X[:, 0])
    if family == "poisson":
        return X, rng.poisson(np.exp(1.0 + location)).astype(float)
    return X, location + 0.3 * rng.standard_t(4.0, size=n)


@functools.cache
def family_model(family):
    """Return a small model of a family, and 300 rows that it has not seen with their targets."""
    X, y = family_table(family)
    return EpiBoostRegressor(distribution=family, **SMALL).fit(X[:600], y[:600]), X[600:], y[600:]
