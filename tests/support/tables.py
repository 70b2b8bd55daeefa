"""Small tables of numbers, and targets for them. Frames of pandas, polars and Arrow are in `frames.py`."""

import numpy as np


def regression_table(n_samples=150, n_features=3, *, noise=0.3, seed=0):
    """Return X of standard normals and y, its first column with Normal noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_samples, n_features))
    return X, X[:, 0] + noise * random.normal(size=n_samples)


def uniform_table(n_samples=150, n_features=2, *, noise=0.3, seed=0):
    """Return X between -1 and 1 and y, its first column with Normal noise."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1.0, 1.0, size=(n_samples, n_features))
    return X, X[:, 0] + noise * random.normal(size=n_samples)


def two_grades(y):
    """Return the label "low" or "high" for each number."""
    return np.where(np.asarray(y) > 0.0, "high", "low")


def three_grades(y, borders=(-0.5, 0.5)):
    """Return the label "low", "middle" or "high" for each number."""
    return np.array(["low", "middle", "high"])[np.digitize(y, borders)]


def target_for(task, y):
    """Return the target of a task: the numbers, or labels of classes that are cut at quantiles of the numbers."""
    if task == "regression":
        return y
    return np.digitize(y, np.quantile(y, [0.5] if task == "binary" else [0.3, 0.6]))


def with_missing(X, share=0.1, *, seed=0):
    """Return a copy of a table in which a share of the values is missing."""
    return np.where(np.random.default_rng(seed).uniform(size=X.shape) < share, np.nan, X)


def with_first(values, first):
    """Return a copy of an array with another first element."""
    return np.concatenate([[first], values[1:]])


X, Y = regression_table(60, noise=0.1)
"""Sixty rows of three columns, for tests that need any table."""
LABELS = (Y > 0.0).astype(int)
TARGETS = {"regressor": Y, "classifier": LABELS}
