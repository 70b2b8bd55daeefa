"""Stages of LightGBM's models."""

import re
from typing import Any

import numpy as np

from epiboost._posterior.fitted.stages import not_fitted, stages_of, warn_of
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray

_CLASSES = ("binary", "multiclass", "cross_entropy")
_NO_MEAN = ("cross_entropy_lambda", "lambdarank", "multiclassova", "quantile", "rank_xendcg")
_NO_CHAINS = ("dart", "rf")


def posterior(model: Any, X: Any, n_members: int) -> Posterior | None:  # noqa: ANN401 (a model and what it takes)
    """Return the stages of a model, None if it is none of LightGBM's."""
    if not getattr(model, "__sklearn_is_fitted__", lambda: True)():
        raise not_fitted(model)
    booster = model if hasattr(model, "num_model_per_iteration") else getattr(model, "booster_", None)
    if booster is None:
        return None
    text = booster.model_to_string(num_iteration=1)
    found = re.search(r"^objective=(\S+)", text, flags=re.MULTILINE)
    boosting = re.search(r"^\[boosting: (\S+)\]", text, flags=re.MULTILINE)
    if boosting is not None and boosting[1] in _NO_CHAINS:
        message = f"boosting={boosting[1]!r} makes no chain of stages; 'gbdt' does"
        raise ValueError(message)
    if found is None:
        message = "the model was trained with an objective of its own, whose scores have no known meaning"
        raise ValueError(message)
    if found[1] in _NO_MEAN:
        message = (
            f"the objective {found[1]!r} has no posterior here: it predicts no mean and no probabilities of classes"
        )
        raise ValueError(message)
    watched = booster.best_iteration > 0
    trees = int(booster.best_iteration if watched else booster.current_iteration())
    asked = re.search(r"^\[num_iterations: (\d+)\]", text, flags=re.MULTILINE)
    stopped = watched and (asked is None or trees < int(asked[1]))
    ends = stages_of(trees, n_members)
    warn_of(model, noisy=False, stopped=stopped)
    predict = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    members = np.stack([np.asarray(predict(X, num_iteration=end)) for end in ends])
    if found[1] in _CLASSES:
        return Posterior(_probabilities(members), "categorical")
    return Posterior(members.reshape(*members.shape[:2], -1), "mean")


def _probabilities(members: AnyArray) -> AnyArray:
    """Return probabilities of all classes; of two, a raw booster tells that of the second."""
    return np.stack([1.0 - members, members], axis=2) if members.ndim == 2 else members  # noqa: PLR2004 (members, rows)
