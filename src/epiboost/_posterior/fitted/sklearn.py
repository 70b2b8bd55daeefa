"""Stages of scikit-learn's boosted models, parts of its forests."""

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted, validate_data

from epiboost._posterior.fitted.stages import stages_of, warn_of
from epiboost._posterior.posterior import Posterior


def posterior(model: Any, X: Any, n_members: int) -> Posterior | None:  # noqa: ANN401 (a model and what it takes)
    """Return stages or parts of a model, None if it is neither a boosted one nor a forest."""
    from sklearn.ensemble import (  # noqa: PLC0415 (slow to import, and few need it)
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )

    forests = (ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor)
    chains = (GradientBoostingClassifier, GradientBoostingRegressor)
    binned_chains = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    if isinstance(model, forests):
        check_is_fitted(model)
        return _parts(model, X, n_members)
    if not isinstance(model, chains + binned_chains):
        return None
    check_is_fitted(model)
    if model.loss == "quantile":
        message = "the loss 'quantile' has no posterior here: it predicts no mean"
        raise ValueError(message)
    binned = isinstance(model, binned_chains)
    trees, asked = (model.n_iter_, model.max_iter) if binned else (model.n_estimators_, model.n_estimators)
    ends = stages_of(trees, n_members)
    warn_of(model, noisy=False, stopped=trees < asked)
    return _stages(model, X, ends)


def _stages(model: Any, X: Any, ends: list[int]) -> Posterior:  # noqa: ANN401 (a chain and what it takes)
    classes = is_classifier(model)
    stages = model.staged_predict_proba(X) if classes else model.staged_predict(X)
    members = np.stack([stage for trees_so_far, stage in enumerate(stages, start=1) if trees_so_far in ends])
    return Posterior(members, "categorical") if classes else Posterior(members[:, :, np.newaxis], "mean")


def _parts(model: Any, X: Any, n_members: int) -> Posterior:  # noqa: ANN401 (a forest and what it takes)
    if model.n_outputs_ != 1:
        message = f"the forest must have one target; this one has {model.n_outputs_}"
        raise ValueError(message)
    trees = model.estimators_
    if n_members > len(trees):
        message = f"n_members={n_members} needs a forest of at least as many trees; this one has {len(trees)}"
        raise ValueError(message)
    table = validate_data(model, X, reset=False, dtype=np.float32, ensure_all_finite="allow-nan")
    ends = [part * len(trees) // n_members for part in range(n_members + 1)]
    classes = is_classifier(model)
    members = []
    for begin, end in pairwise(ends):
        part = sum(tree.predict_proba(table) if classes else tree.predict(table) for tree in trees[begin:end])
        members.append(part / (end - begin))
    parameters = np.stack(members)
    return Posterior(parameters, "categorical") if classes else Posterior(parameters[:, :, np.newaxis], "mean")
