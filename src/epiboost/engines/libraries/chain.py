"""One chain of a library: how it grows, when it stops early, and its losses on the evaluation rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._typing import AnyArray, Floats, LibraryObject
from epiboost.engines.parallel import TreeCallback


@dataclass(frozen=True)
class Chain:
    """One trained chain: the library's model, the number of trees in use, the evaluation loss after each tree."""

    booster: LibraryObject
    count: int
    losses: list[float]


def grow_chain(
    chain: LangevinObjective,
    step: Callable[[int], None],
    evaluation_scores: Callable[[], AnyArray],
    report_trees: TreeCallback,
) -> tuple[int, list[float]]:
    """Grow a chain tree by tree, with early stopping; return the trees in use and the evaluation loss after each.

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
    stopping = EarlyStopping(chain.spec.patience)
    for tree in range(chain.spec.n_estimators):
        step(tree)
        report_trees(1)
        if chain.rows.evaluation is not None:
            stopping.add(chain.evaluation_loss(evaluation_scores(), tree + 1))
            if stopping.should_stop:
                break
    return stopping.trees_in_use(chain.spec.n_estimators), stopping.losses


class EarlyStopping:
    """The evaluation losses of a chain, and where it stops.

    Parameters
    ----------
    patience : int or None
        Trees without a better loss before the chain stops; None for never.

    Examples
    --------
    >>> stopping = EarlyStopping(patience=2)
    >>> for loss in (3.0, 2.0, 2.5, 2.2):
    ...     stopping.add(loss)
    >>> stopping.should_stop, stopping.trees_in_use(100)
    (True, 2)
    """

    def __init__(self, patience: int | None) -> None:
        self.patience = patience
        self.losses: list[float] = []
        self.best = 0

    def add(self, loss: float) -> None:
        """Record the loss after the next tree."""
        self.losses.append(loss)
        if loss < self.losses[self.best]:
            self.best = len(self.losses) - 1

    @property
    def should_stop(self) -> bool:
        """Whether the chain should stop."""
        return self.patience is not None and len(self.losses) - 1 - self.best >= self.patience

    def trees_in_use(self, n_estimators: int) -> int:
        """Return the number of trees up to the best loss, all trees without early stopping."""
        return n_estimators if self.patience is None else self.best + 1


def evaluation_losses(chains: Sequence[Chain], trees: int) -> Floats:
    """Return the losses of all chains, NaN after a chain has stopped; shape (members, trees) or (members, 0)."""
    evaluation = np.full((len(chains), trees if any(chain.losses for chain in chains) else 0), np.nan)
    for row, chain in zip(evaluation, chains, strict=True):
        row[: len(chain.losses)] = chain.losses
    return evaluation
