"""What a posterior is worth on a fold, in the units of the paper's tables: ratios and areas in percent."""

from typing import Any

import numpy as np

from epiboost._posterior.posterior import Posterior
from epiboost._typing import Floats
from epiboost.metrics import UndefinedScoreError, ood_auc_score, prediction_rejection_score
from epiboost.paper.cells.packing import pack
from epiboost.paper.problem import Fold

_LEAST_PROBABILITY = 1e-10  # a forest may hold a class impossible; the paper's code bounds its loss like this
_PERCENT = 100.0


def measure(posterior: Posterior, outside: Posterior | None, fold: Fold) -> dict[str, Any]:
    """Return the figures of a method on a fold.

    Parameters
    ----------
    posterior, outside : Posterior
        For the test rows, and for the rows from outside.
    fold : Fold

    Returns
    -------
    dict
        ``nll``, ``rmse`` or ``error_percent``, ``prr_total``, ``prr_knowledge``, ``ood_auc_total`` and
        ``ood_auc_knowledge``, as far as the posterior can tell; ``rows``, the losses of each row, where the dataset has
        one split and significance is judged on its test rows.
    """
    losses, errors = _losses(posterior, fold)
    figures: dict[str, Any] = {}
    if losses is not None:
        figures["nll"] = float(losses.mean())
    if fold.task == "regression":
        figures["rmse"] = float(np.sqrt(errors.mean()))
    else:
        figures["error_percent"] = float(_PERCENT * errors.mean())
    inside, out = posterior.uncertainty(), None if outside is None else outside.uncertainty()
    for name in _told(posterior):
        own = getattr(inside, name)
        figures[f"prr_{name}"] = _rejection(errors, own)
        if out is not None:
            is_out = np.repeat([False, True], [len(own), outside.n_samples])  # type: ignore[union-attr]
            figures[f"ood_auc_{name}"] = _PERCENT * ood_auc_score(is_out, np.append(own, getattr(out, name)))
    if fold.by_rows:
        rows = {"rmse" if fold.task == "regression" else "error_percent": errors}
        figures["rows"] = {name: pack(of) for name, of in ({"nll": losses} | rows).items() if of is not None}
    return figures


def _losses(posterior: Posterior, fold: Fold) -> tuple[Floats | None, Floats]:
    """Return negative log-likelihoods, if the members have one, and errors, squared or 0 and 1."""
    if fold.task == "regression":
        errors: Floats = (posterior.mean - fold.y_test) ** 2
        return (-posterior.logpdf(fold.y_test) if posterior.family == "normal" else None), errors
    mean = posterior.mean
    own = mean[np.arange(len(mean)), fold.y_test]
    return -np.log(np.maximum(own, _LEAST_PROBABILITY)), (mean.argmax(axis=1) != fold.y_test).astype(np.float64)


def _told(posterior: Posterior) -> list[str]:
    """Return the uncertainties that the posterior tells: one member knows nothing of knowledge."""
    told = [] if posterior.family == "mean" else ["total"]
    return [*told, "knowledge"] if posterior.n_members > 1 else told


def _rejection(errors: Floats, uncertainty: Floats) -> float | None:
    try:
        return _PERCENT * prediction_rejection_score(errors=errors, uncertainty=uncertainty)
    except UndefinedScoreError:
        return None
