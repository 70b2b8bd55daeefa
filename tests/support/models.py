"""Small models that train in milliseconds, and the ensembles, estimators and tasks that tests run over."""

import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor

ENSEMBLES = ("single", "sgb", "sglb", "virtual")
ESTIMATORS = {"regressor": EpiBoostRegressor, "classifier": EpiBoostClassifier}
TASKS = ("regression", "binary", "multiclass")
ESTIMATOR_OF = {
    **ESTIMATORS,
    "regression": EpiBoostRegressor,
    "binary": EpiBoostClassifier,
    "multiclass": EpiBoostClassifier,
}

SMALL = {"n_members": 3, "n_estimators": 30, "n_jobs": 1, "random_state": 0}
"""Parameters of a small model. A test that needs another size names it: `small_regressor(n_estimators=100)`."""

every_ensemble = pytest.mark.parametrize("ensemble", ENSEMBLES)
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)
every_task = pytest.mark.parametrize("task", TASKS)


def small_regressor(**changes):
    """Return a small regressor that is not fitted."""
    return EpiBoostRegressor(**{**SMALL, **changes})


def small_classifier(**changes):
    """Return a small classifier that is not fitted."""
    return EpiBoostClassifier(**{**SMALL, **changes})


def small_estimator(name, **changes):
    """Return a small estimator for a name of ESTIMATORS or TASKS that is not fitted."""
    return ESTIMATOR_OF[name](**{**SMALL, **changes})
