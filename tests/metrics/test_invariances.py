"""What all metrics have in common: weights are counts, the order of rows is irrelevant, bad weights are refused."""

import numpy as np
import pytest

from epiboost.metrics import (
    brier_loss,
    crps_loss,
    expected_calibration_error,
    interval_coverage_score,
    interval_width,
    negative_log_likelihood_loss,
    ood_auc_score,
    ood_average_precision_score,
    ood_false_positive_rate,
    prediction_rejection_score,
)
from tests.support.posteriors import CATEGORICAL, LABELS, N_SAMPLES, NORMAL, Y, rows_of

GENERATOR = np.random.default_rng(1)
ALL = np.arange(N_SAMPLES)
ORDER = GENERATOR.permutation(N_SAMPLES)
WEIGHT = GENERATOR.integers(0, 4, size=N_SAMPLES)
INTERVAL = NORMAL.interval(0.6)
ERRORS = GENERATOR.gamma(0.5, size=N_SAMPLES)
OUT = GENERATOR.random(N_SAMPLES) < 0.4
UNCERTAINTY = (GENERATOR.normal(size=N_SAMPLES) + OUT).round(1)

METRICS = {
    "likelihood of normals": lambda rows, weight: negative_log_likelihood_loss(
        Y[rows], rows_of(NORMAL, rows), sample_weight=weight
    ),
    "likelihood of classes": lambda rows, weight: negative_log_likelihood_loss(
        LABELS[rows], rows_of(CATEGORICAL, rows), sample_weight=weight
    ),
    "crps": lambda rows, weight: crps_loss(Y[rows], rows_of(NORMAL, rows), sample_weight=weight),
    "brier": lambda rows, weight: brier_loss(LABELS[rows], rows_of(CATEGORICAL, rows), sample_weight=weight),
    "coverage": lambda rows, weight: interval_coverage_score(Y[rows], INTERVAL[rows], sample_weight=weight),
    "width": lambda rows, weight: interval_width(INTERVAL[rows], sample_weight=weight),
    "calibration of normals": lambda rows, weight: expected_calibration_error(
        Y[rows], rows_of(NORMAL, rows), sample_weight=weight
    ),
    "calibration of classes": lambda rows, weight: expected_calibration_error(
        LABELS[rows], rows_of(CATEGORICAL, rows), n_bins=4, sample_weight=weight
    ),
    "calibration in quantiles": lambda rows, weight: expected_calibration_error(
        LABELS[rows], rows_of(CATEGORICAL, rows), n_bins=4, strategy="quantile", sample_weight=weight
    ),
    "rejection": lambda rows, weight: prediction_rejection_score(
        errors=ERRORS[rows], uncertainty=UNCERTAINTY[rows], sample_weight=weight
    ),
    "detection auc": lambda rows, weight: ood_auc_score(OUT[rows], UNCERTAINTY[rows], sample_weight=weight),
    "detection precision": lambda rows, weight: ood_average_precision_score(
        OUT[rows], UNCERTAINTY[rows], sample_weight=weight
    ),
    "detection false positives": lambda rows, weight: ood_false_positive_rate(
        OUT[rows], UNCERTAINTY[rows], sample_weight=weight
    ),
}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)


@every_metric
def test_a_weight_is_a_number_of_repetitions(metric):
    repeated = np.repeat(ALL, WEIGHT)
    assert metric(ALL, WEIGHT) == pytest.approx(metric(repeated, None), rel=1e-12)
    assert metric(repeated, None) != pytest.approx(metric(ALL, None), rel=1e-6)


@every_metric
def test_the_order_of_rows_is_irrelevant(metric):
    assert metric(ORDER, WEIGHT[ORDER]) == pytest.approx(metric(ALL, WEIGHT), rel=1e-12)


@every_metric
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.full(N_SAMPLES, -1.0), "must not be negative, got -1"),
        (np.zeros(N_SAMPLES), "zero for every sample"),
        (np.full(N_SAMPLES, np.nan), "must be finite"),
        (np.ones(N_SAMPLES + 1), "one entry per sample"),
        (np.full(N_SAMPLES, 1e308), "must have a finite sum"),
    ],
    ids=["negative", "zero", "nan", "too long", "too large"],
)
def test_weights_that_are_not_counts_are_refused(metric, weight, message):
    with pytest.raises(ValueError, match=f"sample_weight .*{message}"):
        metric(ALL, weight)


@every_metric
def test_an_empty_table_is_refused(metric):
    with pytest.raises(ValueError, match="empty"):
        metric(ALL[:0], None)
