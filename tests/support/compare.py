"""Comparisons of models, bit by bit."""

import numpy as np

TREES = ("feature", "threshold", "parent", "leaf", "count")


def parameters_of(model, X):
    """Return the parameters of the predicted posterior, of shape (members, samples, outputs)."""
    return model.predict_posterior(X).parameters


def assert_same_trees(one, other, names=TREES):
    """Assert that two models have the same trees, bit by bit."""
    for name in names:
        np.testing.assert_array_equal(getattr(one.forest_, name), getattr(other.forest_, name), err_msg=name)
