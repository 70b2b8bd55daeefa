"""What a table holds that training has not seen: categories, numbers well beyond their range, gaps where none were."""

from typing import Any

import numpy as np

from epiboost._estimators.base import BaseEpiBoost
from epiboost._inputs.feature_ranges import Ground
from epiboost._inputs.raw_values import names_of
from epiboost._posterior.unwrap import UnwrappedModel
from epiboost._typing import AnyArray
from epiboost.explain.game import numbers_of
from epiboost.report.formatting import distinct
from epiboost.report.model_facts import inner_of
from epiboost.report.ood_facts import NewColumn, Novelty

_TOLERATED = 0.02
_FEW = 2
_OUTSIDE = 2
"""Of n + 1 numbers of one kind two lie outside the range of the others: the smallest and the largest."""


def novelty_of(asked: UnwrappedModel, X: Any, n_rows: int) -> tuple[Novelty, AnyArray]:  # noqa: ANN401 (anything a model reads)
    """Return what is new, and which rows hold any of it.

    Parameters
    ----------
    asked : UnwrappedModel
    X : table of shape (n, columns)
    n_rows : int
        How many rows that are.

    Returns
    -------
    Novelty
    array of bool, of shape (n,)
    """
    inner = inner_of(asked.estimator)
    vocabularies = getattr(inner, "vocabularies_", ())
    ground: Ground | None = getattr(inner, "ground_", None)
    if not isinstance(inner, BaseEpiBoost) or not (vocabularies or ground):
        return Novelty(ranges=False, n_rows=0, n_unseen=0, columns=(), clear=False), np.zeros(n_rows, dtype=bool)
    rows = numbers_of(asked.estimator, asked.transform(X))
    of_categories = np.array([known is not None for known in vocabularies] or [False] * rows.shape[1])
    unseen = (rows == -1.0) & of_categories
    beyond = np.zeros_like(unseen) if ground is None else ground.beyond(rows) & ~of_categories
    new = unseen | beyond
    rows_with_new: AnyArray = new.any(axis=1)
    training = getattr(inner, "training_", None)
    by_chance = _OUTSIDE / (1 + (training.n_rows if training is not None else n_rows))
    counts = new.sum(axis=0)
    missing = (beyond & np.isnan(rows)).sum(axis=0)
    names = distinct(names_of(inner, rows.shape[1]))
    columns = tuple(
        NewColumn(
            names[place],
            int(unseen[:, place].sum()),
            int(counts[place] - missing[place] - unseen[:, place].sum()),
            int(missing[place]),
            *_range(ground, place),
        )
        for place in np.argsort(-counts, kind="stable").tolist()
        if counts[place]
    )
    clear = bool((counts > max(_TOLERATED, 2 * by_chance) * n_rows + _FEW).any())
    found = Novelty(ground is not None, int(rows_with_new.sum()), int(unseen.any(axis=1).sum()), columns, clear)
    return found, rows_with_new


def _range(ground: Ground | None, place: int) -> tuple[float | None, float | None]:
    if ground is None or np.isnan(ground.low[place]):
        return None, None
    return float(ground.low[place]), float(ground.high[place])
