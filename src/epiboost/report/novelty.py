"""What a table holds that training has not seen: categories, numbers well beyond their range, gaps where none were."""

from typing import Any

import numpy as np

from epiboost._inputs.feature_ranges import FeatureRanges
from epiboost._inputs.schema import ColumnSchema
from epiboost._inputs.user_table import fitted_feature_names
from epiboost._posterior.unwrap import Wrapped
from epiboost._typing import AnyArray
from epiboost.explain.game import numbers_of
from epiboost.report.formatting import distinct
from epiboost.report.model_facts import inner_of
from epiboost.report.ood_facts import NewColumn, Novelty

_TOLERATED = 0.02
_FEW = 2
_OUTSIDE = 2
"""Of n + 1 numbers of one kind two lie outside the range of the others: the smallest and the largest."""


def novelty_of(asked: Wrapped, X: Any, n_rows: int) -> tuple[Novelty, AnyArray]:  # noqa: ANN401 (anything a model reads)
    """Return what is new, and which rows hold any of it.

    Parameters
    ----------
    asked : Wrapped
    X : table of shape (n, columns)
    n_rows : int
        How many rows that are.

    Returns
    -------
    Novelty
    array of bool, of shape (n,)
    """
    inner = inner_of(asked.model)
    schema: ColumnSchema | None = getattr(inner, "schema_", None)
    ground: FeatureRanges | None = getattr(inner, "feature_ranges_", None)
    if schema is None or not (schema.categories or ground):
        return Novelty(ranges=False, n_rows=0, n_unseen=0, columns=(), clear=False), np.zeros(n_rows, dtype=bool)
    rows = numbers_of(asked.model, asked.rows(X))
    of_categories = schema.is_categorical
    unseen = (rows == -1.0) & of_categories
    beyond = np.zeros_like(unseen) if ground is None else ground.beyond(rows) & ~of_categories
    new = unseen | beyond
    rows_with_new: AnyArray = new.any(axis=1)
    training = getattr(inner, "provenance_", None)
    by_chance = _OUTSIDE / (1 + (training.n_rows if training is not None else n_rows))
    counts = new.sum(axis=0)
    missing = (beyond & np.isnan(rows)).sum(axis=0)
    names = distinct(fitted_feature_names(inner, rows.shape[1]))
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


def _range(ground: FeatureRanges | None, place: int) -> tuple[float | None, float | None]:
    if ground is None or np.isnan(ground.low[place]):
        return None, None
    return float(ground.low[place]), float(ground.high[place])
