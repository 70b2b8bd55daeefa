"""Small fitted models for tests that save them, and targets of every type of label."""

import numpy as np

from tests.support.compare import parameters_of
from tests.support.models import small_estimator

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 3)).round(2)
X[RANDOM.uniform(size=X.shape) < 0.05] = np.nan
Y = np.where(np.isnan(X[:, 0]), 0.0, X[:, 0]) + RANDOM.normal(scale=0.2, size=80)
CLASSES = np.digitize(Y, [-0.5, 0.5])

TARGETS = {
    "numbers": Y,
    "two integer labels": CLASSES % 2 + 5,
    "integer labels": CLASSES - 1,
    "text labels": np.array(["low", "middle", "high — Ω"])[CLASSES],
    "boolean labels": CLASSES > 0,
    "text objects": np.array(["low", "middle", "high"], dtype=object)[CLASSES],
    "float labels": CLASSES.astype(float),
}


def fitted(target="numbers", ensemble="sglb", *, table=X, **changes):
    """Return a fitted model: a regressor for the target "numbers", a classifier for the others."""
    size = {"n_estimators": 6, "max_depth": 3, "learning_rate": 0.3}
    model = small_estimator(
        "regressor" if target == "numbers" else "classifier", ensemble=ensemble, **{**size, **changes}
    )
    return model.fit(table, TARGETS[target])


def assert_same_model(one, other, table=X):
    """Assert that two models predict the same bits and have the same parameters."""
    np.testing.assert_array_equal(parameters_of(one, table), parameters_of(other, table), strict=True)
    np.testing.assert_array_equal(one.predict(table), other.predict(table), strict=True)
    assert one.get_params() == other.get_params()
    for name in ("n_features_in_", "prefixes_"):
        assert getattr(one, name) == getattr(other, name)
    np.testing.assert_array_equal(one.n_iter_, other.n_iter_, strict=True)
