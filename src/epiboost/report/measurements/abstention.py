"""Abstention: error of the accepted rows, rejection curves, and whether uncertainty detects errors."""

import warnings

import numpy as np

from epiboost import metrics
from epiboost._typing import AnyArray, Floats
from epiboost.decisions import Abstainer, TargetNotMetWarning
from epiboost.metrics import RejectionCurve, UndefinedScoreError
from epiboost.report.facts import AbstentionLevel
from epiboost.report.measurements.quality import row_losses
from epiboost.report.predictions import PrecomputedModel, Predictions
from epiboost.report.significance import error_by_chance, rank_correlation

COVERAGES = (1.0, 0.95, 0.9, 0.8)
"""Shares of the rows that are accepted."""


def measure_abstention(
    y: AnyArray | None, predictions: Predictions, classes: AnyArray | None
) -> tuple[AbstentionLevel, ...]:
    """Return the error of the accepted rows at each coverage."""
    if classes is not None and y is not None:
        return tuple(_classifier_level(coverage, y, predictions, classes) for coverage in COVERAGES)
    losses = None if y is None else row_losses(y, predictions)
    return tuple(_level(coverage, losses, predictions) for coverage in COVERAGES)


def measure_error_detection(y: AnyArray, predictions: Predictions) -> float | None:
    """Return the rank correlation of uncertainty and error, in standard errors."""
    losses = row_losses(y, predictions)
    return rank_correlation(predictions.score, losses, n_errors=int(np.count_nonzero(losses)))


def measure_rejection(
    y: AnyArray, predictions: Predictions
) -> tuple[dict[str, RejectionCurve], dict[str, float | None]]:
    """Return rejection curves and prediction-rejection ratios, by measure."""
    losses = row_losses(y, predictions)
    measures: dict[str, Floats] = {predictions.measure: predictions.score}
    if predictions.uncertainty.knowledge.any():
        measures["knowledge"] = predictions.uncertainty.knowledge
    curves = {name: metrics.rejection_curve(errors=losses, uncertainty=score) for name, score in measures.items()}
    return curves, {name: _score(curve) for name, curve in curves.items()}


def _score(curve: RejectionCurve) -> float | None:
    try:
        return curve.score
    except UndefinedScoreError:
        return None


def _classifier_level(coverage: float, y: AnyArray, predictions: Predictions, classes: AnyArray) -> AbstentionLevel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TargetNotMetWarning)
        abstainer = Abstainer(PrecomputedModel(classes), coverage=coverage).fit(predictions, y)
    if not abstainer.met_:
        return AbstentionLevel(coverage, abstainer.coverage_, abstainer.threshold_, None, None, None)
    by_chance = error_by_chance(row_losses(y, predictions), predictions.score < abstainer.threshold_)
    return AbstentionLevel(
        coverage, abstainer.coverage_, abstainer.threshold_, abstainer.error_, by_chance, abstainer.error_bound_
    )


def _level(coverage: float, losses: Floats | None, predictions: Predictions) -> AbstentionLevel:
    """Return the root mean squared error of the accepted rows, or None without targets."""
    ordered = np.sort(predictions.score)
    rank = min(int(np.ceil(round(coverage * (len(ordered) + 1), 9))), len(ordered))
    threshold = float(ordered[rank]) if rank < len(ordered) else np.inf
    accepted = predictions.score < threshold
    error = by_chance = None
    if losses is not None and accepted.any():
        error = float(np.sqrt(losses[accepted].mean()))
        by_chance = float(np.sqrt(error_by_chance(losses, accepted)))
    return AbstentionLevel(coverage, float(accepted.mean()), threshold, error, by_chance, None)
