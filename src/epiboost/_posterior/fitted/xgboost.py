"""Stages of XGBoost's models."""

import importlib
import json
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from epiboost._posterior.fitted.stages import stages_of, warn_of
from epiboost._posterior.posterior import Posterior

_BINARY = ("binary:logistic", "binary:logitraw", "reg:logistic")
_MULTICLASS = ("multi:softprob", "multi:softmax")
_NO_MEAN = ("binary:hinge", "rank:", "survival:", "reg:quantileerror", "reg:expectileerror")


def posterior(model: Any, X: Any, n_members: int) -> Posterior | None:  # noqa: ANN401 (a model and what it takes)
    """Return the stages of a model, None if it is none of XGBoost's."""
    raw_booster = hasattr(model, "num_boosted_rounds")
    if not raw_booster and not hasattr(model, "get_booster"):
        return None
    booster = model if raw_booster else model.get_booster()
    learner = json.loads(booster.save_config())["learner"]
    name = learner["objective"]["name"]
    if name.startswith(_NO_MEAN):
        message = f"the objective {name!r} has no posterior here: it predicts no mean and no probabilities"
        raise ValueError(message)
    if callable(getattr(model, "objective", None)):
        message = "the model was trained with an objective of its own, whose scores have no known meaning"
        raise ValueError(message)  # noqa: TRY004 (an objective may be callable, but not here)
    if learner["gradient_booster"]["name"] != "gbtree":
        message = f"booster={learner['gradient_booster']['name']!r} makes no chain of stages; 'gbtree' does"
        raise ValueError(message)
    parallel = int(learner["gradient_booster"]["gbtree_model_param"]["num_parallel_tree"])
    if parallel > 1 and booster.num_boosted_rounds() == 1:
        message = (
            f"this {type(model).__name__} is a random forest: its {parallel} trees are one step and no chain of stages"
        )
        raise ValueError(message)
    best = booster.attr("best_iteration")
    grown = int(booster.num_boosted_rounds())
    trees = grown if best is None else int(best) + 1
    ends = stages_of(trees, n_members)
    warn_of(model, noisy=False, stopped=trees < grown)
    classes = name in _BINARY or name in _MULTICLASS
    if raw_booster:
        library = importlib.import_module("xgboost")
        X = X if isinstance(X, library.DMatrix) else library.DMatrix(X, enable_categorical=True)
    members = np.stack([model.predict(X, output_margin=classes, iteration_range=(0, end)) for end in ends])
    members = members.astype(np.float64)
    if name not in _MULTICLASS and members[0].size != len(members[0]):
        message = f"the model must have one target; this one has {members.shape[2]}"
        raise ValueError(message)
    if name in _MULTICLASS:
        return Posterior(softmax(members, axis=2), "categorical")
    if name in _BINARY:
        return Posterior(np.stack([expit(-members), expit(members)], axis=2), "categorical")
    return Posterior(members.reshape(*members.shape[:2], -1), "mean")
