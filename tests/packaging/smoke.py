"""Uses an installed package a little: ``python smoke.py [extra ...]`` tries the core, or what these extras add.

It is run by the tests of the wheel, and by cibuildwheel on each platform.
"""

import contextlib
import importlib
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from epiboost import EpiBoostClassifier, EpiBoostRegressor, decisions, metrics

SMALL = {"n_members": 2, "n_estimators": 5, "n_jobs": 1, "random_state": 0}
X = np.random.default_rng(0).normal(size=(80, 3))
Y = X[:, 0] + X[:, 1] ** 2


def core():
    model = EpiBoostRegressor(**SMALL).fit(X, Y)
    assert metrics.crps_loss(Y, model.predict_posterior(X)) > 0
    assert len(decisions.acquire(model, X, 5)) == 5
    assert EpiBoostClassifier(**SMALL).fit(X, Y > 1).predict_proba(X).shape == (80, 2)


def engine(name):
    model = EpiBoostRegressor(engine=name, **SMALL).fit(X, Y)
    assert (model.predict_uncertainty(X).total > 0).all()


def command(*arguments):
    subprocess.run([sys.executable, "-m", "epiboost", *map(str, arguments)], check=True, timeout=120)


def cli():
    table = Path("rows.csv")
    np.savetxt(table, np.column_stack([X, Y]), delimiter=",", header="a,b,c,y", comments="")
    command("fit", table, "--target", "y", "--members", 2, "--trees", 5, "-o", "model.epib")
    command("predict", "model.epib", table, "-o", "out.parquet")
    assert Path("out.parquet").stat().st_size > 0


def demo():
    command("demo", "--members", 2, "--trees", 10, "-o", "heart.png")
    assert Path("heart.png").read_bytes().startswith(b"\x89PNG")


def plot():
    from epiboost.plots import DomainDisplay

    DomainDisplay.from_estimator(EpiBoostRegressor(**SMALL).fit(X, Y), X, X + 5)


def frames():
    for library in ("pandas", "polars"):
        frame = importlib.import_module(library).DataFrame(dict(zip("abc", X.T, strict=True)))
        model = EpiBoostRegressor(**SMALL).fit(frame, Y)
        assert len(model.predict_uncertainty(frame).to_frame(backend=library)) == len(X)


def dask():
    arrays = importlib.import_module("dask.array")
    model = EpiBoostRegressor(**SMALL).fit(X, Y)
    assert model.predict(arrays.from_array(X, chunks=(40, 3))).compute(scheduler="synchronous").shape == (80,)
    importlib.import_module("distributed")


def explain():
    from epiboost.explain import attribute

    assert attribute(EpiBoostRegressor(**SMALL).fit(X, Y), X[:2], background=X[:10]).values.shape == (2, 3)


def report():
    from epiboost.report import report as make_report

    make_report(EpiBoostRegressor(**SMALL).fit(X, Y), X, Y, path="report.html")
    assert "<html" in Path("report.html").read_text(encoding="utf-8")


def paper():
    importlib.import_module("epiboost.paper")
    for package in ("ngboost", "pooch", "tqdm"):
        importlib.import_module(package)
    command("reproduce", "--help")


SMOKE = {
    "core": core,
    "demo": demo,
    "cli": cli,
    "plot": plot,
    "frames": frames,
    "catboost": lambda: engine("catboost"),
    "lightgbm": lambda: engine("lightgbm"),
    "xgboost": lambda: engine("xgboost"),
    "dask": dask,
    "explain": explain,
    "report": report,
    "paper": paper,
}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in sys.argv[1:] or ["core"]:
            SMOKE[name]()
