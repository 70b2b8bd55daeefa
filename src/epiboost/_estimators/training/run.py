"""Trains the members of an ensemble, and the out-of-fold chains beside them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._boosting.recipe import Recipe
from epiboost._boosting.truncation import stages_of
from epiboost._estimators.out_of_fold.chains import subsets_of
from epiboost._estimators.out_of_fold.cross_conformal import FoldChains
from epiboost._estimators.out_of_fold.distinct_rows import DistinctRows, numbers_of
from epiboost._estimators.out_of_fold.measurement import OutOfFold, measure
from epiboost._estimators.training.history import TrainingHistory
from epiboost._estimators.training.rounds import RoundObserver
from epiboost._estimators.warm_start import EarlierFit
from epiboost._inputs.dataset import Dataset
from epiboost._posterior.knowledge_only import MEAN_ALONE
from epiboost._progress import Progress
from epiboost.engines.base import Engine, Forest, Subset, fit_subsets
from epiboost.engines.rounds import evaluation_rows, fit_rounds, replay


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """What a training gives.

    Attributes
    ----------
    forest : Forest
        The members.
    out_of_fold : OutOfFold or None
    prefixes : tuple of int or None
        Tree counts at which chains predict; None for all trees.
    history : TrainingHistory or None
    """

    forest: Forest
    out_of_fold: OutOfFold | None
    prefixes: tuple[int, ...] | None
    history: TrainingHistory | None


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRun:
    """How to train an ensemble.

    Attributes
    ----------
    engine : Engine
    recipe : Recipe
        With numbers in place of "auto".
    seed : int
    plan : OutOfFoldPlan or None
    keep_folds : bool
        Whether the out-of-fold chains are kept.
    observer : RoundObserver
    earlier : EarlierFit or None
        An ensemble whose members are continued; out-of-fold chains are trained anew.
    """

    engine: Engine
    recipe: Recipe
    seed: int
    plan: OutOfFoldPlan | None
    keep_folds: bool
    observer: RoundObserver
    earlier: EarlierFit | None = None

    def __call__(self, handed_over: list[Dataset], progress: Progress) -> Trained:
        """Train on the only dataset of a list, which is emptied, so that the engine can free a large table."""
        specs, observer = self.recipe.specs(self.seed), self.observer
        if self.plan is None and not observer.is_needed and self.earlier is None:
            return Trained(self.engine.fit(handed_over.pop(), specs, progress), None, self.recipe.prefixes, None)
        data = handed_over.pop()
        if self.plan is None:
            (forest,) = self._forests(data, [], progress)
            n_used = observer.n_used
            return Trained(forest, None, self._prefixes(forest, n_used), observer.history(n_used))
        return self._with_folds(data, self.plan, progress)

    def _with_folds(self, data: Dataset, plan: OutOfFoldPlan, progress: Progress) -> Trained:
        if self.keep_folds and not data.n_classes and not self.engine.capabilities.variance:
            message = f"keep_folds=True is for members that predict a distribution; these {MEAN_ALONE}; leave it False"
            raise ValueError(message)
        observer = self.observer
        chain_specs = self.recipe.out_of_fold_specs(self.seed, len(plan.trains) + len(plan.extra_trains))
        subsets = subsets_of(plan, chain_specs, evaluated=observer.evaluates_folds)
        forest, *forests = self._forests(data, subsets, progress)
        prefixes = self._prefixes(forest, observer.n_used)
        distinct = DistinctRows.of(plan, numbers_of(data.X), data)
        own_plan, own_data = distinct.of_plan(plan), distinct.of_data(data)
        own_table = numbers_of(own_data.X)
        measured = measure(
            own_plan,
            forests,
            own_data,
            own_table,
            prefixes=prefixes,
            stages=self._stages(observer.n_used),
            is_virtual=self.recipe.prefixes is not None,
        )
        if self.recipe.constraints.monotone:
            measured = measured.with_exact_means()
        in_use = measured.prefixes(prefixes)
        if self.keep_folds:
            kept = FoldChains.of(own_plan, forests[: len(plan.tests)], own_data, own_table, in_use)
            measured = measured.with_chains(kept)
        n_used = observer.n_used if in_use is None else in_use[-1]
        return Trained(forest, measured.of_rows(distinct.number), in_use, observer.history(n_used))

    def _forests(self, data: Dataset, subsets: Sequence[Subset], progress: Progress) -> Sequence[Forest]:
        """Return the members and the chains of the subsets."""
        specs, rounds = self.recipe.specs(self.seed), self.observer.rounds
        if self.earlier is None:
            if self.observer.is_needed:
                return fit_rounds(self.engine, data, specs, subsets, progress, rounds)
            return fit_subsets(self.engine, data, specs, subsets, progress)
        members = self.earlier.continued(self.engine, data, specs, progress)
        folds = fit_subsets(self.engine, data, (), subsets, progress) if subsets else ()
        if self.observer.is_needed:
            replay([members, *folds], evaluation_rows(data, specs, subsets), rounds)
        return [members, *folds]

    def _prefixes(self, forest: Forest, n_used: int) -> tuple[int, ...] | None:
        """Return the tree counts of virtual members, or where chains are truncated."""
        if self.recipe.prefixes is not None:
            return replace(self.recipe, n_estimators=int(forest.n_trees[0])).prefixes  # a callback may have stopped it
        return (n_used,) if n_used < int(forest.n_trees.max()) else None

    def _stages(self, n_used: int) -> tuple[int, ...] | None:
        """Return the tree counts among which a classifier chooses; None if it has no choice."""
        can_choose = self.engine.capabilities.prefixes and self.recipe.prefixes is None
        chosen = self.observer.stopped_by in {"eval_set", "validation"}
        return stages_of(n_used) if can_choose and not chosen else None
