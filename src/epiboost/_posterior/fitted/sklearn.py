"""Posteriors of scikit-learn's boosted models and forests."""

from itertools import pairwise

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted, validate_data

from epiboost._posterior.fitted.stages import stages_of, warn_about_stages
from epiboost._posterior.posterior import Posterior
from epiboost._typing import Estimator, Floats, Table


def sklearn_posterior(estimator: Estimator, X: Table, n_members: int) -> Posterior | None:
    """Return the posterior of a boosted model or a forest, None for any other model."""
    from sklearn import ensemble  # noqa: PLC0415 (slow to import, and few need it)

    forests = (
        ensemble.ExtraTreesClassifier,
        ensemble.ExtraTreesRegressor,
        ensemble.RandomForestClassifier,
        ensemble.RandomForestRegressor,
    )
    boosted = (ensemble.GradientBoostingClassifier, ensemble.GradientBoostingRegressor)
    boosted_histograms = (ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor)
    if isinstance(estimator, forests):
        check_is_fitted(estimator)
        return _posterior(_part_predictions(estimator, X, n_members), estimator)
    if not isinstance(estimator, boosted + boosted_histograms):
        return None
    check_is_fitted(estimator)
    if estimator.loss == "quantile":
        message = "posterior_from does not support the loss 'quantile', which predicts no mean"
        raise ValueError(message)
    if isinstance(estimator, boosted):
        trees, requested = estimator.n_estimators_, estimator.n_estimators
    else:
        trees, requested = estimator.n_iter_, estimator.max_iter
    stages = stages_of(trees, n_members)
    warn_about_stages(estimator, langevin=False, stopped_early=trees < requested)
    return _posterior(_stage_predictions(estimator, X, stages), estimator)


def _posterior(members: Floats, estimator: Estimator) -> Posterior:
    return (
        Posterior(members, "categorical") if is_classifier(estimator) else Posterior(members[..., np.newaxis], "mean")
    )


def _stage_predictions(estimator: Estimator, X: Table, stages: list[int]) -> Floats:
    """Return the predictions after each of these numbers of trees."""
    staged = estimator.staged_predict_proba(X) if is_classifier(estimator) else estimator.staged_predict(X)
    return np.stack([prediction for trees, prediction in enumerate(staged, start=1) if trees in stages])


def _part_predictions(estimator: Estimator, X: Table, n_members: int) -> Floats:
    """Return the average predictions of parts of a forest."""
    if estimator.n_outputs_ != 1:
        message = f"the forest must have one target; this one has {estimator.n_outputs_}"
        raise ValueError(message)
    trees = estimator.estimators_
    if n_members > len(trees):
        message = f"n_members={n_members} needs a forest of at least as many trees; this one has {len(trees)}"
        raise ValueError(message)
    table = validate_data(estimator, X, reset=False, dtype=np.float32, ensure_all_finite="allow-nan")
    predict = "predict_proba" if is_classifier(estimator) else "predict"
    borders = [part * len(trees) // n_members for part in range(n_members + 1)]
    members = [
        sum(getattr(tree, predict)(table) for tree in trees[begin:end]) / (end - begin)
        for begin, end in pairwise(borders)
    ]
    return np.stack(members)
