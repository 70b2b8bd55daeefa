"""Stages of CatBoost's models.

A Langevin chain shrinks all it has, its start included, by c = 1 − model_shrink_rate · learning_rate with each tree.
The trees of a trained model have later shrinkage in them: the first t of n trees sum to cⁿ⁻ᵗ times the model after t.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from epiboost._typing import Family, Floats
from epiboost.fitted.stages import stages_of, warn_of
from epiboost.posterior import Posterior

_IDENTITY = ("RMSE", "MAE", "Quantile", "LogCosh", "Lq", "Huber", "Expectile", "MAPE", "LogLinQuantile")
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
        message = f"model must be fitted; this {type(model).__name__} is not"
        raise ValueError(message)
    params = model.get_all_params()
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
    sums, members = 0.0, []
    for begin, end in zip([0, *ends], ends, strict=False):
        part = model.predict(X, prediction_type="RawFormulaVal", ntree_start=begin, ntree_end=end)
        sums = sums + part.reshape(len(part), -1)
        members.append(sums / decay ** (trees - end))
    family, link = _LINKS[loss]
    return Posterior(link(np.stack(members)), family)
