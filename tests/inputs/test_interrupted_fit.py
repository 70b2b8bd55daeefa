"""Training that is stopped: by an error in the progress callback, or by an interrupt."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from epiboost import _progress
from epiboost._boosting.recipe import Recipe
from epiboost._inputs.dataset import Dataset
from epiboost.engines.native.engine import NativeEngine
from tests.support.models import every_estimator, small_estimator


@every_estimator
@pytest.mark.parametrize(("ensemble", "n_jobs"), [("sglb", 1), ("sglb", 2), ("virtual", 1), ("virtual", 2)])
def test_an_error_in_the_progress_callback_stops_the_training(estimator, ensemble, n_jobs, monkeypatch):
    class EnoughError(Exception):
        pass

    def report(_done, _total):
        raise EnoughError

    monkeypatch.setattr(_progress, "no_progress", report)
    random = np.random.default_rng(0)
    table = random.normal(size=(5000, 5))
    model = small_estimator(estimator, ensemble=ensemble, n_estimators=20_000, n_members=4, max_depth=2, n_jobs=n_jobs)
    began = time.monotonic()
    with pytest.raises(EnoughError):
        model.fit(table, table[:, 0] if estimator == "regressor" else table[:, 0] > 0)
    assert time.monotonic() - began < 5.0
    with pytest.raises(NotFittedError):
        model.predict(table)


def test_the_engine_reports_trees_done_of_all_trees():
    reports = []
    random = np.random.default_rng(0)
    table = random.normal(size=(5000, 5))
    data = Dataset(table, table[:, 0], np.ones(5000), n_classes=0)
    specs = Recipe(n_members=3, n_estimators=60, learning_rate=0.1, max_depth=6).specs(0)
    NativeEngine(n_jobs=2).fit(data, specs, lambda done, total: reports.append((done, total)))
    assert [total for _, total in reports] == [180] * len(reports)
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)
    assert reports[-1] == (180, 180)


LONG_TRAINING = """
import sys
import numpy as np
from sklearn.exceptions import NotFittedError
from epiboost import EpiBoostRegressor
from epiboost import _progress

_progress.no_progress = lambda done, total: print("training", done, flush=True)
X = np.random.default_rng(0).normal(size=(30_000, 10))
model = EpiBoostRegressor(ensemble=sys.argv[1], n_members=int(sys.argv[2]), n_estimators=20_000, n_jobs=2)
try:
    model.fit(X, X[:, 0])
except KeyboardInterrupt:
    print("interrupted", flush=True)
try:
    model.predict(X)
except NotFittedError:
    print("not fitted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize(("ensemble", "members"), [("sglb", 4), ("virtual", 10)])
def test_an_interrupt_stops_a_long_training_within_seconds(ensemble, members):
    command = [sys.executable, "-c", LONG_TRAINING, ensemble, str(members)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline().startswith("training")
            child.send_signal(signal.SIGINT)
            began = time.monotonic()
            output, errors = child.communicate(timeout=60)
            took = time.monotonic() - began
        finally:
            child.kill()
    assert [line for line in output.splitlines() if not line.startswith("training")] == ["interrupted", "not fitted"]
    assert errors == ""
    assert took < 3.0
