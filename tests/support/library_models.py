"""Models of libraries as a model file holds them, and changes to them."""

from functools import cache

import numpy as np
import pytest

from epiboost import EpiBoostRegressor
from epiboost.engines.model_files.trees import ModelShape

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(120, 3)).round(2)
X[:, 2] = RANDOM.integers(0, 6, size=120)
Y = X[:, 0] + np.array([0.0, 2.0, -1.0, 0.5, 3.0, -2.0])[X[:, 2].astype(int)]


@cache
def fitted(engine):
    """Return a small model of a table with one categorical column."""
    pytest.importorskip(engine)
    options = {"min_data_per_group": 5} if engine == "lightgbm" else {}
    small = {"n_members": 1, "n_estimators": 4, "max_depth": 3, "learning_rate": 0.3, "n_jobs": 1, "random_state": 0}
    model = EpiBoostRegressor(
        engine=engine, ensemble="single", out_of_fold=0, categorical_features=[2], engine_params=options, **small
    )
    return model.fit(X, Y)


def library_model(engine):
    """Return the bytes of the library's model in the file, and its shape."""
    forest = fitted(engine).forest_
    return forest.to_file()[1]["models"].tobytes(), ModelShape(forest.n_codes, 2)


def replace_array(content, array, place, value):
    """Return bytes in which an array, found by its values, has another element."""
    assert content.count(array.tobytes()) == 1
    changed = array.copy()
    changed[place] = value
    return content.replace(array.tobytes(), changed.tobytes())
