"""The native engine: bins the table, trains chains in the native core and returns the forest."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._boosting.recipe import ON_CLUSTER, MemberSpec, thread_count
from epiboost._boosting.step_sizes import step_sizes
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress
from epiboost._typing import Device
from epiboost.engines.base import Capabilities, Forest, Subset
from epiboost.engines.native.chains import ChainTable, Trees, chain_table, forest_of
from epiboost.engines.native.forest import NativeForest
from epiboost.engines.native.quick_trees import QuickTrees
from epiboost.engines.native.rows import bin_evaluation, bin_numbers, bin_rows, rows_for
from epiboost.engines.native.training import train_here, train_on_cluster
from epiboost.engines.native.training_on_device import train_on_device
from epiboost.engines.rounds import Rounds, evaluation_rows, replay

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
    device : {"cpu", "cuda", "auto"}
        Where chains are trained, and where their forest predicts.
    """

    n_jobs: int | str | None = None
    borders: Sequence[Sequence[float]] | None = field(default=None, repr=False)
    device: Device = field(default="cpu", repr=False)

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do."""
        return Capabilities(
            partitions="bins",
            cluster=True,
            class_offset=True,
            sparse=True,
            device=True,
            compiled_families=True,
        )

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> NativeForest:
        """Train one chain per spec; specs must differ in their seeds only."""
        tasks = [(data, specs)]
        del data  # a large table is freed as early as possible
        (forest,) = self._fit_all(tasks, progress)
        return forest

    def fit_subsets(
        self, data: Dataset, specs: Sequence[MemberSpec], subsets: Sequence[Subset], progress: Progress
    ) -> list[NativeForest]:
        """Train one chain per spec on all rows, and those of each subset on its rows, all side by side.

        Subsets of a table of numbers share its bins. Categories are encoded for each subset anew, because their
        statistics depend on the target.
        """
        return self._fit_all(self._tasks(data, specs, subsets), progress)

    def fit_rounds(
        self,
        data: Dataset,
        specs: Sequence[MemberSpec],
        subsets: Sequence[Subset],
        progress: Progress,
        rounds: Rounds,
    ) -> list[NativeForest]:
        """Train as `fit_subsets`, in rounds; workers of a cluster train whole chains."""
        if self.n_jobs != ON_CLUSTER:
            return self._fit_all(self._tasks(data, specs, subsets), progress, rounds)
        evaluations = evaluation_rows(data, specs, subsets)
        forests = self._fit_all(self._tasks(data, specs, subsets), progress)
        replay(forests, evaluations, rounds)
        return forests

    def _tasks(
        self, data: Dataset, specs: Sequence[MemberSpec], subsets: Sequence[Subset]
    ) -> list[tuple[Dataset, Sequence[MemberSpec]]]:
        """Return the data and the specs of all rows, if there are specs, and of each subset."""
        if subsets and not any(data.n_codes):
            max_bins = subsets[0].specs[0].max_bins
            table = bin_numbers(data, max_bins, thread_count(self.n_jobs), self.given_bins(max_bins))
            data = replace(data, X=table)
        tasks = [(data, specs)] if specs else []
        return tasks + [(_subset_data(data, subset), subset.specs) for subset in subsets]

    def continue_fit(
        self, data: Dataset, specs: Sequence[MemberSpec], forest: Forest, progress: Progress, *, same_rows: bool
    ) -> NativeForest:
        """Add trees to the chains of a forest; bins, encoding and units of the target stay."""
        if not isinstance(forest, NativeForest):
            message = f"engine='native' continues its own chains; the model was trained by another engine: {forest!r}"
            raise TypeError(message)
        if (forest.count < forest.feature.shape[1]).any():
            message = "early stopping has ended the chains at different lengths; they cannot be continued"
            raise ValueError(message)
        threads = thread_count(self.n_jobs)
        if forest.encoding is not None and same_rows:
            rows = bin_rows(data, specs, threads, residual_function=QuickTrees(specs[0], threads))
        else:
            rows = rows_for(forest, data, specs[0].max_bins, threads)
        evaluation = None if data.evaluation is None else bin_evaluation(data.evaluation, rows, threads)
        steps = step_sizes(specs[0], rows.objective, float(rows.weight.sum()))
        if steps.decay != forest.decay:  # another number of rows; all trees of a chain are shrunk alike
            steps = replace(steps, shrink=(1.0 - forest.decay) / steps.rate)
        table = replace(
            chain_table(rows, evaluation, specs, steps),
            given=(forest.feature, forest.threshold, forest.parent, forest.leaf),
        )
        (trees,) = self._train([table], progress)
        continued = forest_of(trees, rows.bins, rows.objective, steps, n_jobs=self.n_jobs, encoding=rows.encoding)
        return replace(continued, decay=forest.decay, device=self.device)

    def _fit_all(
        self, tasks: list[tuple[Dataset, Sequence[MemberSpec]]], progress: Progress, rounds: Rounds | None = None
    ) -> list[NativeForest]:
        """Train the chains of all tasks side by side; the list is emptied, so that tables are freed early."""
        threads = thread_count(self.n_jobs)
        tables, unfinished = [], []
        while tasks:
            data, specs = tasks.pop(0)
            if data.n_classes > _MAX_CLASSES:
                message = f"engine='native' supports at most {_MAX_CLASSES} classes; y holds {data.n_classes}"
                raise ValueError(message)
            quick_trees = QuickTrees(specs[0], threads)
            given = self.given_bins(specs[0].max_bins)
            rows = bin_rows(data, specs, threads, given, residual_function=quick_trees)
            evaluation = None if data.evaluation is None else bin_evaluation(data.evaluation, rows, threads)
            steps = step_sizes(specs[0], rows.objective, float(rows.weight.sum()))
            tables.append(chain_table(rows, evaluation, specs, steps))
            unfinished.append((rows.bins, rows.objective, steps, rows.encoding))
            del data, rows, evaluation  # the trainer gets the only reference to the bins
        return [
            forest_of(trees, bins, objective, steps, n_jobs=self.n_jobs, encoding=encoding).on(self.device)
            for trees, (bins, objective, steps, encoding) in zip(
                self._train(tables, progress, rounds), unfinished, strict=True
            )
        ]

    def _train(self, tables: list[ChainTable], progress: Progress, rounds: Rounds | None = None) -> list[Trees]:
        """Train the chains of all tables on the cluster, on the GPU or here; the list is emptied."""
        shifts, threads = [table.loss_shift() for table in tables], thread_count(self.n_jobs)
        if self.n_jobs == ON_CLUSTER:
            trained = train_on_cluster(tables, progress=progress)
        else:
            on_device = train_on_device(tables, threads, progress, rounds, device=self.device)
            trained = train_here(tables, threads, progress, rounds) if on_device is None else on_device
        return [trees._replace(losses=trees.losses + shift) for trees, shift in zip(trained, shifts, strict=True)]

    def given_bins(self, max_bins: int) -> Bins | None:
        """Return the bins of the given borders, or None."""
        return None if self.borders is None else Bins.of(self.borders, max_bins)


def _subset_data(data: Dataset, subset: Subset) -> Dataset:
    """Return the rows of a subset; those that are only predicted have any target."""
    rows = data.take(subset.rows)
    if subset.evaluation is None:
        return replace(rows, evaluation=None)
    predicted = data.take(subset.evaluation)
    return replace(
        rows, evaluation=replace(predicted, y=np.repeat(rows.y[:1], len(predicted.y), axis=0), evaluation=None)
    )
