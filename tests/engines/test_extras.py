"""Each optional library is needed by its own engine alone; without it the error names the extra."""

import subprocess
import sys

import numpy as np
import pytest

from epiboost import EpiBoostRegressor
from epiboost.explain import attribute
from epiboost.report import report

X = np.random.default_rng(0).normal(size=(60, 2))
REPORTS = [("shap", "explain"), ("jinja2", "report"), ("vl_convert", "report")]
LIBRARIES = ["catboost", "lightgbm", "xgboost"]
BLOCKED = """
import sys
for name in {blocked!r}:
    sys.modules[name] = None  # as if it were not installed
import numpy as np
from epiboost import EpiBoostClassifier, EpiBoostRegressor, posterior_from
X = np.random.default_rng(0).normal(size=(60, 2))
small = dict(n_members=2, n_estimators=3, n_jobs=1, random_state=0)
"""
WORKS = """
for engine, ensemble in {engines!r}:
    model = EpiBoostRegressor(engine=engine, ensemble=ensemble, **small).fit(X, X[:, 0])
    assert model.predict_uncertainty(X).knowledge.max() > 0
"""
FAILS = """
for engine in {engines!r}:
    try:
        EpiBoostClassifier(engine=engine, **small).fit(X, X[:, 0] > 0)
    except ImportError as error:
        assert str(error) == (f"engine='{{engine}}' needs the package '{{engine}}'; "
                              f"install it with: pip install 'epiboost[{{engine}}]'"), error
    else:
        raise AssertionError(engine)
"""


def run(code):
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr


def test_without_libraries_native_and_forest_work_and_others_name_their_extra():
    ready = [("native", "sglb"), ("forest", "sgb"), ("forest", "virtual")]
    forest = """
from sklearn.ensemble import RandomForestRegressor
assert posterior_from(RandomForestRegressor(4).fit(X, X[:, 0]), X, 2).n_members == 2
"""
    code = BLOCKED.format(blocked=LIBRARIES) + WORKS.format(engines=ready) + FAILS.format(engines=LIBRARIES) + forest
    run(code)


@pytest.mark.parametrize(
    ("package", "extra", "call"), [("shap", "explain", attribute), *((name, extra, report) for name, extra in REPORTS)]
)
def test_a_package_that_reports_need_is_named_with_its_extra(package, extra, call, monkeypatch):
    model = EpiBoostRegressor(n_members=2, n_estimators=3, n_jobs=1).fit(X, X[:, 0])
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(ImportError, match=rf"{package!r}; install it with: pip install 'epiboost\[{extra}\]'"):
        call(model, X)


@pytest.mark.parametrize("library", LIBRARIES)
def test_each_library_alone_is_enough_for_its_engine(library):
    pytest.importorskip(library)
    others = [other for other in LIBRARIES if other != library]
    code = BLOCKED.format(blocked=others) + WORKS.format(engines=[(library, "sglb")]) + FAILS.format(engines=others)
    run(code)


def test_all_libraries_work_in_one_process():
    for library in LIBRARIES:
        pytest.importorskip(library)
    run(BLOCKED.format(blocked=[]) + WORKS.format(engines=[(library, "sglb") for library in LIBRARIES]))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_file_of_an_engine_whose_library_is_missing_names_the_extra(library, tmp_path, monkeypatch):
    pytest.importorskip(library)
    path = tmp_path / "model.epib"
    EpiBoostRegressor(engine=library, n_members=2, n_estimators=3, n_jobs=1).fit(X, X[:, 0]).save(path)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"pip install 'epiboost\[{library}\]'"):
        EpiBoostRegressor.load(path)
