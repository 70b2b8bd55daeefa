"""Results of all cells of a folder, by dataset, metric and method."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from epiboost._typing import Floats, Integers
from epiboost.paper.cells.cell import Content
from epiboost.paper.cells.compression import decompress
from epiboost.paper.methods.registry import ENGINES_OF_METHODS
from epiboost.paper.tables.significance import not_worse_than_best

SMALLER_IS_BETTER = ("nll", "rmse", "error_percent")

DatasetMethod = tuple[str, str]
Metrics = dict[str, Floats]


@dataclass(frozen=True, slots=True)
class Results:
    """Results of one boosting engine, and of the methods that need none.

    Attributes
    ----------
    folds : dict from (dataset, method) to dict from metric to array of shape (n_folds,)
        One value per fold; NaN where there is no cell.
    rows : dict from (dataset, method) to dict from metric to array of shape (n_test,)
        One value per test row; only for datasets with a single split.
    seconds : dict from (dataset, step) to (wall, cpu)
        Seconds of each step (method and part of its work), summed over folds.
    """

    folds: dict[DatasetMethod, Metrics] = field(default_factory=dict)
    rows: dict[DatasetMethod, Metrics] = field(default_factory=dict)
    seconds: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)

    @property
    def datasets(self) -> set[str]:
        """Datasets that have at least one result."""
        return {dataset for dataset, _ in self.folds}

    def mean(self, dataset: str, metric: str, method: str) -> float | None:
        """Return the mean over folds, or None if there is no value."""
        values = self.values(dataset, metric, method)
        return None if values is None else float(np.nanmean(values))

    def folds_of(self, dataset: str, metric: str, method: str) -> Integers:
        """Return the numbers of the folds that have a value."""
        values = self.values(dataset, metric, method)
        return np.flatnonzero(np.isfinite(values)) if values is not None else np.empty(0, dtype=np.int64)

    def values(self, dataset: str, metric: str, method: str) -> Floats | None:
        """Return one value per fold, or None if there is no value."""
        values = self.folds.get((dataset, method), {}).get(metric)
        return None if values is None or not np.isfinite(values).any() else values

    def best(self, dataset: str, metrics: Iterable[str], methods: Iterable[str]) -> set[tuple[str, str]]:
        """Return the pairs (metric, method) that are not significantly worse than the best pair."""
        pairs = {
            f"{metric} {method}": (metric, method)
            for metric in metrics
            for method in methods
            if self.values(dataset, metric, method) is not None
        }
        if not pairs:
            return set()
        smaller = next(iter(pairs.values()))[0] in SMALLER_IS_BETTER
        by_row = {name: self.rows.get((dataset, method), {}).get(metric) for name, (metric, method) in pairs.items()}
        by_fold = {name: self.folds[dataset, method][metric] for name, (metric, method) in pairs.items()}
        rows = {name: values for name, values in by_row.items() if values is not None}
        samples = rows if len(rows) == len(pairs) else by_fold
        return {pairs[name] for name in not_worse_than_best(samples, smaller_is_better=smaller)}


def collect(contents: Iterable[Content], engine: str) -> Results:
    """Return the results of all cells of an engine, and of the methods that have an engine of their own."""
    contents = [content for content in contents if content["engine"] in {engine, *ENGINES_OF_METHODS}]
    return Results(folds=_folds(contents), rows=_rows(contents), seconds=_seconds(contents))


def _folds(contents: Iterable[Content]) -> dict[DatasetMethod, Metrics]:
    scores: defaultdict[DatasetMethod, dict[int, dict[str, float | None]]] = defaultdict(dict)
    for content in contents:
        for method, found in content["results"].items():
            numbers: dict[str, float | None] = {
                name: value for name, value in found.items() if isinstance(value, float | int | None)
            }
            numbers["train_seconds"] = _train_seconds(content, method)
            scores[content["dataset"], method][content["fold"]] = numbers
    folds = {}
    for key, by_fold in scores.items():
        names = sorted({name for found in by_fold.values() for name in found})
        folds[key] = {name: _values_by_fold(by_fold, name) for name in names}
    return folds


def _rows(contents: Iterable[Content]) -> dict[DatasetMethod, Metrics]:
    return {
        (content["dataset"], method): {name: decompress(values) for name, values in found["rows"].items()}
        for content in contents
        for method, found in content["results"].items()
        if "rows" in found
    }


def _seconds(contents: Iterable[Content]) -> dict[tuple[str, str], tuple[float, float]]:
    seconds: dict[tuple[str, str], tuple[float, float]] = {}
    for content in contents:
        for part, spent in content["seconds"].items():
            step = content["dataset"], f"{content['method']} {part}"
            wall, cpu = seconds.get(step, (0.0, 0.0))
            seconds[step] = (wall + spent["wall"], cpu + spent["cpu"])
    return seconds


def _train_seconds(content: Content, method: str) -> float | None:
    spent = content["seconds"].get("vsglb" if method == "sglb_single" else method)
    return None if spent is None else float(spent["cpu"])


def _values_by_fold(by_fold: dict[int, dict[str, float | None]], name: str) -> Floats:
    """Return one value per fold number, NaN where there is none, so that values of two methods can be paired."""
    values = np.full(max(by_fold) + 1, np.nan)
    for number, found in by_fold.items():
        value = found.get(name)
        values[number] = np.nan if value is None else value
    return values
