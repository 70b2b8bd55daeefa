"""Stages of CatBoost's models.

A Langevin chain shrinks all it has, its start included, by c = 1 − model_shrink_rate · learning_rate with each tree.
The trees of a trained model have later shrinkage in them: the first t of n trees sum to cⁿ⁻ᵗ times the model after t.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from epiboost._posterior.fitted.stages import not_fitted, stages_of, warn_of
from epiboost._posterior.posterior import Posterior
from epiboost._typing import Family, Floats

_IDENTITY = ("RMSE", "MAE", "LogCosh", "Lq", "Huber", "MAPE")
_EXPONENTIAL = ("Poisson", "Tweedie")
_LINKS: dict[str, tuple[Family, Callable[[Floats], Floats]]] = {
    "RMSEWithUncertainty": ("normal", lambda raw: np.stack([raw[..., 0], np.exp(2.0 * raw[..., 1])], axis=-1)),
    "Logloss": ("categorical", lambda raw: np.concatenate([expit(-raw), expit(raw)], axis=-1)),
    "CrossEntropy": ("categorical", lambda raw: np.concatenate([expit(-raw), expit(raw)], axis=-1)),
    "MultiClass": ("categorical", lambda raw: softmax(raw, axis=-1)),
    **dict.fromkeys(_IDENTITY, ("mean", lambda raw: raw)),
    **dict.fromkeys(_EXPONENTIAL, ("mean", np.exp)),
}


def posterior(model: Any, X: Any, n_members: int) -> Posterior | None:  # noqa: ANN401 (a model and what it takes)
    """Return the stages of a model, None if it is none of CatBoost's."""
    if not hasattr(model, "virtual_ensembles_predict"):
        return None
    if not model.is_fitted():
        raise not_fitted(model)
    params = _params(model)
    loss = str(params["loss_function"]).partition(":")[0]
    if loss not in _LINKS:
        message = f"the loss {loss!r} has no posterior here; known are {', '.join(_LINKS)}"
        raise ValueError(message)
    shrink = float(params.get("model_shrink_rate", 0.0))
    if shrink and params.get("model_shrink_mode", "Constant") != "Constant":
        message = f"model_shrink_mode must be 'Constant'; got {params['model_shrink_mode']!r}"
        raise ValueError(message)
    trees = int(model.tree_count_)
    ends = stages_of(trees, n_members)
    warn_of(model, noisy=bool(params.get("langevin", False)), stopped=trees < int(params["iterations"]))
    decay = 1.0 - shrink * float(params["learning_rate"])
    X = (
        [list(X)] if isinstance(X, list | tuple | np.ndarray) and np.ndim(X) == 1 else X
    )  # one row, as CatBoost takes it
    sums, members = 0.0, []
    for begin, end in zip([0, *ends], ends, strict=False):
        part = model.predict(X, prediction_type="RawFormulaVal", ntree_start=begin, ntree_end=end)
        sums = sums + (part[:, np.newaxis] if part.ndim == 1 else part)
        members.append(sums / decay ** (trees - end))
    family, link = _LINKS[loss]
    return Posterior(link(np.stack(members)), family)


def _params(model: Any) -> dict[str, Any]:  # noqa: ANN401 (CatBoost's)
    """Return how a model was trained; a sum of models does not know."""
    library = importlib.import_module("catboost")
    try:
        params: dict[str, Any] = model.get_all_params()
    except library.CatBoostError as error:
        message = (
            f"this {type(model).__name__} does not hold how it was trained, so its shrinkage is not known (a sum of "
            "models is such a one)"
        )
        raise ValueError(message) from error
    return params
