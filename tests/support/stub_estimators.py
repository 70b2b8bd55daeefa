"""Estimators that read their predictions and uncertainties from the columns of X, and rows for them."""

import numpy as np

from epiboost import Uncertainty


class StubRegressor:
    """The columns of X are the prediction, the total uncertainty and the knowledge uncertainty."""

    def predict(self, X):
        return np.asarray(X)[:, 0]

    def predict_uncertainty(self, X):
        total, knowledge = np.asarray(X, dtype=float)[:, 1:3].T
        return Uncertainty(total, total - knowledge, knowledge, "variance")


class StubClassifier(StubRegressor):
    """The same for the labels 0 and 1."""

    classes_ = np.array([0.0, 1.0])


def abstention_rows(n, seed, *, worst=0.5):
    """Draw rows and labels; the error rate of the prediction 0 grows with uncertainty from 0 to ``worst``."""
    rng = np.random.default_rng(seed)
    uncertainty = rng.uniform(size=n)
    wrong = rng.uniform(size=n) < worst * uncertainty
    return np.column_stack([np.zeros(n), uncertainty, uncertainty / 2]), wrong.astype(float)


def domain_rows(n, seed, shift=0.0):
    """Draw rows whose log knowledge uncertainty is Normal with mean ``shift``."""
    rng = np.random.default_rng(seed)
    knowledge = np.exp(rng.normal(size=n) + shift)
    return np.column_stack([np.zeros(n), knowledge + 1.0, knowledge])
