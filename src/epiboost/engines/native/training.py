"""Training of chains in the native core, on this machine or on a cluster."""

from collections.abc import Callable, Sequence

import numpy as np

from epiboost._native import ChainRecipe as NativeRecipe
from epiboost._native import Sample, native
from epiboost._progress import Progress, no_progress
from epiboost._typing import AnyArray, Floats
from epiboost.distributed.members import fan_out
from epiboost.engines.native.chains import ChainTable, Trees
from epiboost.engines.rounds import Rounds


def train_here(tables: list[ChainTable], threads: int, progress: Progress, rounds: Rounds | None = None) -> list[Trees]:
    """Train the chains of all tables side by side with threads of this machine; the list is emptied.

    The caller should hold no other reference to the tables: with large ones each copy counts. The loss after each tree
    is measured if the first table has evaluation rows.
    """
    sizes = [len(table.seeds) for table in tables]
    total = sum(len(table.seeds) * table.recipe.trees for table in tables)
    has_losses = tables[0].evaluation is not None
    round_done = None if rounds is None else _round_callback(rounds, tables)
    shifts = [table.loss_shift() for table in tables]
    given = tables[0].given  # of the only table, if there is any
    problems = [_problem(tables.pop(0)) for _ in sizes]
    together = native().train(
        *zip(*problems, strict=True),
        threads=threads,
        progress=lambda done: progress(done, total),
        losses=has_losses,
        round_trees=problems[0][2].trees if rounds is None else rounds.trees,
        round_done=round_done,
        given=given,
    )
    progress(total, total)
    ends = np.cumsum(sizes)[:-1]
    trained = [Trees(*parts) for parts in zip(*(np.split(array, ends) for array in together), strict=True)]
    return [trees._replace(losses=trees.losses + shift) for trees, shift in zip(trained, shifts, strict=True)]


def _round_callback(rounds: Rounds, tables: Sequence[ChainTable]) -> Callable[[int, list[tuple[int, AnyArray]]], bool]:
    """Return the callback of the native core, which is given the scores of the evaluation rows of single chains."""
    table_of = np.repeat(np.arange(len(tables)), [len(table.seeds) for table in tables])
    objectives = [table.objective for table in tables]  # the tables themselves are not kept
    offsets = [None if table.evaluation is None else table.evaluation[3] for table in tables]

    def go_on(n_trees: int, evaluated: list[tuple[int, AnyArray]]) -> bool:
        predicted: list[list[Floats]] = [[] for _ in objectives]
        for chain, scores in evaluated:
            table = int(table_of[chain])
            offset = offsets[table]
            known = scores.astype(np.float64) if offset is None else scores.astype(np.float64) + offset
            predicted[table].append(objectives[table].parameters(known))
        return not rounds.done(n_trees, [np.stack(chains) if chains else None for chains in predicted])

    return go_on


def train_on_cluster(tables: list[ChainTable], progress: Progress) -> list[Trees]:
    """Train each chain on a worker of the active cluster; the bits are those of `train_here`."""
    total = sum(len(table.seeds) * table.recipe.trees for table in tables)
    done_before, trained = 0, []
    for table in tables:
        n_chains, trees = len(table.seeds), table.recipe.trees

        def report(done: int, before: int = done_before, trees: int = trees) -> None:
            progress(before + done * trees, total)

        parts = fan_out(_train_chain, table, range(n_chains), report)
        trained.append(Trees(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True))))
        done_before += n_chains * trees
    return trained


def _problem(table: ChainTable) -> tuple[list[Sample], list[Sample], NativeRecipe, AnyArray]:
    """Return samples, evaluation rows, recipe and seeds as objects of the native core."""
    return table.samples(), table.evaluation_samples(), table.recipe.to_native(), table.seeds


def _train_chain(table: ChainTable, chain: int, *, threads: int) -> Trees:
    """Train one chain on a worker."""
    return train_here([table.of_chain(chain)], threads, no_progress)[0]
