"""Fixtures of the tests of estimators."""

import pytest

from epiboost._files import model_file
from tests.support.calibration import HELD_OUT, TARGETS, TRAIN, X
from tests.support.models import ESTIMATORS, small_estimator


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Return the path of a model file; writing it does not wait for the disk, as thousands of files are written."""
    monkeypatch.setattr(model_file.os, "fsync", lambda _file: None)
    return tmp_path / "model.epib"


@pytest.fixture(scope="session")
def models():
    """Return a fitted model of each estimator, by name."""
    size = {"n_estimators": 60, "max_depth": 3}
    return {name: small_estimator(name, **size).fit(X[TRAIN], TARGETS[name][TRAIN]) for name in ESTIMATORS}


@pytest.fixture(scope="session")
def calibrated(models):
    """Return those models after calibration on held-out rows, by name."""
    return {name: model.calibrate(X[HELD_OUT], TARGETS[name][HELD_OUT]) for name, model in models.items()}
