"""Stages of a chain of trees, and the errors and warnings that the libraries share.

>>> stages_of(100, 5)
[60, 70, 80, 90, 100]
"""

import warnings

import numpy as np
from scipy.special import expit
from sklearn.exceptions import NotFittedError

from epiboost._boosting.truncation import catboost_prefixes
from epiboost._typing import Estimator, Floats


def stages_of(trees: int, n_members: int) -> list[int]:
    """Return the tree counts of the members: evenly spaced in the second half of the chain, the last is all trees."""
    return list(catboost_prefixes(trees, n_members))


def probabilities_of_two(raw: Floats) -> Floats:
    """Return the probabilities of two classes from log-odds of the second, along a new last axis.

    >>> probabilities_of_two(np.array([0.0]))
    array([[0.5, 0.5]])
    """
    return np.stack([expit(-raw), expit(raw)], axis=-1)


def not_fitted_error(estimator: Estimator) -> NotFittedError:
    """Return the error for a model that is not fitted.

    >>> not_fitted_error(object())
    NotFittedError('estimator must be fitted; this object is not')
    """
    return NotFittedError(f"estimator must be fitted; this {type(estimator).__name__} is not")


def custom_objective_error() -> ValueError:
    """Return the error for a model with a custom objective.

    >>> custom_objective_error()
    ValueError('the model was trained with a custom objective, whose scores have no known meaning')
    """
    return ValueError("the model was trained with a custom objective, whose scores have no known meaning")


def warn_about_stages(estimator: Estimator, *, langevin: bool, stopped_early: bool) -> None:
    """Warn if the stages of a model are not samples of a posterior.

    It must be called by the function that `posterior_from` calls, so that the warning points at the user's line.
    """
    name = type(estimator).__name__
    if not langevin:
        warnings.warn(
            f"this {name} was trained without Langevin noise: its stages differ by the progress of the fit alone, and "
            "their spread is only a rough sign of knowledge uncertainty (CatBoost trains with noise if "
            "posterior_sampling=True; so does every boosting engine of EpiBoostRegressor and EpiBoostClassifier)",
            UserWarning,
            stacklevel=4,
        )
    if stopped_early:
        warnings.warn(
            f"this {name} was stopped early: its chain has not converged, and its stages say less about knowledge "
            "uncertainty",
            UserWarning,
            stacklevel=4,
        )
