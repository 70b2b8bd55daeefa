"""Without extras the package trains, measures and decides; what needs one says which, in one line."""

import json
import re

import numpy as np
import pytest

from tests.support.environments import link_packages, names_needed, run_in

ANY = "[^\n]+"
REMEDY = r"install it with: pip install 'epiboost\[{}\]'"
CORE = """
import numpy as np
from epiboost import EpiBoostClassifier, EpiBoostRegressor, load, posterior_from
X = np.random.default_rng(0).normal(size=(60, 2))
small = dict(n_members=2, n_estimators=3, n_jobs=1, random_state=0)
model = EpiBoostRegressor(**small).fit(X, X[:, 0])
"""
WORKS = """
from epiboost import decisions, metrics
classifier = EpiBoostClassifier(**small).fit(X, X[:, 0] > 0)
assert metrics.crps_loss(X[:, 0], model.predict_posterior(X)) > 0
assert len(decisions.acquire(model, X, 5)) == 5
assert decisions.Abstainer(classifier, coverage=0.8).fit(X, X[:, 0] > 0)
assert model.calibrate(X, X[:, 0]).predict_interval(X).shape == (60, 2)
assert classifier.predict_proba(X).shape == (60, 2)
"""
CALLS = [
    ("catboost", "EpiBoostRegressor(engine='catboost', **small).fit(X, X[:, 0])"),
    ("dask", "EpiBoostRegressor(n_members=2, n_estimators=3, n_jobs='dask').fit(X, X[:, 0])"),
    ("deep", "from epiboost.paper.methods.deep_ensembles import Networks; Networks(X, X[:, 0], units=2, seed=0)"),
    ("explain", "from epiboost.explain import attribute; attribute(model, X)"),
    ("frames", "model.predict_uncertainty(X).to_frame()"),
    ("frames", "model.predict_uncertainty(X).to_frame(backend='polars')"),
    ("lightgbm", "EpiBoostRegressor(engine='lightgbm', **small).fit(X, X[:, 0])"),
    ("paper", "from epiboost.datasets import load; load('boston')"),
    ("plot", "from epiboost.plots import DomainDisplay; DomainDisplay.from_estimator(model, X, X + 5)"),
    ("report", "from epiboost.report import report; report(model, X, explain=False)"),
    ("xgboost", "EpiBoostRegressor(engine='xgboost', **small).fit(X, X[:, 0])"),
]
MESSAGES = """
import json, sys
messages = []
for call in json.loads(sys.argv[1]):
    try:
        exec(call)
    except ImportError as error:
        messages.append(str(error))
    else:
        messages.append("no error")
print(json.dumps(messages))
"""
COMMANDS = {
    "demo": ["demo"],
    "explain": ["explain", "model.epib", "rows.csv", "-o", "out.csv"],
    "plot": ["evaluate", "model.epib", "rows.csv", "--target", "y", "--plots", "plots"],
    "report": ["report", "model.epib", "rows.csv", "--target", "y", "-o", "report.html"],
}


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """Return a folder with the package and what it needs without extras."""
    return link_packages(tmp_path_factory.mktemp("core") / "packages", {"epiboost", *names_needed()})


@pytest.fixture(scope="module")
def command_line(tmp_path_factory):
    """Return a folder with the package and its command line, beside a table and a model."""
    folder = link_packages(tmp_path_factory.mktemp("cli") / "packages", {"epiboost", *names_needed(extras=["cli"])})
    table = np.random.default_rng(0).normal(size=(60, 3))
    np.savetxt(folder.parent / "rows.csv", table, delimiter=",", header="a,b,y", comments="")
    fit = ["fit", "rows.csv", "--target", "y", "-o", "model.epib", "--members", "2", "--trees", "3"]
    ended = run_in(folder, "-S", "-m", "epiboost", *fit)
    assert ended.returncode == 0, ended.stderr
    return folder


def test_the_core_trains_measures_and_decides(core):
    ended = run_in(core, "-S", "-c", CORE + WORKS)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_call_without_its_extra_is_an_error_of_one_line_that_names_it(core):
    ended = run_in(core, "-S", "-c", CORE + MESSAGES, json.dumps([call for _, call in CALLS]))
    assert ended.returncode == 0, ended.stderr
    for (extra, call), message in zip(CALLS, json.loads(ended.stdout), strict=True):
        assert re.fullmatch(rf"{ANY} needs the package '{ANY}'; {REMEDY.format(extra)}", message), call


def test_the_command_line_without_its_extra_is_one_line_that_names_it(core):
    ended = run_in(core, "-S", "-m", "epiboost", "demo")
    line = "epiboost: the command line needs the package 'typer'; install it with: pip install 'epiboost[demo]'\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", line)


@pytest.mark.parametrize("extra", COMMANDS)
def test_a_command_without_its_extra_is_one_line_that_names_it(command_line, extra):
    ended = run_in(command_line, "-S", "-m", "epiboost", *COMMANDS[extra])
    assert ended.returncode == 2
    assert re.fullmatch(rf"epiboost: {ANY} needs the package '{ANY}'; {REMEDY.format(extra)}\n", ended.stderr)
