"""Posteriors of XGBoost models."""

import json
from typing import Any

import numpy as np
from scipy.special import softmax

from epiboost._optional import require
from epiboost._posterior.fitted.stages import (
    custom_objective_error,
    probabilities_of_two,
    stages_of,
    warn_about_stages,
)
from epiboost._posterior.posterior import Posterior
from epiboost._typing import Estimator, LibraryObject, Table

_TWO_CLASSES = ("binary:logistic", "binary:logitraw", "reg:logistic")
_MANY_CLASSES = ("multi:softprob", "multi:softmax")
_WITHOUT_MEAN = ("binary:hinge", "rank:", "survival:", "reg:quantileerror", "reg:expectileerror")


def xgboost_posterior(estimator: Estimator, X: Table, n_members: int) -> Posterior | None:
    """Return the posterior of an XGBoost model, None for any other model."""
    is_booster = hasattr(estimator, "num_boosted_rounds")
    if not is_booster and not hasattr(estimator, "get_booster"):
        return None
    booster = estimator if is_booster else estimator.get_booster()
    objective = _check_objective(estimator, booster)
    best, last = booster.attr("best_iteration"), int(booster.num_boosted_rounds())
    trees = last if best is None else int(best) + 1
    stages = stages_of(trees, n_members)
    warn_about_stages(estimator, langevin=False, stopped_early=trees < last)
    table = _matrix(X) if is_booster else X
    raw = objective in _TWO_CLASSES or objective in _MANY_CLASSES
    predictions = [estimator.predict(table, output_margin=raw, iteration_range=(0, stage)) for stage in stages]
    members = np.stack(predictions).astype(np.float64)
    if objective not in _MANY_CLASSES and members[0].size != len(members[0]):
        message = f"the model must have one target; this one has {members.shape[2]}"
        raise ValueError(message)
    if objective in _MANY_CLASSES:
        return Posterior(softmax(members, axis=2), "categorical")
    if objective in _TWO_CLASSES:
        return Posterior(probabilities_of_two(members), "categorical")
    return Posterior(members.reshape(*members.shape[:2], -1), "mean")


def _check_objective(estimator: Estimator, booster: LibraryObject) -> str:
    """Return the objective; raise a ValueError if the model's predictions are no posterior."""
    learner: dict[str, Any] = json.loads(booster.save_config())["learner"]
    objective = str(learner["objective"]["name"])
    if objective.startswith(_WITHOUT_MEAN):
        message = (
            f"posterior_from does not support the objective {objective!r}, which predicts neither a mean nor class "
            "probabilities"
        )
        raise ValueError(message)
    if callable(getattr(estimator, "objective", None)):
        raise custom_objective_error()
    trees = learner["gradient_booster"]
    if trees["name"] != "gbtree":
        message = f"booster={trees['name']!r} has no stages; posterior_from needs booster='gbtree'"
        raise ValueError(message)
    parallel_trees = int(trees["gbtree_model_param"]["num_parallel_tree"])
    if parallel_trees > 1 and booster.num_boosted_rounds() == 1:
        message = (
            f"this {type(estimator).__name__} is a random forest: its {parallel_trees} trees are one boosting round "
            "and have no stages"
        )
        raise ValueError(message)
    return objective


def _matrix(X: Table) -> LibraryObject:
    """Return the table as a raw booster takes it."""
    library = require("xgboost", extra="xgboost", purpose="posterior_from")
    return X if isinstance(X, library.DMatrix) else library.DMatrix(X, enable_categorical=True)
