"""Table that compares the boosting engines with each other and with the paper."""

from collections.abc import Mapping
from functools import reduce

import numpy as np

from epiboost._typing import Integers
from epiboost.paper.problem import DATASETS
from epiboost.paper.tables.layout import DATASET_NAMES, METHOD_NAMES, METRIC_NAMES
from epiboost.paper.tables.published import published
from epiboost.paper.tables.results import Results

_METHODS = ("sglb_ensemble", "sgb_ensemble", "vsglb")
_METRICS = ("nll", "rmse", "error_percent", "prr_total", "ood_auc_total", "ood_auc_knowledge")
_PREDICTION_METRICS = ("nll", "rmse", "error_percent")


def engine_comparison(engines: Mapping[str, Results]) -> str:
    """Return a Markdown table of the results of all engines.

    Parameters
    ----------
    engines : mapping from str to Results
        Results by name of the engine.

    Returns
    -------
    str
        For each method, means over the folds that all engines have run. Empty if there are fewer than two engines or no
        common fold.
    """
    if len(engines) < 2:  # noqa: PLR2004 (a comparison needs two)
        return ""
    lines = [
        line for dataset in DATASETS for metric in _METRICS if (line := _line(dataset, metric, engines)) is not None
    ]
    if not lines:
        return ""
    columns = [f"{METHOD_NAMES[method]}, {name}" for method in _METHODS for name in (*engines, "paper")]
    head = [f"| dataset [folds] | metric | {' | '.join(columns)} |", "|" + "---|" * (len(columns) + 2)]
    return "\n".join([*head, *lines]) + "\n"


def _line(dataset: str, metric: str, engines: Mapping[str, Results]) -> str | None:
    """Return a line of the table, or None if no fold is common to all engines."""
    common = {method: _common_folds(dataset, metric, method, engines) for method in _METHODS}
    max_folds = max(map(len, common.values()))
    if not max_folds:
        return None
    shown = []
    for method, folds in common.items():
        fewer = f" [{len(folds)}]" if len(folds) < max_folds else ""
        means = [_mean(results, dataset, metric, method, folds) for results in engines.values()]
        shown += ["" if value is None else _format(value, metric) + fewer for value in means]
        theirs = _published(dataset, metric, method)
        shown.append("" if theirs is None else _format(theirs, metric))
    return f"| {DATASET_NAMES[dataset]} [{max_folds}] | {METRIC_NAMES[metric]} | {' | '.join(shown)} |"


def _common_folds(dataset: str, metric: str, method: str, engines: Mapping[str, Results]) -> Integers:
    """Return the folds of a dataset that all engines have run."""
    return reduce(np.intersect1d, (results.folds_of(dataset, metric, method) for results in engines.values()))


def _mean(results: Results, dataset: str, metric: str, method: str, folds: Integers) -> float | None:
    values = results.values(dataset, metric, method)
    return None if values is None or not len(folds) else float(values[folds].mean())


def _published(dataset: str, metric: str, method: str) -> float | None:
    table = "prediction" if metric in _PREDICTION_METRICS else "uncertainty"
    found = published().get((table, dataset, metric, method))
    return None if found is None else found.value


def _format(value: float, metric: str) -> str:
    return f"{value:.{0 if metric.startswith(('prr', 'ood')) else 2}f}".replace("-", "−")
