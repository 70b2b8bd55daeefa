"""Build the entries of a table: our results, each with the published result.

`epiboost.paper.tables.layout` says which entries a table has, `epiboost.paper.tables.render` prints them.
"""

from dataclasses import dataclass

import numpy as np

from epiboost.paper.problem import n_folds
from epiboost.paper.tables.layout import TABLES, Block
from epiboost.paper.tables.published import Published, published
from epiboost.paper.tables.results import Results


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a table.

    Attributes
    ----------
    block, dataset, metric, method : str
    value, spread : float or None
        Our result: mean and standard deviation over folds; None if there is none.
    folds : int
        Number of folds of our result.
    best : bool
        Whether our result is not significantly worse than the best of ours.
    published : Published or None
        The published result, if there is one.
    """

    block: str
    dataset: str
    metric: str
    method: str
    value: float | None
    spread: float | None
    folds: int
    best: bool
    published: Published | None

    @property
    def difference(self) -> float | None:
        """Our result minus the published one; None unless our result is of all folds."""
        if self.value is None or self.published is None or not self.has_all_folds:
            return None
        return self.value - self.published.value

    @property
    def has_all_folds(self) -> bool:
        """Whether our result is of all standard splits."""
        return self.folds == n_folds(self.dataset)


def build(name: str, results: Results) -> list[Entry]:
    """Return the entries of a table, including datasets without results.

    Parameters
    ----------
    name : str
        One of `TABLES`.
    results : Results
    """
    return [
        entry
        for block in TABLES[name]
        for dataset in block.datasets
        for metrics in block.metrics
        for entry in _compared_entries(block, dataset, metrics, results)
    ]


def _compared_entries(block: Block, dataset: str, metrics: tuple[str, ...], results: Results) -> list[Entry]:
    """Return the entries of metrics that are compared with each other."""
    renamed = dict(block.renamed)
    best = results.best(dataset, metrics, [renamed.get(method, method) for method in block.methods])
    entries = []
    for metric in metrics:
        for method in block.methods:
            ours = renamed.get(method, method)
            values = results.values(dataset, metric, ours)
            finite = np.empty(0) if values is None else values[np.isfinite(values)]
            entries.append(
                Entry(
                    block=block.title,
                    dataset=dataset,
                    metric=metric,
                    method=method,
                    value=float(finite.mean()) if len(finite) else None,
                    spread=float(finite.std()) if len(finite) > 1 else None,
                    folds=len(finite),
                    best=(metric, ours) in best and metric != "train_seconds",
                    published=published().get((block.source, dataset, metric, method)),
                )
            )
    return entries
