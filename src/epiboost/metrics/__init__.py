"""Metrics of uncertainty: losses, coverage, rejection, detection, calibration, disagreement and survival.

A metric whose name ends in ``_score`` is better when higher; ``_loss``, ``_error`` or ``_rate``, when lower. Metrics
take arrays or a posterior. Those that average take weights, which are counts: weight two is the same as the sample
twice. A posterior has its family and its classes; for an array, ``family=`` is its distribution where two are allowed,
and ``classes=`` are the labels in the order of the probabilities. `scorer` applies a metric to a fitted model.
"""

from epiboost.metrics.calibration import (
    ReliabilityCurve,
    expected_calibration_error,
    probability_integral_transform,
    reliability_curve,
)
from epiboost.metrics.detection import ood_auc_score, ood_average_precision_score, ood_false_positive_rate
from epiboost.metrics.disagreement import Disagreement, disagreement
from epiboost.metrics.intervals import interval_coverage_score, interval_width
from epiboost.metrics.losses import brier_loss, crps_loss, negative_log_likelihood_loss
from epiboost.metrics.ranking import (
    RejectionCurve,
    UndefinedScoreError,
    prediction_errors,
    prediction_rejection_score,
    rejection_curve,
)
from epiboost.metrics.scorers import Scorer, scorer
from epiboost.metrics.survival import (
    concordance_score,
    integrated_brier_loss,
    survival_brier_loss,
    uno_concordance_score,
)

__all__ = [
    "Disagreement",
    "RejectionCurve",
    "ReliabilityCurve",
    "Scorer",
    "UndefinedScoreError",
    "brier_loss",
    "concordance_score",
    "crps_loss",
    "disagreement",
    "expected_calibration_error",
    "integrated_brier_loss",
    "interval_coverage_score",
    "interval_width",
    "negative_log_likelihood_loss",
    "ood_auc_score",
    "ood_average_precision_score",
    "ood_false_positive_rate",
    "prediction_errors",
    "prediction_rejection_score",
    "probability_integral_transform",
    "rejection_curve",
    "reliability_curve",
    "scorer",
    "survival_brier_loss",
    "uno_concordance_score",
]
