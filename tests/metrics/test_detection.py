"""Detection of out-of-domain rows by their uncertainty, against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from epiboost.metrics import ood_auc_score, ood_average_precision_score, ood_false_positive_rate

every_metric = pytest.mark.parametrize("metric", [ood_auc_score, ood_average_precision_score, ood_false_positive_rate])
OUT = np.array([False] * 30 + [True] * 20)
UNCERTAINTY = (np.random.default_rng(0).normal(size=50) + OUT).round(1)


def test_detection_agrees_with_scikit_learn():
    assert ood_auc_score(OUT, UNCERTAINTY) == pytest.approx(roc_auc_score(OUT, UNCERTAINTY))
    assert ood_average_precision_score(OUT, UNCERTAINTY) == pytest.approx(average_precision_score(OUT, UNCERTAINTY))


def test_false_positives_are_counted_at_the_first_sufficient_threshold():
    thresholds = np.unique(UNCERTAINTY)[::-1]
    first = next(t for t in thresholds if (UNCERTAINTY[OUT] >= t).mean() >= 0.95)
    assert ood_false_positive_rate(OUT, UNCERTAINTY) == pytest.approx((UNCERTAINTY[~OUT] >= first).mean())
    assert ood_false_positive_rate(OUT, UNCERTAINTY, true_positive_rate=1.0) == pytest.approx(
        (UNCERTAINTY[~OUT] >= UNCERTAINTY[OUT].min()).mean()
    )


def test_equal_uncertainties_score_as_chance():
    equal = np.ones(50)
    assert ood_auc_score(OUT, equal) == 0.5
    assert ood_average_precision_score(OUT, equal) == pytest.approx(0.4)
    assert ood_false_positive_rate(OUT, equal) == 1.0


@every_metric
def test_infinite_uncertainties_are_ranked(metric):
    infinite = np.where(UNCERTAINTY.max() == UNCERTAINTY, np.inf, UNCERTAINTY)
    assert metric(OUT, infinite) == metric(OUT, UNCERTAINTY)


@every_metric
@pytest.mark.parametrize(
    ("is_out", "uncertainty", "weight", "message"),
    [
        ([True, True], [1, 2], None, "rows of both kinds, got 2 that are all out of domain"),
        ([False, False], [1, 2], None, "all in domain"),
        ([False, True], [1, 2], [1, 0], "all in domain"),
        ([], [], None, "uncertainty is empty"),
        ([False, True], [1, np.nan], None, "must not be NaN"),
        ([False, True], [1, 2], [-1, 1], "must not be negative"),
        ([0, 2], [1, 2], None, "must hold true and false"),
        ([False, True, True], [1, 2], None, "one entry per sample, 2, got 3"),
    ],
)
def test_arguments_without_both_kinds_of_rows_or_with_nan_are_refused(metric, is_out, uncertainty, weight, message):
    with pytest.raises(ValueError, match=message):
        metric(is_out, uncertainty, sample_weight=weight)


def test_a_true_positive_rate_above_one_is_refused():
    with pytest.raises(ValueError, match=r"above 0 and at most 1, got 1\.5"):
        ood_false_positive_rate(OUT, UNCERTAINTY, true_positive_rate=1.5)
