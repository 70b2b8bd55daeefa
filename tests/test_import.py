"""The package is light to import: nothing that only some users have is touched before it is asked for.

scikit-learn takes pandas in where that is installed, and pandas takes pyarrow in: what it brings is not counted here.
"""

import subprocess
import sys

import pytest

OPTIONAL = ["pandas", "polars", "pyarrow", "matplotlib", "typer", "rich", "catboost", "lightgbm", "xgboost"]
OPTIONAL += ["shap", "jinja2", "vl_convert", "playwright", "dask"]
COMPARED = ["ngboost", "pooch", "torch"]
"""What only the paper's experiments touch; libraries below look for torch by themselves, so it is not blocked here."""
DEPENDENCIES = "import joblib, narwhals, numpy, scipy.special, sklearn.base, sklearn.utils.multiclass"
TRAINING = """
import numpy as np
from epiboost import EpiBoostClassifier, EpiBoostRegressor
X = np.random.default_rng(0).normal(size=(50, 2))
EpiBoostRegressor(n_members=2, n_estimators=3, n_jobs=1, verbose=1).fit(X, X[:, 0]).predict_uncertainty(X)
EpiBoostClassifier(n_members=2, n_estimators=3, n_jobs=1, verbose=1).fit(X, X[:, 0] > 0).predict_uncertainty(X)
"""


def run(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def modules_after(code):
    """Return the names of the modules that a new interpreter has after it has run the code."""
    ended = run(f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')")
    assert ended.stderr == ""
    return set(ended.stdout.splitlines())


@pytest.fixture(scope="module")
def brought():
    """Return what the packages that the library depends on import by themselves."""
    return modules_after(DEPENDENCIES)


@pytest.fixture(scope="module")
def imported(brought):
    return modules_after("import epiboost") - brought


@pytest.mark.parametrize("package", OPTIONAL + COMPARED)
def test_importing_the_package_does_not_import(imported, package):
    assert package not in imported


def test_importing_the_package_imports_the_estimators(imported):
    assert {"epiboost", "epiboost._estimators.regressor", "epiboost._estimators.classifier"} <= imported


@pytest.mark.parametrize(
    "part",
    ["cli", "commands", "demo", "evaluation", "paper", "plots", "tables", "metrics", "decisions", "report", "explain"],
)
def test_importing_the_package_leaves_the_command_line_and_the_plots_out(imported, part):
    assert f"epiboost.{part}" not in imported


def test_training_and_predicting_on_arrays_imports_none_of_them(brought):
    assert (modules_after(TRAINING) - brought).isdisjoint(OPTIONAL)


def test_training_and_predicting_on_arrays_works_without_any_of_them():
    without = f"import sys\nsys.modules.update(dict.fromkeys({OPTIONAL!r}))\n"  # None: an import of it fails
    ended = run(without + TRAINING + "print('done')")
    assert (ended.stdout, ended.stderr) == ("done\n", "")


def test_the_public_names_are_there():
    import epiboost

    assert set(epiboost.__all__) >= {"EpiBoostClassifier", "EpiBoostRegressor", "Posterior", "Uncertainty"}
    for name in epiboost.__all__:
        assert getattr(epiboost, name).__name__ == name
