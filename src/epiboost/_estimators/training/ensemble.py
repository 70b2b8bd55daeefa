"""From training rows to a trained ensemble: folds, rows held out, capacity, training."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from epiboost._boosting.capacity import Capacity
from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._boosting.parameter_checks import is_auto
from epiboost._boosting.recipe import Recipe
from epiboost._estimators.capacity import choose_capacity, count_rows
from epiboost._estimators.family_choice import AUTO_FAMILY, FamilyChoice
from epiboost._estimators.out_of_fold.measurement import OutOfFold
from epiboost._estimators.out_of_fold.options import OutOfFoldOptions, plan_for
from epiboost._estimators.reference_rows import ChosenRows, Measured, ReferenceRows
from epiboost._estimators.training.families import choose_family, with_family
from epiboost._estimators.training.history import StoppingRows
from epiboost._estimators.training.rounds import Callback, RoundObserver
from epiboost._estimators.training.run import Trained, TrainingRun
from epiboost._estimators.training.stopping import StoppingOptions, hold_out
from epiboost._estimators.training_rows import TrainingRows
from epiboost._estimators.warm_start import Beginning, EarlierFit, fingerprint, parameters_of_trees
from epiboost._inputs.schema import ColumnSchema
from epiboost._inputs.sparse_table import SparseTable
from epiboost._inputs.target import Target
from epiboost._progress import log, progress_bar
from epiboost._typing import AnyArray, Floats, LibraryObject
from epiboost.engines.base import Engine
from epiboost.engines.rounds import RoundsEngine


@dataclass(frozen=True, slots=True, eq=False)
class TrainedEnsemble:
    """A trained ensemble.

    Attributes
    ----------
    trained : Trained
    capacity : Capacity
    schema : ColumnSchema
        With the ranges of the training rows.
    chosen : ChosenRows or None
        Training rows that the model is to keep.
    kept : array of bool of shape (given rows,)
        Which of the rows that `fit` was given were trained on.
    n_rows : int
        Their number.
    beginning : Beginning
        For continued training.
    taken_off : (offset, y, weight) or None
        Of the rows that were trained on, if an offset was taken off their target.
    n_scores : int
        Numbers per leaf.
    target : Target
        Of the family in use.
    choice : FamilyChoice or None
        How the family was chosen; None if it was given.
    """

    trained: Trained
    capacity: Capacity
    schema: ColumnSchema
    chosen: ChosenRows | None
    kept: AnyArray
    n_rows: int
    beginning: Beginning
    taken_off: tuple[Floats, Floats, Floats] | None
    n_scores: int
    target: Target
    choice: FamilyChoice | None = None

    @property
    def out_of_fold(self) -> OutOfFold | None:
        """Measurements of all rows that `fit` was given, offsets included; None without out-of-fold chains."""
        measured = self.trained.out_of_fold
        if measured is None:
            return None
        if self.taken_off is not None:
            measured = measured.with_offset(*self.taken_off)
        return measured.of_given_rows(self.kept)

    def reference_rows(self, uncertainty_of: Measured, threads: int) -> ReferenceRows | None:
        """Return the training rows that the model keeps; they take no more memory than its trees."""
        if self.chosen is None:
            return None
        measured = self.trained.out_of_fold
        max_bytes = self.n_scores * self.capacity.tree_bytes * int(self.trained.forest.n_trees.sum())
        max_bytes += 0 if measured is None else measured.predicted.nbytes
        return self.chosen.measured(uncertainty_of, measured, max_bytes=max_bytes, threads=threads)


@dataclass(frozen=True, slots=True, eq=False)
class EnsembleTraining:
    """What the parameters of an estimator say about training.

    Attributes
    ----------
    engine : Engine
    recipe : Recipe
    seed : int
    folds : "auto", int, splitter or iterable of (train, test)
        The parameter ``out_of_fold``.
    keep_folds : bool
    stopping : StoppingOptions
    callbacks : sequence of callables
    n_reference_rows : int
        Largest number of training rows that the model keeps.
    verbose : int
    threads : int
        Number of threads for what is not the engine's.
    earlier : EarlierFit or None
        An ensemble that is to be continued.
    distribution : str
        The parameter of a regressor.
    """

    engine: Engine
    recipe: Recipe
    seed: int
    folds: LibraryObject
    keep_folds: bool
    stopping: StoppingOptions
    callbacks: Sequence[Callback]
    n_reference_rows: int
    verbose: int
    threads: int
    earlier: EarlierFit | None = None
    distribution: str = "normal"

    def __call__(self, handed_over: list[TrainingRows]) -> TrainedEnsemble:
        """Train on the only entry of a list, which is emptied, so that the engine can free a large table."""
        rows = handed_over.pop()
        if self.earlier is not None:
            return self._continued(rows, self.earlier)
        held_out = None
        if self.stopping.validation_fraction is not None:
            held_out, rows = self._hold_out(rows)
        plan = self._plan(rows)
        stopped_by = self._stopped_by(rows, plan)
        if stopped_by == "validation" and held_out is None:  # there are no folds that could say when to stop
            held_out, rows = self._hold_out(rows)
        choice = None
        if self.distribution == AUTO_FAMILY:
            choice = self._choice(rows, plan)
            held_out, rows = (
                None if held_out is None else with_family(held_out, choice.name),
                with_family(rows, choice.name),
            )
        in_memory = isinstance(rows.data.X, np.ndarray | SparseTable)
        schema = rows.schema.with_ranges(rows.data.X, threads=self.threads) if in_memory else rows.schema
        chosen = self._chosen_rows(rows, schema)
        verbose = bool(self.verbose)
        capacity = choose_capacity(self.engine, rows.data, self.recipe, self.seed, plan, verbose=verbose)
        history = None
        if stopped_by == "validation" and self.stopping.refit and held_out is not None:
            first = self._run(held_out, capacity, None, stopped_by)
            stopped_by, history = None, first.history
            n_trees = int(first.forest.n_trees[0]) if first.prefixes is None else first.prefixes[-1]
            capacity = replace(capacity, n_estimators=n_trees)
        kept, n_rows, taken_off, target = rows.kept, len(rows.data.X), _taken_off(rows), rows.target
        n_scores, beginning = _n_scores(rows.data.n_classes), self._beginning(rows)
        trained = self._run(rows, capacity, plan, stopped_by)
        if self.recipe.ensemble == "virtual":  # a callback may have stopped it
            capacity = replace(capacity, n_estimators=int(trained.forest.n_trees[0]))
        if history is not None:
            trained = replace(trained, history=history)
        ended = (trained, capacity, schema, chosen, kept, n_rows, beginning, taken_off, n_scores, target, choice)
        return TrainedEnsemble(*ended)

    def _continued(self, rows: TrainingRows, earlier: EarlierFit) -> TrainedEnsemble:
        """Add trees to an earlier ensemble, whose seed is that of this training."""
        beginning = self._beginning(rows)
        earlier.beginning.check_parameters(self.recipe)
        earlier = earlier.of_rows(beginning)
        plan = self._plan(rows) if earlier.same_rows else None
        schema = rows.schema.with_ranges(rows.data.X, threads=self.threads)
        chosen, capacity = self._chosen_rows(rows, schema), earlier.continued_capacity(self.recipe)
        trained = self._run(rows, capacity, plan, None, earlier)
        n_rows, taken_off, n_scores = len(rows.data.X), _taken_off(rows), _n_scores(rows.data.n_classes)
        ended = (trained, capacity, schema, chosen, rows.kept, n_rows, beginning, taken_off, n_scores, rows.target)
        return TrainedEnsemble(*ended)

    def _choice(self, rows: TrainingRows, plan: OutOfFoldPlan | None) -> FamilyChoice:
        with progress_bar("Comparing families", enabled=bool(self.verbose)) as progress:
            choice = choose_family(self.engine, rows, self.recipe, self.seed, plan, progress=progress)
        if self.verbose:
            log(str(choice))
        return choice

    def _plan(self, rows: TrainingRows) -> OutOfFoldPlan | None:
        has_guard = "variance_guard" not in self.engine.capabilities.unsupported
        options = OutOfFoldOptions(self.folds, self.keep_folds, rows.groups, rows.kept, has_guard)
        return plan_for(options, self.recipe, rows.data)

    def _hold_out(self, rows: TrainingRows) -> tuple[TrainingRows, TrainingRows]:
        """Return the rows with some of them held out, and the rows that the model is trained on in the end."""
        held_out = hold_out(rows, self.stopping.fraction, self.seed)
        return held_out, rows if self.stopping.refit else held_out

    def _beginning(self, rows: TrainingRows) -> Beginning:
        return Beginning(self.seed, fingerprint(rows.data, self.threads), parameters_of_trees(self.recipe))

    def _run(
        self,
        rows: TrainingRows,
        capacity: Capacity,
        plan: OutOfFoldPlan | None,
        stopped_by: StoppingRows | None,
        earlier: EarlierFit | None = None,
    ) -> Trained:
        recipe = self.recipe.with_capacity(capacity)
        log_every = self.verbose if self.verbose > 1 else 0
        observer = RoundObserver(rows.data, recipe, plan, stopped_by, self.callbacks, log_every)
        run = TrainingRun(self.engine, recipe, self.seed, plan, self.keep_folds and plan is not None, observer, earlier)
        with progress_bar("Training", enabled=self.verbose == 1, lines=True) as progress:
            return run([rows.data], progress)

    def _stopped_by(self, rows: TrainingRows, plan: OutOfFoldPlan | None) -> StoppingRows | None:
        return self.stopping.rows(
            has_folds=plan is not None,
            has_auto_length=is_auto(self.recipe.n_estimators) and self.recipe.ensemble != "virtual",
            stops_early=isinstance(self.engine, RoundsEngine),
            n_rows=count_rows(rows.data),
        )

    def _chosen_rows(self, rows: TrainingRows, schema: ColumnSchema) -> ChosenRows | None:
        if schema.ranges is None:
            return None
        groups = None if rows.groups is None else rows.groups[rows.kept]
        return ChosenRows.of(rows.data, schema.ranges, self.n_reference_rows, groups, self.threads)


def _taken_off(rows: TrainingRows) -> tuple[Floats, Floats, Floats] | None:
    """Return what was taken off the target, what is left of it, and the weights; None without an offset."""
    return None if rows.offset is None else (rows.offset, rows.data.y, rows.data.weight)


def _n_scores(n_classes: int) -> int:
    """Return how many numbers a leaf has: mean and log standard deviation, or one per class, one for two classes."""
    return {0: 2, 2: 1}.get(n_classes, n_classes)
