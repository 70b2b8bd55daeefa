"""Why a row is uncertain: the rules that mark rows as noisy or unfamiliar, and which rows are shown."""

import numpy as np

from epiboost._typing import Integers
from epiboost.report.facts import Points, RowKind
from epiboost.report.measurements.drivers import evenly_spaced
from epiboost.report.predictions import Predictions

MAX_TABLE_ROWS = 80
MAX_POINTS = 1500
_MAX_OTHER_POINTS = 400

_UNUSUAL = 2.0  # times the usual value; a rule of thumb
_RELEVANT_SHARE = 0.1  # of the total uncertainty; with less, the row is uncertain for other reasons
_EXTREME = 100.0  # times the usual value: the row is unfamiliar even if noise makes up most of the total
_NOISY = 1.5  # times the median data uncertainty; a rule of thumb
_HIGH_ENTROPY_SHARE = 0.5  # of the largest possible entropy


def row_kinds(predictions: Predictions) -> tuple[RowKind, ...]:
    """Mark rows as unfamiliar, noisy or ordinary.

    Unfamiliar: knowledge uncertainty, and its share of the total, are more than twice the usual value; and that share
    is at least a tenth, or knowledge uncertainty is more than a hundred times the usual value. The usual value is the
    median over the more uncertain half of the rows. Knowledge uncertainty alone is not enough, as members disagree
    more where targets are noisy. Its share alone is not enough, as it is always large where there is no noise.

    Noisy: not unfamiliar, and data uncertainty is more than 1.5 times the median of all rows, or at least half of the
    largest possible entropy of a classifier.
    """
    knowledge, data = predictions.uncertainty.knowledge, predictions.data
    upper_half = predictions.score >= np.median(predictions.score)
    usual = np.median(knowledge[upper_half])
    unfamiliar = knowledge > _UNUSUAL * usual
    noisy = np.zeros(len(predictions), dtype=bool)
    if data is not None:
        share = knowledge / np.maximum(knowledge + data, np.finfo(np.float64).tiny)
        unfamiliar &= share > _UNUSUAL * np.median(share[upper_half])
        unfamiliar &= (share >= _RELEVANT_SHARE) | (knowledge > _EXTREME * usual)
        noisy = data > _NOISY * np.median(data)
        if predictions.posterior.classes is not None:
            noisy |= data >= _HIGH_ENTROPY_SHARE * np.log(len(predictions.posterior.classes))
    kinds: list[RowKind] = [
        "unfamiliar" if is_unfamiliar else "noisy" if is_noisy else "ordinary"
        for is_unfamiliar, is_noisy in zip(unfamiliar.tolist(), noisy.tolist(), strict=True)
    ]
    return tuple(kinds)


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
    marked = set(uncertain.tolist())
    point_kinds: list[RowKind] = [kinds[row] if row in marked else "ordinary" for row in rows.tolist()]
    knowledge = predictions.uncertainty.knowledge[rows]
    data = None if predictions.data is None else predictions.data[rows]
    if other is not None:
        other_rows = evenly_spaced(len(other), _MAX_OTHER_POINTS)
        rows, knowledge = np.append(rows, other_rows), np.append(knowledge, other.uncertainty.knowledge[other_rows])
        data = None if data is None or other.data is None else np.append(data, other.data[other_rows])
        point_kinds += ["other"] * len(other_rows)
    return Points(rows, data, knowledge, tuple(point_kinds))
