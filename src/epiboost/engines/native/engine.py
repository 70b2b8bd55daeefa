"""The native engine: bins the table, trains chains in the native core and returns the forest."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._boosting.recipe import ON_CLUSTER, MemberSpec, thread_count
from epiboost._boosting.step_sizes import step_sizes
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress
from epiboost.engines.base import Capabilities
from epiboost.engines.native.chains import ChainRecipe, chain_table, forest_of, train_here, train_on_cluster
from epiboost.engines.native.forest import NativeForest
from epiboost.engines.native.quick_trees import QuickTrees
from epiboost.engines.native.rows import bin_evaluation, bin_rows

_MAX_CLASSES = 1024  # the native core keeps the scores of a row on the stack


@dataclass(frozen=True, slots=True)
class NativeEngine:
    """Trains chains in the native core.

    Parameters
    ----------
    n_jobs : int or "dask", optional
        Number of threads, or ``"dask"`` to train one member per task on the active Dask cluster.
    borders : sequence of sequences of numbers, optional
        Ascending borders of the bins of each column; None uses quantiles of the rows.
    """

    n_jobs: int | str | None = None
    borders: Sequence[Sequence[float]] | None = field(default=None, repr=False)

    capabilities: ClassVar[Capabilities] = Capabilities(partitions="bins", cluster=True)

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> NativeForest:
        """Train one chain per spec; specs must differ in their seeds only."""
        if data.n_classes > _MAX_CLASSES:
            message = f"engine='native' supports at most {_MAX_CLASSES} classes; y holds {data.n_classes}"
            raise ValueError(message)
        threads = thread_count(self.n_jobs)
        seeds = np.array([spec.seed for spec in specs], dtype=np.uint64)
        quick_trees = QuickTrees(specs[0], threads)
        rows = bin_rows(data, specs, threads, self.given_bins(specs[0].max_bins), residual_function=quick_trees)
        bins, encoding, objective = rows.bins, rows.encoding, rows.objective
        evaluation = None if data.evaluation is None else bin_evaluation(data.evaluation, rows, threads)
        steps = step_sizes(specs[0], objective, float(rows.weight.sum()))
        del data  # a large table is freed as early as possible: the trainer gets the only reference to its bins
        tables = [chain_table(rows, evaluation, ChainRecipe.of(specs[0], objective, steps))]
        del rows, evaluation
        if self.n_jobs == ON_CLUSTER:
            trees = train_on_cluster(tables.pop(), seeds, progress)
        else:
            trees = train_here(tables.pop(), seeds, threads, progress)
        return forest_of(trees, bins, objective, steps, n_jobs=self.n_jobs, encoding=encoding)

    def given_bins(self, max_bins: int) -> Bins | None:
        """Return the bins of the given borders, or None."""
        return None if self.borders is None else Bins.of(self.borders, max_bins)
