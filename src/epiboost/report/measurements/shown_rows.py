"""Which rows are shown: the lines of the table and the points of the chart."""

import numpy as np

from epiboost._typing import Integers
from epiboost.report.facts import Points, RowKind
from epiboost.report.measurements.drivers import evenly_spaced
from epiboost.report.predictions import Predictions

MAX_TABLE_ROWS = 80
MAX_POINTS = 1500
_MAX_OTHER_POINTS = 400


def most_uncertain(predictions: Predictions) -> Integers:
    """Return the rows of the table: half by the abstention score, the other half by knowledge uncertainty."""
    by_score = np.argsort(-predictions.score, kind="stable")
    by_knowledge = np.argsort(-predictions.uncertainty.knowledge, kind="stable")
    first = by_score[: MAX_TABLE_ROWS // 2]
    rest = by_knowledge[~np.isin(by_knowledge, first)]
    chosen = np.concatenate([first, rest[: MAX_TABLE_ROWS - len(first)]])
    return chosen[np.argsort(-predictions.score[chosen], kind="stable")]


def chart_points(
    predictions: Predictions, other: Predictions | None, uncertain: Integers, kinds: tuple[RowKind, ...]
) -> Points:
    """Return the rows of the chart: evenly spaced rows, the most uncertain rows, and rows of the other table."""
    n_own = MAX_POINTS - (0 if other is None else _MAX_OTHER_POINTS)
    rows = np.union1d(evenly_spaced(len(predictions), n_own), uncertain)
    point_kinds: list[RowKind] = [kinds[row] for row in rows.tolist()]
    knowledge = predictions.uncertainty.knowledge[rows]
    data = None if predictions.data is None else predictions.data[rows]
    if other is not None:
        other_rows = evenly_spaced(len(other), _MAX_OTHER_POINTS)
        rows, knowledge = np.append(rows, other_rows), np.append(knowledge, other.uncertainty.knowledge[other_rows])
        data = None if data is None or other.data is None else np.append(data, other.data[other_rows])
        point_kinds += ["other"] * len(other_rows)
    return Points(rows, data, knowledge, tuple(point_kinds))
