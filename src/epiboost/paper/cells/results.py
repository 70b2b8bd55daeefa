"""What the cells of a folder say, by dataset, metric and method."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from epiboost._typing import Floats, Integers
from epiboost.paper.cells.cell import Content
from epiboost.paper.cells.packing import unpack
from epiboost.paper.methods.registry import OWN_ENGINES
from epiboost.paper.tables.significance import not_different

SMALLER_IS_BETTER = ("nll", "rmse", "error_percent")

Metrics = dict[str, Floats]


@dataclass(frozen=True, slots=True)
class Results:
    """Figures of one engine, and of the methods that need none.

    Attributes
    ----------
    folds : dict from (dataset, method) to dict from metric to array
        A value a fold; NaN where a cell has none.
    rows : dict from (dataset, method) to dict from metric to array
        A value a test row, of datasets with one split.
    seconds : dict from (dataset, piece of work) to (wall, cpu)
        Summed over folds.
    """

    folds: dict[tuple[str, str], Metrics] = field(default_factory=dict)
    rows: dict[tuple[str, str], Metrics] = field(default_factory=dict)
    seconds: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)

    @property
    def datasets(self) -> set[str]:
        """Datasets of which there is anything."""
        return {dataset for dataset, _ in self.folds}

    def mean(self, dataset: str, metric: str, method: str) -> float | None:
        """Return the mean over folds, or None if there is none."""
        values = self.values(dataset, metric, method)
        return None if values is None else float(np.nanmean(values))

    def folds_of(self, dataset: str, metric: str, method: str) -> Integers:
        """Return the numbers of the folds that have a value."""
        values = self.values(dataset, metric, method)
        return np.flatnonzero(np.isfinite(values)) if values is not None else np.empty(0, dtype=np.int64)

    def values(self, dataset: str, metric: str, method: str) -> Floats | None:
        """Return the value of each fold, or None if there is none."""
        values = self.folds.get((dataset, method), {}).get(metric)
        return None if values is None or not np.isfinite(values).any() else values

    def best(self, dataset: str, metrics: Iterable[str], methods: Iterable[str]) -> set[tuple[str, str]]:
        """Return the pairs of metric and method that are not told apart from the best among all of them."""
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
        return {pairs[name] for name in not_different(samples, smaller_is_better=smaller)}


def collect(contents: Iterable[Content], engine: str) -> Results:
    """Sort the cells of an engine, and of methods that have one of their own, into results."""
    figures: defaultdict[tuple[str, str], dict[int, dict[str, float | None]]] = defaultdict(dict)
    results = Results()
    for content in contents:
        if content["engine"] not in {engine, *OWN_ENGINES}:
            continue
        dataset = content["dataset"]
        for method, found in content["results"].items():
            plain: dict[str, float | None] = {
                name: value for name, value in found.items() if isinstance(value, float | int | None)
            }
            plain["train_seconds"] = _train_seconds(content, method)
            figures[dataset, method][content["fold"]] = plain
            if "rows" in found:
                results.rows[dataset, method] = {name: unpack(packed) for name, packed in found["rows"].items()}
        for piece, taken in content["seconds"].items():
            name = f"{content['method']} {piece}"
            wall, cpu = results.seconds.get((dataset, name), (0.0, 0.0))
            results.seconds[dataset, name] = (wall + taken["wall"], cpu + taken["cpu"])
    for key, by_fold in figures.items():
        names = sorted({name for found in by_fold.values() for name in found})
        results.folds[key] = {name: _over_folds(by_fold, name) for name in names}
    return results


def _train_seconds(content: Content, method: str) -> float | None:
    taken = content["seconds"].get("vsglb" if method == "sglb_single" else method)
    return None if taken is None else float(taken["cpu"])


def _over_folds(by_fold: dict[int, dict[str, float | None]], name: str) -> Floats:
    """Return one value a fold number, NaN where there is none, so that folds of methods are pairs."""
    values = np.full(max(by_fold) + 1, np.nan)
    for number, found in by_fold.items():
        value = found.get(name)
        values[number] = np.nan if value is None else value
    return values
