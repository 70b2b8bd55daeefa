"""Scores of a posterior on a fold, in the units of the paper's tables: ratios and areas in percent."""

from typing import Any

import numpy as np

from epiboost._posterior.posterior import Posterior
from epiboost._typing import Floats
from epiboost.metrics import UndefinedScoreError, ood_auc_score, prediction_rejection_score
from epiboost.paper.cells.compression import compress
from epiboost.paper.problem import Fold

_MIN_PROBABILITY = 1e-10  # a forest may give a class the probability 0; the paper's code has the same bound
_PERCENT = 100.0


def evaluate(posterior: Posterior, posterior_ood: Posterior | None, fold: Fold) -> dict[str, Any]:
    """Return the scores of a method on a fold.

    Parameters
    ----------
    posterior : Posterior
        Posterior of the test rows.
    posterior_ood : Posterior or None
        Posterior of the out-of-domain rows, if there are any.
    fold : Fold

    Returns
    -------
    dict
        ``nll``, ``rmse`` or ``error_percent``, ``prr_total``, ``prr_knowledge``, ``ood_auc_total`` and
        ``ood_auc_knowledge``, as far as the posterior defines them. If the dataset has a single split, ``rows`` holds
        the compressed losses of the test rows, over which significance is tested.
    """
    losses, errors = _losses(posterior, fold)
    error_name = "rmse" if fold.task == "regression" else "error_percent"
    scores: dict[str, Any] = {}
    if losses is not None:
        scores["nll"] = float(losses.mean())
    mean_error = errors.mean()
    scores[error_name] = float(np.sqrt(mean_error) if fold.task == "regression" else _PERCENT * mean_error)
    uncertainty = posterior.uncertainty()
    uncertainty_ood = None if posterior_ood is None else posterior_ood.uncertainty()
    for name in _measures(posterior):
        values = getattr(uncertainty, name)
        scores[f"prr_{name}"] = _rejection_ratio(errors, values)
        if uncertainty_ood is not None:
            scores[f"ood_auc_{name}"] = _ood_auc(values, getattr(uncertainty_ood, name))
    if fold.single_split:
        rows = {"nll": losses, error_name: errors}
        scores["rows"] = {name: compress(values) for name, values in rows.items() if values is not None}
    return scores


def _losses(posterior: Posterior, fold: Fold) -> tuple[Floats | None, Floats]:
    """Return the negative log-likelihood per row, if it is defined, and the error per row (squared, or 0 and 1)."""
    if fold.task == "regression":
        errors: Floats = (posterior.mean - fold.y_test) ** 2
        return (-posterior.logpdf(fold.y_test) if posterior.family == "normal" else None), errors
    mean = posterior.mean
    probability = mean[np.arange(len(mean)), fold.y_test]
    losses = -np.log(np.maximum(probability, _MIN_PROBABILITY))
    return losses, (mean.argmax(axis=1) != fold.y_test).astype(np.float64)


def _measures(posterior: Posterior) -> list[str]:
    """Return the measures of uncertainty that are defined: a single member has no knowledge uncertainty."""
    measures = [] if posterior.family == "mean" else ["total"]
    return [*measures, "knowledge"] if posterior.n_members > 1 else measures


def _rejection_ratio(errors: Floats, uncertainty: Floats) -> float | None:
    try:
        return _PERCENT * prediction_rejection_score(errors=errors, uncertainty=uncertainty)
    except UndefinedScoreError:
        return None


def _ood_auc(uncertainty: Floats, uncertainty_ood: Floats) -> float:
    is_ood = np.repeat([False, True], [len(uncertainty), len(uncertainty_ood)])
    return _PERCENT * ood_auc_score(is_ood, np.append(uncertainty, uncertainty_ood))
