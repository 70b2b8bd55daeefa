"""Importing the package imports no optional package and no subpackage that only some users need.

scikit-learn imports pandas where it is installed, and pandas imports pyarrow. What dependencies import is not counted.
"""

import importlib.util
from importlib import metadata

import pytest

import epiboost
from tests.support.processes import run_python

OPTIONAL = ["pandas", "polars", "pyarrow", "matplotlib", "typer", "rich", "catboost", "lightgbm", "xgboost"]
OPTIONAL += ["shap", "jinja2", "vl_convert", "playwright", "dask"]
COMPARED = ["ngboost", "pooch", "torch"]
"""Packages that only the experiments of the paper use. Some libraries above import torch, so it is never blocked."""
DEPENDENCIES = "import joblib, narwhals, numpy, scipy.special, sklearn.base, sklearn.utils.multiclass"
TRAINING = """
import numpy as np
from epiboost import EpiBoostClassifier, EpiBoostRegressor
X = np.random.default_rng(0).normal(size=(50, 2))
EpiBoostRegressor(n_members=2, n_estimators=3, n_jobs=1).fit(X, X[:, 0]).predict_uncertainty(X)
EpiBoostClassifier(n_members=2, n_estimators=3, n_jobs=1).fit(X, X[:, 0] > 0).predict_uncertainty(X)
"""


def modules_after(code):
    """Return the names of the modules that a new interpreter has imported after running the code."""
    ended = run_python(f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')")
    assert ended.stderr == ""
    return set(ended.stdout.splitlines())


@pytest.fixture(scope="module")
def dependencies():
    """Return the modules that the dependencies import."""
    return modules_after(DEPENDENCIES)


@pytest.fixture(scope="module")
def imported(dependencies):
    """Return the modules that the package imports in addition."""
    return modules_after("import epiboost") - dependencies


@pytest.mark.parametrize("package", OPTIONAL + COMPARED)
def test_importing_the_package_does_not_import_an_optional_package(imported, package):
    assert package not in imported


def test_the_version_is_that_of_the_installed_package():
    assert epiboost.__version__ == metadata.version("epiboost")


def test_importing_the_package_imports_the_estimators(imported):
    assert {"epiboost", "epiboost._estimators.regressor", "epiboost._estimators.classifier"} <= imported


@pytest.mark.parametrize(
    "subpackage",
    [
        "__main__",
        "_cli",
        "_encoding",
        "datasets",
        "decisions",
        "engines.xgboost",
        "explain",
        "metrics",
        "paper",
        "plots",
        "report",
    ],
)
def test_importing_the_package_does_not_import_subpackages_that_few_users_need(imported, subpackage):
    assert importlib.util.find_spec(f"epiboost.{subpackage}"), "no such subpackage"
    assert f"epiboost.{subpackage}" not in imported


def test_training_and_predicting_on_arrays_imports_no_optional_package(dependencies):
    assert (modules_after(TRAINING) - dependencies).isdisjoint(OPTIONAL)


def test_training_and_predicting_on_arrays_works_without_optional_packages():
    without = f"import sys\nsys.modules.update(dict.fromkeys({OPTIONAL!r}))\n"  # importing None fails
    ended = run_python(without + TRAINING + "print('done')")
    assert (ended.stdout, ended.stderr) == ("done\n", "")


def test_public_names_can_be_imported():
    import epiboost

    assert set(epiboost.__all__) >= {"EpiBoostClassifier", "EpiBoostRegressor", "Posterior", "Uncertainty"}
    for name in epiboost.__all__:
        assert getattr(epiboost, name).__name__ == name
