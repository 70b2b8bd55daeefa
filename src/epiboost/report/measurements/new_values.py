"""Values not seen in training: new categories, numbers far outside the training range, new missing values."""

import numpy as np

from epiboost._estimators.unwrap import UnwrappedModel
from epiboost._inputs.feature_ranges import FeatureRanges
from epiboost._inputs.schema import ColumnSchema
from epiboost._inputs.user_table import fitted_feature_names
from epiboost._typing import AnyArray, Table
from epiboost.explain.game import numeric_rows
from epiboost.report.facts import NewColumn, NewValues
from epiboost.report.formatting import unique_names
from epiboost.report.measurements.model import trained_model

_EXPECTED_OUTSIDE = 2
"""Of n + 1 numbers of one distribution two lie outside the range of the others: the smallest and the largest."""


def find_new_values(wrapped: UnwrappedModel, X: Table, n_rows: int) -> tuple[NewValues, AnyArray]:
    """Find the values of a table that were not seen in training.

    Parameters
    ----------
    wrapped : UnwrappedModel
    X : table of shape (n, columns)
    n_rows : int
        Number of rows of ``X``.

    Returns
    -------
    NewValues
    array of bool, of shape (n,)
        Which rows hold a new value.
    """
    model = trained_model(wrapped.estimator)
    schema: ColumnSchema | None = getattr(model, "schema_", None)
    if schema is None or not (schema.categories or schema.ranges):
        return NewValues(False, 0, 0, (), share_by_chance=0.0), np.zeros(n_rows, dtype=bool)  # noqa: FBT003
    rows = numeric_rows(wrapped.estimator, wrapped.transform(X))
    ranges, is_categorical = schema.ranges, schema.is_categorical
    unseen = (rows == -1.0) & is_categorical
    beyond = np.zeros_like(unseen) if ranges is None else ranges.beyond(rows) & ~is_categorical
    new = unseen | beyond
    counts, missing = new.sum(axis=0), (beyond & np.isnan(rows)).sum(axis=0)
    names = unique_names(fitted_feature_names(model, rows.shape[1]))
    columns = tuple(
        NewColumn(
            names[feature],
            int(unseen[:, feature].sum()),
            int(counts[feature] - missing[feature] - unseen[:, feature].sum()),
            int(missing[feature]),
            *_range(ranges, feature),
        )
        for feature in np.argsort(-counts, kind="stable").tolist()
        if counts[feature]
    )
    has_new_value: AnyArray = new.any(axis=1)
    training = getattr(model, "provenance_", None)
    new_values = NewValues(
        ranges=ranges is not None,
        n_rows=int(has_new_value.sum()),
        n_unseen=int(unseen.any(axis=1).sum()),
        columns=columns,
        share_by_chance=_EXPECTED_OUTSIDE / (1 + (training.n_rows if training is not None else n_rows)),
    )
    return new_values, has_new_value


def _range(ranges: FeatureRanges | None, feature: int) -> tuple[float | None, float | None]:
    if ranges is None or np.isnan(ranges.low[feature]):
        return None, None
    return float(ranges.low[feature]), float(ranges.high[feature])
