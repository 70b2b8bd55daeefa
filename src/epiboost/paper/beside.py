"""Engines beside each other and beside the paper."""

from collections.abc import Mapping

import numpy as np

from epiboost._typing import Integers
from epiboost.paper.problem import CLASSIFICATION, REGRESSION
from epiboost.paper.published import published
from epiboost.paper.results import Results
from epiboost.paper.tables import HEADINGS, METRICS, NAMES

_METHODS = ("sglb_ensemble", "sgb_ensemble", "vsglb")
_TABLES = {"nll": "prediction", "rmse": "prediction", "error_percent": "prediction"}
_METRICS = ("nll", "rmse", "error_percent", "prr_total", "ood_auc_total", "ood_auc_knowledge")


def beside(engines: Mapping[str, Results]) -> str:
    """Return a Markdown table of what all engines have run.

    Parameters
    ----------
    engines : mapping from str to Results
        By the name of the engine.

    Returns
    -------
    str
        The means of the folds that all of them have run. Empty if there are fewer than two engines or no such fold.
    """
    if len(engines) < 2:  # noqa: PLR2004 (nothing to stand beside)
        return ""
    columns = [f"{HEADINGS[method]}, {name}" for method in _METHODS for name in (*engines, "paper")]
    lines = []
    for dataset in (*REGRESSION, *CLASSIFICATION):
        folds = _shared(dataset, engines)
        for metric in _METRICS if len(folds) else ():
            figures: list[float | None] = []
            for method in _METHODS:
                figures += [_mean(results, dataset, metric, method, folds) for results in engines.values()]
                figures.append(_published(dataset, metric, method))
            if any(value is not None for value in figures):
                shown = ["" if value is None else _shown(value, metric) for value in figures]
                lines.append(f"| {NAMES[dataset]} [{len(folds)}] | {METRICS[metric]} | {' | '.join(shown)} |")
    if not lines:
        return ""
    head = [f"| dataset [folds] | metric | {' | '.join(columns)} |", "|" + "---|" * (len(columns) + 2)]
    return "\n".join([*head, *lines]) + "\n"


def _shared(dataset: str, engines: Mapping[str, Results]) -> Integers:
    """Return the folds of a dataset that all engines have run."""
    found = [results.values(dataset, "nll", _METHODS[0]) for results in engines.values()]
    folds = [np.empty(0, dtype=np.int64) if values is None else np.flatnonzero(~np.isnan(values)) for values in found]
    shared = folds[0]
    for other in folds[1:]:
        shared = np.intersect1d(shared, other)
    return shared


def _mean(results: Results, dataset: str, metric: str, method: str, folds: Integers) -> float | None:
    values = results.values(dataset, metric, method)
    return None if values is None else float(np.nanmean(values[folds]))


def _published(dataset: str, metric: str, method: str) -> float | None:
    figure = published().get((_TABLES.get(metric, "uncertainty"), dataset, metric, method))
    return None if figure is None else figure.value


def _shown(value: float, metric: str) -> str:
    return f"{value:.{0 if metric.startswith(('prr', 'ood')) else 2}f}".replace("-", "−")
