"""Engines beside each other and beside the paper."""

from collections.abc import Mapping
from functools import reduce

import numpy as np

from epiboost._typing import Integers
from epiboost.paper.cells.results import Results
from epiboost.paper.problem import CLASSIFICATION, REGRESSION
from epiboost.paper.tables.build import HEADINGS, METRICS, NAMES
from epiboost.paper.tables.published import published

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
        The means of the folds that all of them have run, for each method its own. Empty if there are fewer than two
        engines or no such fold.
    """
    if len(engines) < 2:  # noqa: PLR2004 (nothing to stand beside)
        return ""
    columns = [f"{HEADINGS[method]}, {name}" for method in _METHODS for name in (*engines, "paper")]
    lines = []
    for dataset in (*REGRESSION, *CLASSIFICATION):
        for metric in _METRICS:
            shared = {method: _shared(dataset, metric, method, engines) for method in _METHODS}
            most = max(map(len, shared.values()))
            if not most:
                continue
            shown = []
            for method, folds in shared.items():
                fewer = f" [{len(folds)}]" if len(folds) < most else ""
                means = [_mean(results, dataset, metric, method, folds) for results in engines.values()]
                shown += ["" if value is None else _shown(value, metric) + fewer for value in means]
                theirs = _published(dataset, metric, method)
                shown.append("" if theirs is None else _shown(theirs, metric))
            lines.append(f"| {NAMES[dataset]} [{most}] | {METRICS[metric]} | {' | '.join(shown)} |")
    if not lines:
        return ""
    head = [f"| dataset [folds] | metric | {' | '.join(columns)} |", "|" + "---|" * (len(columns) + 2)]
    return "\n".join([*head, *lines]) + "\n"


def _shared(dataset: str, metric: str, method: str, engines: Mapping[str, Results]) -> Integers:
    """Return the folds of a dataset that all engines have run."""
    found = (results.folds_of(dataset, metric, method) for results in engines.values())
    return reduce(np.intersect1d, found)


def _mean(results: Results, dataset: str, metric: str, method: str, folds: Integers) -> float | None:
    values = results.values(dataset, metric, method)
    return None if values is None or not len(folds) else float(values[folds].mean())


def _published(dataset: str, metric: str, method: str) -> float | None:
    figure = published().get((_TABLES.get(metric, "uncertainty"), dataset, metric, method))
    return None if figure is None else figure.value


def _shown(value: float, metric: str) -> str:
    return f"{value:.{0 if metric.startswith(('prr', 'ood')) else 2}f}".replace("-", "−")
