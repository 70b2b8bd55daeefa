"""Table of the CPU time of a run, by dataset and step."""

from epiboost.paper.methods.inputs import EVALUATION
from epiboost.paper.methods.registry import METHODS
from epiboost.paper.problem import DATASETS
from epiboost.paper.tables.layout import DATASET_NAMES
from epiboost.paper.tables.results import Results

_COLUMNS_OF_STEPS = {
    "sgb grid": "grid SGB",
    "sglb grid": "grid SGLB",
    "sgb sgb_single": "one chain",
    "sgb sgb_ensemble": "SGB ensemble",
    "sglb sglb_ensemble": "SGLB ensemble",
    "sglb vsglb": "one chain",
}
_OTHER, _EVALUATION = "other", "evaluation"
_COLUMNS_OF_METHODS = {
    "budget": "budget",
    "forest": "one forest",
    "forests": "forests",
    "ngboost": "NGBoost",
    "deep": "Deep Ensembles",
}
_COLUMNS = dict.fromkeys(
    [
        *_COLUMNS_OF_STEPS.values(),
        _OTHER,
        _COLUMNS_OF_METHODS["budget"],
        _EVALUATION,
        *_COLUMNS_OF_METHODS.values(),
    ]
)


def cpu_time_table(results: Results, *, all_methods: bool = True) -> str:
    """Return a Markdown table of CPU seconds, summed over folds; the longest step of each dataset is bold.

    Parameters
    ----------
    results : Results
    all_methods : bool
        Whether methods that do not run on a boosting engine are included.
    """
    cpu_seconds, wall_seconds = _sum_by_column(results, all_methods=all_methods)
    columns = [name for name in _COLUMNS if any(name in steps for steps in cpu_seconds.values())]
    head = ["dataset", *columns, "all, CPU s", "all, wall s"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for dataset in DATASETS:
        if dataset in cpu_seconds:
            steps = cpu_seconds[dataset]
            longest = max(steps, key=lambda name: steps[name])
            shown = [_format(steps.get(name), bold=name == longest) for name in columns]
            totals = [_format(sum(steps.values())), _format(wall_seconds[dataset])]
            lines.append(f"| {' | '.join([DATASET_NAMES[dataset], *shown, *totals])} |")
    return "\n".join(lines) + "\n"


def _sum_by_column(results: Results, *, all_methods: bool) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return CPU seconds by dataset and column, and wall seconds by dataset."""
    cpu_seconds: dict[str, dict[str, float]] = {}
    wall_seconds: dict[str, float] = {}
    for (dataset, step), (wall, cpu) in results.seconds.items():
        if not all_methods and METHODS[step.partition(" ")[0]].engine is not None:
            continue
        column = _column(step)
        steps = cpu_seconds.setdefault(dataset, {})
        steps[column] = steps.get(column, 0.0) + cpu
        wall_seconds[dataset] = wall_seconds.get(dataset, 0.0) + wall
    return cpu_seconds, wall_seconds


def _column(step: str) -> str:
    method, _, part = step.partition(" ")
    if method in _COLUMNS_OF_METHODS:
        return _COLUMNS_OF_METHODS[method]
    return _EVALUATION if part == EVALUATION else _COLUMNS_OF_STEPS.get(step, _OTHER)


def _format(seconds: float | None, *, bold: bool = False) -> str:
    if seconds is None:
        return ""
    return f"**{seconds:.1f}**" if bold else f"{seconds:.1f}"
