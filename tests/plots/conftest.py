"""Models and Axes that the tests of displays share."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from epiboost import EpiBoostClassifier, EpiBoostRegressor

mpl.use("agg")  # no windows


@pytest.fixture
def axes():
    """Return a function that makes a number of Axes outside pyplot."""
    return lambda count: list(np.ravel(Figure().subplots(1, count)))


@pytest.fixture
def ax(axes):
    return axes(1)[0]


@pytest.fixture(scope="session")
def models():
    """A regressor of y, a classifier of y > 0, and test rows X with their y."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + rng.normal(scale=0.5, size=200)
    small = {"n_members": 3, "n_estimators": 20, "n_jobs": 1, "random_state": 0}
    regressor = EpiBoostRegressor(**small).fit(X[:100], y[:100])
    classifier = EpiBoostClassifier(**small).fit(X[:100], y[:100] > 0)
    return {"X": X[100:], "y": y[100:], "regressor": regressor, "classifier": classifier}
