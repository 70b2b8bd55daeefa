"""A table and small models that the tests of decisions share."""

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor


@pytest.fixture(scope="session")
def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 2))
    return X, X[:, 0] + 0.3 * rng.normal(size=1500)


@pytest.fixture(scope="session")
def models(table):
    """Models that were trained on the first 300 rows."""
    X, y = table
    small = {"n_members": 4, "n_estimators": 60, "max_depth": 3, "n_jobs": 1, "random_state": 0}
    return {
        "regressor": EpiBoostRegressor(**small).fit(X[:300], y[:300]),
        "classifier": EpiBoostClassifier(**small).fit(X[:300], np.digitize(y[:300], [-0.3, 0.3])),
    }
