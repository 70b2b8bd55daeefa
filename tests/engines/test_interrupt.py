"""Ctrl-C ends a fit of any engine before its last tree."""

import subprocess
import sys

import pytest

FITS = [
    ("catboost", "single"),
    ("lightgbm", "single"),
    ("lightgbm", "sgb"),
    ("xgboost", "single"),
    ("forest", "single"),
]
CODE = """
import os, signal, threading
import numpy as np
from epiboost import EpiBoostRegressor
X = np.random.default_rng(0).normal(size=(3000, 10))
model = EpiBoostRegressor(engine={engine!r}, ensemble={ensemble!r}, n_members=4, n_estimators=2_000_000, n_jobs=2)
threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.fit(X, X[:, 0])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(("engine", "ensemble"), FITS)
def test_an_interrupt_ends_a_fit_of_hours_within_a_minute(engine, ensemble):
    if engine != "forest":
        pytest.importorskip(engine)
    code = CODE.format(engine=engine, ensemble=ensemble)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout == "interrupted\n", ended.stderr
