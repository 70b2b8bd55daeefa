"""Posteriors of LightGBM models."""

import re

import numpy as np

from epiboost._posterior.fitted.stages import (
    custom_objective_error,
    not_fitted_error,
    stages_of,
    warn_about_stages,
)
from epiboost._posterior.posterior import Posterior
from epiboost._threads import lock_of
from epiboost._typing import AnyArray, Estimator, LibraryObject, Table

_CLASSIFICATION = ("binary", "multiclass", "cross_entropy")
_WITHOUT_MEAN = ("cross_entropy_lambda", "lambdarank", "multiclassova", "quantile", "rank_xendcg")
_WITHOUT_STAGES = ("dart", "rf")
_AXES_WITHOUT_CLASSES = 2


def lightgbm_posterior(estimator: Estimator, X: Table, n_members: int) -> Posterior | None:
    """Return the posterior of a LightGBM model, None for any other model."""
    if not getattr(estimator, "__sklearn_is_fitted__", lambda: True)():
        raise not_fitted_error(estimator)
    booster = estimator if hasattr(estimator, "num_model_per_iteration") else getattr(estimator, "booster_", None)
    if booster is None:
        return None
    description = booster.model_to_string(num_iteration=1)
    objective = _check_objective(description)
    trees, stopped_early = _tree_count(booster, description)
    stages = stages_of(trees, n_members)
    warn_about_stages(estimator, langevin=False, stopped_early=stopped_early)
    predict = estimator.predict_proba if hasattr(estimator, "predict_proba") else estimator.predict
    with lock_of(booster):  # LightGBM keeps the last iteration of a call in its model
        members = np.stack([np.asarray(predict(X, num_iteration=stage)) for stage in stages])
    if objective in _CLASSIFICATION:
        return Posterior(_probabilities(members), "categorical")
    return Posterior(members.reshape(*members.shape[:2], -1), "mean")


def _check_objective(description: str) -> str:
    """Return the objective; raise a ValueError if its predictions are no posterior."""
    boosting = re.search(r"^\[boosting: (\S+)\]", description, flags=re.MULTILINE)
    if boosting is not None and boosting[1] in _WITHOUT_STAGES:
        message = f"boosting={boosting[1]!r} has no stages; posterior_from needs boosting='gbdt'"
        raise ValueError(message)
    objective = re.search(r"^objective=(\S+)", description, flags=re.MULTILINE)
    if objective is None:
        raise custom_objective_error()
    if objective[1] in _WITHOUT_MEAN:
        message = (
            f"posterior_from does not support the objective {objective[1]!r}, which predicts neither a mean nor class "
            "probabilities"
        )
        raise ValueError(message)
    return objective[1]


def _tree_count(booster: LibraryObject, description: str) -> tuple[int, bool]:
    """Return the number of trees that the model predicts with, and whether it was stopped early."""
    evaluated = booster.best_iteration > 0
    trees = int(booster.best_iteration if evaluated else booster.current_iteration())
    requested = re.search(r"^\[num_iterations: (\d+)\]", description, flags=re.MULTILINE)
    return trees, evaluated and (requested is None or trees < int(requested[1]))


def _probabilities(members: AnyArray) -> AnyArray:
    """Return the probabilities of all classes; of two classes, a raw booster predicts that of the second alone."""
    return np.stack([1.0 - members, members], axis=2) if members.ndim == _AXES_WITHOUT_CLASSES else members
