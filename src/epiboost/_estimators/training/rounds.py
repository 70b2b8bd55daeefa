"""What happens after every so many trees: losses of the ensemble, early stopping, callbacks, a line of the log."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from epiboost._boosting.early_stopping import EarlyStopping, round_length
from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._boosting.recipe import Recipe
from epiboost._estimators.training.ensemble_loss import mixture_loss, out_of_fold_loss
from epiboost._estimators.training.history import StoppingRows, TrainingHistory
from epiboost._inputs.dataset import Dataset
from epiboost._progress import log
from epiboost.engines.rounds import Predictions, Rounds


@dataclass(frozen=True, slots=True)
class TrainingRound:
    """The state of a training, as a callback gets it.

    Attributes
    ----------
    n_trees, n_trees_max : int
        Trees per chain so far, and at most.
    seconds : float
        Time since the start.
    validation_loss : float or None
        Mean negative log-likelihood of the rows of ``eval_set``, or of those held out; None without such rows.
    out_of_fold_loss : float or None
        See `TrainingHistory`.
    """

    n_trees: int
    n_trees_max: int
    seconds: float
    validation_loss: float | None
    out_of_fold_loss: float | None

    def __str__(self) -> str:
        """Return a line of a log."""
        losses = {"validation loss": self.validation_loss, "out-of-fold loss": self.out_of_fold_loss}
        parts = [f"{self.n_trees} of {self.n_trees_max} trees"]
        parts += [f"{name} {value:.5g}" for name, value in losses.items() if value is not None]
        return ", ".join([*parts, f"{self.seconds:.1f} s"])


Callback = Callable[[TrainingRound], object]
"""Called after every round; training stops if it returns True."""


def check_callbacks(callbacks: object) -> tuple[Callback, ...]:
    """Return callbacks as a tuple; a TypeError if they are not callables."""
    given = (callbacks,) if callable(callbacks) else tuple(callbacks or ())  # type: ignore[arg-type]
    for one in given:
        if not callable(one):
            message = f"callbacks must be callables that take a TrainingRound; got {one!r}"
            raise TypeError(message)
    return given


@dataclass(eq=False)
class RoundObserver:
    """Follows a training.

    Parameters
    ----------
    data : Dataset
        Its table is not kept.
    recipe : Recipe
        With numbers in place of "auto".
    plan : OutOfFoldPlan or None
    stopped_by : {"eval_set", "validation", "out_of_fold"} or None
    callbacks : sequence of callables
    log_every : int
        Trees between two lines of the log; 0 for none.
    """

    data: Dataset
    recipe: Recipe
    plan: OutOfFoldPlan | None
    stopped_by: StoppingRows | None
    callbacks: Sequence[Callback] = ()
    log_every: int = 0
    seen: list[TrainingRound] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self.data = replace(self.data, X=np.empty((0, 0)))
        self._start = time.perf_counter()
        self._stopping = EarlyStopping(self.recipe.early_stopping_rounds)

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to do after a round."""
        measured = self.data.evaluation is not None or self.stopped_by is not None
        return measured or bool(self.callbacks) or self.log_every > 0

    @property
    def rounds(self) -> Rounds:
        """The rounds for an engine."""
        length = round_length(self.recipe.early_stopping_rounds)
        return Rounds(min(length, self.log_every) if self.log_every else length, self.done)

    @property
    def evaluates_folds(self) -> bool:
        """Whether the out-of-fold chains must predict their rows after each round."""
        return self.stopped_by == "out_of_fold"

    @property
    def n_used(self) -> int:
        """Number of trees to use: the best on rows that members have not seen, otherwise all.

        Members see more rows than the out-of-fold chains. What these say is best is too short for them, and the trees
        up to the stop are kept.
        """
        if self.stopped_by in {"eval_set", "validation"}:
            return self._stopping.best
        return self.seen[-1].n_trees if self.seen else int(self.recipe.n_estimators)

    def history(self, n_used: int) -> TrainingHistory | None:
        """Return the losses by number of trees; None if there are none."""
        if self.data.evaluation is None and not self.evaluates_folds:
            return None
        validation = np.array([one.validation_loss for one in self.seen], dtype=np.float64)
        expected = np.array([one.out_of_fold_loss for one in self.seen], dtype=np.float64)
        return TrainingHistory(
            np.array([one.n_trees for one in self.seen], dtype=np.int64),
            None if self.data.evaluation is None else validation,
            expected if self.evaluates_folds else None,
            self.stopped_by,
            n_used,
        )

    def done(self, n_trees: int, predicted: Predictions) -> bool:
        """Measure the ensemble after a round; return whether to stop."""
        of_members, *of_folds = predicted
        validation = expected = None
        if of_members is not None and self.data.evaluation is not None:
            validation = mixture_loss(of_members, self.data.evaluation)
        if self.evaluates_folds and self.plan is not None:
            chains = [one[0] for one in of_folds if one is not None]
            expected = out_of_fold_loss(chains, self.plan, self.data, self.recipe.n_posterior_members)
        seconds = time.perf_counter() - self._start
        now = TrainingRound(n_trees, int(self.recipe.n_estimators), seconds, validation, expected)
        before = self.seen[-1].n_trees if self.seen else 0
        if self.log_every and (n_trees >= now.n_trees_max or n_trees // self.log_every > before // self.log_every):
            log(str(now))
        self.seen.append(now)
        decisive = {"eval_set": validation, "validation": validation, "out_of_fold": expected}.get(str(self.stopped_by))
        stops = decisive is not None and self._stopping.add(n_trees, decisive)
        answers = [callback(now) for callback in self.callbacks]
        return stops or any(isinstance(answer, bool | np.bool_) and bool(answer) for answer in answers)
