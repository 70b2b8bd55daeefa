"""Engines beside each other and beside the paper."""

from collections.abc import Mapping

from epiboost.paper.problem import CLASSIFICATION, REGRESSION
from epiboost.paper.published import published
from epiboost.paper.results import Results
from epiboost.paper.tables import HEADINGS, METRICS, NAMES

_METHODS = ("sglb_ensemble", "sgb_ensemble", "vsglb")
_TABLES = {"nll": "prediction", "rmse": "prediction", "error_percent": "prediction"}
_METRICS = ("nll", "rmse", "error_percent", "prr_total", "ood_auc_total", "ood_auc_knowledge")


def beside(engines: Mapping[str, Results]) -> str:
    """Return a Markdown table of the datasets that all engines have run.

    Parameters
    ----------
    engines : mapping from str to Results
        By the name of the engine.

    Returns
    -------
    str
        Empty if there are fewer than two engines or they have no dataset in common.
    """
    shared = set.intersection(*(results.datasets for results in engines.values())) if len(engines) > 1 else set()
    if not shared:
        return ""
    columns = [f"{HEADINGS[method]}, {name}" for method in _METHODS for name in (*engines, "paper")]
    lines = [f"| dataset | metric | {' | '.join(columns)} |", "|" + "---|" * (len(columns) + 2)]
    for dataset in (*REGRESSION, *CLASSIFICATION):
        for metric in _METRICS:
            figures = [
                value
                for method in _METHODS
                for value in (
                    *(results.mean(dataset, metric, method) for results in engines.values()),
                    _published(dataset, metric, method),
                )
            ]
            if dataset in shared and any(value is not None for value in figures):
                shown = ["" if value is None else _shown(value, metric) for value in figures]
                lines.append(f"| {NAMES[dataset]} | {METRICS[metric]} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def _published(dataset: str, metric: str, method: str) -> float | None:
    figure = published().get((_TABLES.get(metric, "uncertainty"), dataset, metric, method))
    return None if figure is None else figure.value


def _shown(value: float, metric: str) -> str:
    return f"{value:.{0 if metric.startswith(('prr', 'ood')) else 2}f}".replace("-", "−")
