"""Every engine and every task, for the contract tests."""

import importlib.util

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.engines import engine_names, register_engine, unregister_engine
from tests.support.engines import LIBRARIES
from tests.support.toy_engine import ToyEngine, ToyForest

N_ROWS = 150


@pytest.fixture
def toy():
    """The name of a third party's engine, registered for the test."""
    register_engine("toy", ToyEngine, ToyForest.from_file)
    yield "toy"
    if "toy" in engine_names():
        unregister_engine("toy")


@pytest.fixture(params=["toy", *engine_names()])
def engine(request):
    """The name of an engine."""
    if request.param in LIBRARIES and importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.getfixturevalue("toy") if request.param == "toy" else request.param


@pytest.fixture(params=["regressor", "two classes", "three classes"])
def task(request):
    """An estimator class, a table with missing values and its target."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(N_ROWS, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) + 0.5 * np.nan_to_num(X[:, 1])
    noisy = signal + rng.normal(scale=0.2, size=N_ROWS)
    if request.param == "regressor":
        return EpiBoostRegressor, X, 100 + 10 * noisy
    words = np.array(["no", "yes"] if request.param == "two classes" else ["no", "maybe", "yes"])
    return EpiBoostClassifier, X, words[np.digitize(noisy, [0] if len(words) == 2 else [-0.3, 0.3])]
