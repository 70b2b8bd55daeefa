"""Intervals of calibrated models that are not symmetric, for skewed targets."""

import numpy as np
import pytest

import epiboost
from epiboost._estimators.calibrated.rows import split_rows
from epiboost._estimators.conformal import conformal_quantile
from epiboost.metrics import interval_coverage_score
from tests.support.models import small_regressor

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1.0, 1.0, size=(2000, 2))
Y = X[:, 0] + RANDOM.exponential(size=2000)  # a long tail above
TRAIN, HELD_OUT, TEST = slice(0, 300), slice(300, 700), slice(700, None)


@pytest.fixture(scope="module")
def model():
    """Return a fitted model."""
    return small_regressor(n_estimators=30, max_depth=3).fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def skewed(model):
    """Return it with intervals that are not symmetric."""
    return model.calibrate(X[HELD_OUT], Y[HELD_OUT], symmetric=False)


def missed(interval):
    """Return the shares of the test rows below and above the interval."""
    return np.mean(Y[TEST] < interval[:, 0]), np.mean(Y[TEST] > interval[:, 1])


def test_each_end_misses_half_of_the_rows_that_may_be_missed(model, skewed):
    below, above = missed(skewed.predict_interval(X[TEST], 0.8))
    assert (below, above) == (pytest.approx(0.1, abs=0.04), pytest.approx(0.1, abs=0.04))
    below, above = missed(model.calibrate(X[HELD_OUT], Y[HELD_OUT]).predict_interval(X[TEST], 0.8))
    assert (below, above) == (pytest.approx(0.03, abs=0.03), pytest.approx(0.17, abs=0.04))


def test_intervals_of_many_coverages_hold_and_contain_one_another(skewed):
    coverages = np.array([0.5, 0.8, 0.9, 0.95])
    interval = skewed.predict_interval(X[TEST], coverages)
    assert interval_coverage_score(Y[TEST], interval) == pytest.approx(coverages, abs=0.05)
    assert (np.diff(interval[..., 0], axis=1) <= 0.0).all()
    assert (np.diff(interval[..., 1], axis=1) >= 0.0).all()


def test_ends_are_one_sided_conformal_quantiles_of_the_signed_scores(model, skewed):
    assert skewed.scores_[0] < 0.0 < skewed.scores_[-1]
    symmetric = model.calibrate(X[HELD_OUT], Y[HELD_OUT])
    np.testing.assert_array_equal(np.sort(np.abs(skewed.scores_)), symmetric.scores_)
    (lower, upper) = skewed._interval_factors(np.array([0.9]))[0, 0]
    assert upper == pytest.approx(conformal_quantile(skewed.scores_, 0.95))
    assert lower == pytest.approx(-conformal_quantile(-skewed.scores_[::-1], 0.95))


def test_every_calibration_row_of_a_quantile_is_inside_its_own_interval(skewed):
    n = len(skewed.scores_)
    ranks = np.arange(n // 2 + 2, n + 1)
    interval = skewed.predict_interval(X[HELD_OUT], 2 * ranks / (n + 1) - 1)
    rows = split_rows(400, skewed.scale_share, np.random.default_rng(0))[1]
    y = Y[HELD_OUT][rows, np.newaxis]
    assert ((y <= interval[rows, :, 1]).sum(axis=0) >= ranks).all()
    assert ((y >= interval[rows, :, 0]).sum(axis=0) >= ranks).all()


def test_quantiles_have_a_guarantee_on_each_side(skewed):
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    quantiles = skewed.predict_quantile(X[TEST], levels)
    assert (np.diff(quantiles, axis=1) > 0.0).all()
    assert (Y[TEST, np.newaxis] <= quantiles).mean(axis=0) == pytest.approx(levels, abs=0.06)


def test_each_side_needs_its_own_rows(model):
    few = model.calibrate(X[:26], Y[:26], symmetric=False)
    assert few.max_coverage_ == pytest.approx(0.9)
    few.predict_interval(X[:2], 0.9)
    with pytest.raises(ValueError, match=r"a coverage of 0\.95 cannot be guaranteed: it needs 39 rows .* there are 19"):
        few.predict_interval(X[:2], 0.95)


def test_groups_and_weights_work_on_both_sides(model):
    groups, weight = np.arange(400) % 2, np.ones(400)
    calibrated = model.calibrate(X[HELD_OUT], Y[HELD_OUT] + groups * 5.0, weight, groups=groups, symmetric=False)
    first, second = (calibrated.predict_interval(X[TEST], groups=np.full(1300, one)) for one in (0, 1))
    assert (second[:, 0] > first[:, 1] - 3.0).all()
    assert interval_coverage_score(Y[TEST], first) == pytest.approx(0.9, abs=0.05)
    assert interval_coverage_score(Y[TEST] + 5.0, second) == pytest.approx(0.9, abs=0.05)


def test_the_kind_of_interval_is_kept_in_files_and_new_calibrations(skewed, tmp_path):
    skewed.save(tmp_path / "model.epib")
    again = epiboost.load(tmp_path / "model.epib")
    np.testing.assert_array_equal(again.predict_interval(X[TEST]), skewed.predict_interval(X[TEST]))
    np.testing.assert_array_equal(again.predict(X[TEST], return_std=True), skewed.predict(X[TEST], return_std=True))
    assert not skewed.calibrate(X[HELD_OUT], Y[HELD_OUT]).symmetric
