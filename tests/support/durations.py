"""Censored durations for tests."""

import numpy as np


def events(time, event):
    """Return a target as scikit-survival takes it."""
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


def table_of_durations(family, n=1500, seed=0):
    """Return X, durations, right-censored y and the true median of each row: scale and location depend on X."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 3))
    scale = np.where(X[:, 1] > 0.0, 0.6, 0.3)
    deviation = rng.normal(size=n) if family == "lognormal" else np.log(rng.exponential(size=n))
    middle = 0.0 if family == "lognormal" else np.log(np.log(2.0))
    duration = np.exp(1.0 + X[:, 0] + scale * deviation)
    censoring = rng.exponential(8.0, size=n)
    y = events(np.minimum(duration, censoring), duration <= censoring)
    return X, duration, y, np.exp(1.0 + X[:, 0] + scale * middle)
