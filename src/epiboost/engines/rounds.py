"""Training in rounds: after every so many trees the caller sees the evaluation rows and may stop.

All chains are at the same number of trees then, so that what is stopped is the ensemble. An engine that is no
`RoundsEngine` trains its chains to the end, and the rounds are gone through afterwards.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from epiboost._boosting.class_offset import add_to_scores
from epiboost._boosting.recipe import MemberSpec
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress
from epiboost._typing import Floats
from epiboost.engines.base import Engine, Forest, Subset, SubsetEngine, fit_subsets, predict_table

Predictions = Sequence[Floats | None]
"""Distribution parameters of evaluation rows, (chains, n, outputs) for each forest; None if it has no such rows."""

_MAX_VALUES = 20_000_000  # predicted at once where rounds are gone through afterwards


@dataclass(frozen=True, slots=True)
class Rounds:
    """When to pause, and what to do then.

    Attributes
    ----------
    trees : int
        Number of trees per chain between two pauses.
    done : callable
        Called with the number of trees per chain and the `Predictions` of all forests; returns whether to stop.
    """

    trees: int
    done: Callable[[int, Predictions], bool]


@runtime_checkable
class RoundsEngine(SubsetEngine, Protocol):
    """An engine that trains all chains side by side, and stops them together."""

    def fit_rounds(
        self,
        data: Dataset,
        specs: Sequence[MemberSpec],
        subsets: Sequence[Subset],
        progress: Progress,
        rounds: Rounds,
    ) -> Sequence[Forest]:
        """Train as `SubsetEngine.fit_subsets`, in rounds; forests have the trees up to the stop."""


def fit_rounds(  # noqa: PLR0917 (those of the method, and the engine)
    engine: Engine,
    data: Dataset,
    specs: Sequence[MemberSpec],
    subsets: Sequence[Subset],
    progress: Progress,
    rounds: Rounds,
) -> Sequence[Forest]:
    """Train chains on all rows and on subsets in rounds, by any engine that can truncate chains."""
    if isinstance(engine, RoundsEngine):
        return engine.fit_rounds(data, specs, subsets, progress, rounds)
    evaluations = evaluation_rows(data, specs, subsets)
    forests = fit_subsets(engine, data, specs, subsets, progress)
    replay(forests, evaluations, rounds)
    return forests


def evaluation_rows(data: Dataset, specs: Sequence[MemberSpec], subsets: Sequence[Subset]) -> list[Dataset | None]:
    """Return the evaluation rows of each forest."""
    of_all = [data.evaluation] if specs else []
    return [*of_all, *(None if subset.evaluation is None else data.take(subset.evaluation) for subset in subsets)]


def replay(forests: Sequence[Forest], evaluations: Sequence[Dataset | None], rounds: Rounds) -> None:
    """Go through the rounds of forests that are trained already."""
    n_trees = min(int(forest.n_trees.min()) for forest in forests)
    stages = [*range(rounds.trees, n_trees, rounds.trees), n_trees]
    rows = sum(len(one.X) * len(forest.n_trees) for one, forest in zip(evaluations, forests, strict=True) if one)
    at_once = max(1, _MAX_VALUES // max(rows, 1))
    for first in range(0, len(stages), at_once):
        part = stages[first : first + at_once]
        predicted = [
            None if one is None else _by_stage(_predict(forest, one, part), len(part))
            for one, forest in zip(evaluations, forests, strict=True)
        ]
        for position, stage in enumerate(part):
            if rounds.done(stage, [None if one is None else one[position] for one in predicted]):
                return


def _predict(forest: Forest, rows: Dataset, stages: Sequence[int]) -> Floats:
    """Return the parameters of evaluation rows, with the offset of their classes."""
    parameters = predict_table(forest, rows.X, prefixes=stages)
    return parameters if rows.offset is None else add_to_scores(parameters, rows.offset)


def _by_stage(parameters: Floats, n_stages: int) -> Floats:
    """Return the parameters of members, which go through the stages of each chain, as (stages, chains, n, outputs)."""
    by_chain = parameters.reshape(-1, n_stages, *parameters.shape[1:])
    stages: Floats = by_chain.swapaxes(0, 1)
    return stages
