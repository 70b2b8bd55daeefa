"""One chain of a library: how it grows, and its losses on the evaluation rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._typing import AnyArray, Floats, LibraryObject
from epiboost.engines.parallel import TreeCallback


@dataclass(frozen=True)
class Chain:
    """One trained chain: the library's model, its number of trees, the evaluation loss after each tree."""

    booster: LibraryObject
    count: int
    losses: list[float]


def grow_chain(
    chain: LangevinObjective,
    step: Callable[[int], None],
    evaluation_scores: Callable[[], AnyArray],
    report_trees: TreeCallback,
) -> list[float]:
    """Grow a chain tree by tree; return the evaluation loss after each.

    Parameters
    ----------
    chain : LangevinObjective
    step : callable
        Grows the tree of a number, from 0.
    evaluation_scores : callable
        Returns the library's score of the evaluation rows.
    report_trees : callable
        Called after each tree.
    """
    losses = []
    for tree in range(chain.spec.n_estimators):
        step(tree)
        report_trees(1)
        if chain.rows.evaluation is not None:
            losses.append(chain.evaluation_loss(evaluation_scores(), tree + 1))
    return losses


def evaluation_losses(chains: Sequence[Chain], trees: int) -> Floats:
    """Return the losses of all chains; shape (members, trees) or (members, 0)."""
    evaluation = np.full((len(chains), trees if any(chain.losses for chain in chains) else 0), np.nan)
    for row, chain in zip(evaluation, chains, strict=True):
        row[: len(chain.losses)] = chain.losses
    return evaluation
