"""Reliability curves, the expected calibration error and the probability integral transform."""

import numpy as np
import pytest

from epiboost.metrics import (
    expected_calibration_error,
    interval_coverage_score,
    probability_integral_transform,
    reliability_curve,
)
from tests.support.posteriors import CATEGORICAL, LABELS, NORMAL, Y


def test_the_true_distribution_is_calibrated_and_a_narrow_one_is_not():
    y = np.random.default_rng(0).normal(size=5000)
    true, narrow = np.tile([0.0, 1.0], (5000, 1)), np.tile([0.0, 0.1], (5000, 1))
    assert expected_calibration_error(y, true, family="normal") < 0.02
    assert expected_calibration_error(y, narrow, family="normal") > 0.2
    assert np.histogram(probability_integral_transform(y, true), 4)[0] == pytest.approx(1250, abs=150)
    assert np.histogram(probability_integral_transform(y, narrow), 4)[0][[0, 3]].sum() > 4000


def test_the_curve_of_a_regressor_is_the_coverage_of_the_mixtures_intervals():
    curve = reliability_curve(Y, NORMAL, n_bins=4)
    assert curve.predicted == pytest.approx([0.2, 0.4, 0.6, 0.8])
    expected = [interval_coverage_score(Y, NORMAL.interval(level)) for level in (0.2, 0.4, 0.6, 0.8)]
    assert curve.observed.tolist() == expected


def test_the_curve_of_a_classifier_equals_one_computed_by_hand():
    probability = [[0.6, 0.4], [0.7, 0.3], [0.1, 0.9], [0.2, 0.8]]
    curve = reliability_curve([0, 1, 1, 1], probability, family="categorical", n_bins=4)
    assert curve.predicted == pytest.approx([0.65, 0.85])
    assert curve.observed == pytest.approx([0.5, 1.0])
    assert curve.weight == pytest.approx([0.5, 0.5])
    assert curve.error == pytest.approx((0.15 + 0.15) / 2)


def test_quantile_bins_hold_equally_many_samples():
    curve = reliability_curve(LABELS, CATEGORICAL, n_bins=3, strategy="quantile")
    assert curve.weight == pytest.approx(np.full(3, 1 / 3))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"n_bins": 0}, "n_bins must be a whole number of at least 1, got 0"), ({"strategy": "even"}, "strategy must be")],
)
def test_bad_bins_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        reliability_curve(LABELS, CATEGORICAL, **options)
