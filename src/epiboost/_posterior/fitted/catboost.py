"""Posteriors of CatBoost models.

In a Langevin chain each tree shrinks the model so far, its start included, by the factor
c = 1 − model_shrink_rate · learning_rate. The trees of a trained model contain the later shrinkage: the sum of the
first t of n trees is cⁿ⁻ᵗ times the model after t trees.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax

from epiboost._optional import require
from epiboost._posterior.fitted.stages import not_fitted_error, probabilities_of_two, stages_of, warn_about_stages
from epiboost._posterior.posterior import Posterior
from epiboost._typing import Estimator, Family, Floats, Table

_IDENTITY_LINK = ("RMSE", "MAE", "LogCosh", "Lq", "Huber", "MAPE")
_LOG_LINK = ("Poisson", "Tweedie")
_LOGISTIC_LINK = ("Logloss", "CrossEntropy")
_LINKS: dict[str, tuple[Family, Callable[[Floats], Floats]]] = {
    "RMSEWithUncertainty": ("normal", lambda raw: np.stack([raw[..., 0], np.exp(2.0 * raw[..., 1])], axis=-1)),
    **dict.fromkeys(_LOGISTIC_LINK, ("categorical", lambda raw: probabilities_of_two(raw[..., 0]))),
    "MultiClass": ("categorical", lambda raw: softmax(raw, axis=-1)),
    **dict.fromkeys(_IDENTITY_LINK, ("mean", lambda raw: raw)),
    **dict.fromkeys(_LOG_LINK, ("mean", np.exp)),
}
"""Family of a loss, and its parameters from raw scores of shape (members, samples, scores)."""


def catboost_posterior(estimator: Estimator, X: Table, n_members: int) -> Posterior | None:
    """Return the posterior of a CatBoost model, None for any other model."""
    if not hasattr(estimator, "virtual_ensembles_predict"):
        return None
    if not estimator.is_fitted():
        raise not_fitted_error(estimator)
    params = _training_params(estimator)
    loss = str(params["loss_function"]).partition(":")[0]
    if loss not in _LINKS:
        message = f"posterior_from does not support the loss {loss!r}; it supports {', '.join(_LINKS)}"
        raise ValueError(message)
    shrink_rate = float(params.get("model_shrink_rate", 0.0))
    if shrink_rate and params.get("model_shrink_mode", "Constant") != "Constant":
        message = f"model_shrink_mode must be 'Constant'; got {params['model_shrink_mode']!r}"
        raise ValueError(message)
    trees = int(estimator.tree_count_)
    stages = stages_of(trees, n_members)
    langevin, stopped_early = bool(params.get("langevin", False)), trees < int(params["iterations"])
    warn_about_stages(estimator, langevin=langevin, stopped_early=stopped_early)
    decay = 1.0 - shrink_rate * float(params["learning_rate"])
    family, link = _LINKS[loss]
    return Posterior(link(_raw_scores(estimator, X, stages, decay)), family)


def _raw_scores(estimator: Estimator, X: Table, stages: list[int], decay: float) -> Floats:
    """Return the raw scores of the stages, of shape (members, samples, scores)."""
    is_one_row = isinstance(X, list | tuple | np.ndarray) and np.ndim(X) == 1
    X = [list(X)] if is_one_row else X  # CatBoost, too, takes one row without brackets
    scores, members = 0.0, []
    for begin, end in zip([0, *stages], stages, strict=False):
        part = estimator.predict(X, prediction_type="RawFormulaVal", ntree_start=begin, ntree_end=end)
        scores = scores + (part[:, np.newaxis] if part.ndim == 1 else part)
        members.append(scores / decay ** (stages[-1] - end))
    return np.stack(members)


def _training_params(estimator: Estimator) -> dict[str, Any]:
    """Return the training parameters of a model; a sum of models has none."""
    library = require("catboost", extra="catboost", purpose="posterior_from")
    try:
        params: dict[str, Any] = estimator.get_all_params()
    except library.CatBoostError as error:
        message = (
            f"this {type(estimator).__name__} does not hold its training parameters, so its shrinkage is not known; "
            "sums of models are not supported"
        )
        raise ValueError(message) from error
    return params
