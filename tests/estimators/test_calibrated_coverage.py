"""Intervals and sets of calibrated models cover as often as they promise."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epiboost._estimators.calibrated.rows import split_rows
from epiboost._estimators.conformal import conformal_quantile
from epiboost.metrics import interval_coverage_score, interval_width
from tests.support.calibration import HELD_OUT, LABELS, TARGETS, TEST, N, X, Y


@given(st.integers(1, 60), st.integers(1, 99))
def test_the_conformal_quantile_has_the_smallest_rank_that_gives_the_coverage(n, percent):
    coverage = percent / 100
    scores = np.arange(1.0, n + 1)
    if n < coverage / (1 - coverage) - 1e-9:
        with pytest.raises(ValueError, match=f"cannot be guaranteed by {n} rows"):
            conformal_quantile(scores, coverage)
        return
    rank = conformal_quantile(scores, coverage)
    assert rank / (n + 1) >= coverage - 1e-12
    assert (rank - 1) / (n + 1) < coverage


def test_intervals_cover_their_share_of_the_calibration_rows(calibrated):
    model = calibrated["regressor"]
    n = len(model.scores_)
    ranks = np.arange(1, n + 1)
    interval = model.predict_interval(X[HELD_OUT], ranks / (n + 1))
    y = Y[HELD_OUT][:, np.newaxis]
    inside = (interval[..., 0] <= y) & (y <= interval[..., 1])
    assert (inside[split_rows(len(y), model.scale_share, np.random.default_rng(0))[1]].sum(axis=0) >= ranks).all()


def test_intervals_of_many_coverages_have_the_promised_coverage(calibrated):
    coverages = np.array([0.5, 0.8, 0.9, 0.95])
    observed = interval_coverage_score(Y[TEST], calibrated["regressor"].predict_interval(X[TEST], coverages))
    assert observed == pytest.approx(coverages, abs=0.05)


def test_sets_of_many_coverages_have_the_promised_coverage(calibrated):
    model = calibrated["classifier"]
    coverages = [0.5, 0.8, 0.9, 0.95]
    sets = model.predict_set(X[TEST], coverages)
    held = np.take_along_axis(sets, np.searchsorted(model.classes_, LABELS[TEST])[:, None, None], axis=2)
    assert (held.mean(axis=0).ravel() >= np.array(coverages) - 0.05).all()
    assert held.mean(axis=0).ravel()[2:] == pytest.approx(coverages[2:], abs=0.05)


@pytest.mark.slow
def test_coverage_is_right_on_average_over_calibration_tables(models):
    observed = []
    for seed in range(200):
        rows = np.random.default_rng(seed).permutation(np.arange(600, N))
        model = models["regressor"].calibrate(X[rows[:60]], Y[rows[:60]], random_state=seed)
        observed.append(interval_coverage_score(Y[rows[60:]], model.predict_interval(X[rows[60:]], [0.5, 0.8, 0.9])))
    assert np.mean(observed, axis=0) == pytest.approx([0.5, 0.8, 0.9], abs=0.015)


def test_intervals_and_sets_of_larger_coverage_contain_the_smaller(calibrated):
    coverages = [0.9, 0.1, 0.5, 0.95]
    order = np.argsort(coverages)
    interval = calibrated["regressor"].predict_interval(X[TEST], coverages)[:, order]
    assert (np.diff(interval[..., 0], axis=1) <= 0.0).all()
    assert (np.diff(interval[..., 1], axis=1) >= 0.0).all()
    sets = calibrated["classifier"].predict_set(X[TEST], coverages)[:, order]
    assert (sets[:, 1:] >= sets[:, :-1]).all()
    assert sets.any(axis=2).all()


def test_a_single_coverage_gives_the_same_as_a_list_of_coverages(calibrated):
    interval = calibrated["regressor"].predict_interval(X[TEST], [0.8, 0.9])
    np.testing.assert_array_equal(calibrated["regressor"].predict_interval(X[TEST]), interval[:, 1])
    sets = calibrated["classifier"].predict_set(X[TEST], [0.8, 0.9])
    np.testing.assert_array_equal(calibrated["classifier"].predict_set(X[TEST]), sets[:, 1])


def test_quantiles_are_the_ends_of_intervals_and_never_cross(calibrated):
    model, levels = calibrated["regressor"], np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    quantiles = model.predict_quantile(X[TEST], levels)
    np.testing.assert_array_equal(quantiles[:, [0, 4]], model.predict_interval(X[TEST], 0.9))
    np.testing.assert_array_equal(quantiles[:, [1, 3]], model.predict_interval(X[TEST], 0.5))
    np.testing.assert_allclose(quantiles[:, 2], model.predict(X[TEST]), rtol=1e-12)
    assert (np.diff(quantiles, axis=1) > 0.0).all()
    np.testing.assert_array_equal(model.predict_quantile(X[TEST], 0.25), quantiles[:, 1])
    with pytest.raises(ValueError, match="q must be a number"):
        model.predict_quantile(X[TEST], 1.0)


def test_intervals_that_follow_the_noise_are_narrower_than_constant_ones(models, calibrated):
    interval = calibrated["regressor"].predict_interval(X[TEST], 0.9)
    residual = np.sort(np.abs(Y[HELD_OUT] - models["regressor"].predict(X[HELD_OUT])))
    assert interval_width(interval) < 0.95 * 2 * conformal_quantile(residual, 0.9)


def test_a_coverage_that_cannot_be_guaranteed_is_refused(models):
    model = models["regressor"].calibrate(X[HELD_OUT][:20], Y[HELD_OUT][:20])
    with pytest.raises(
        ValueError, match=r"a coverage of 0\.95 cannot be guaranteed: it needs 19 rows beside .* there are 15"
    ):
        model.predict_interval(X, [0.5, 0.95])
    for coverage in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            model.predict_interval(X, coverage)
    with pytest.raises(ValueError, match="a number or a sequence"):
        model.predict_interval(X, [[0.5]])


@pytest.mark.parametrize(("estimator", "method"), [("regressor", "predict_interval"), ("classifier", "predict_set")])
@pytest.mark.parametrize("coverage", [0.9, 0.97])
def test_the_error_for_too_few_rows_says_how_many_are_enough(models, estimator, method, coverage):
    few = models[estimator].calibrate(X[:8], TARGETS[estimator][:8])
    with pytest.raises(ValueError, match=r"there are 6; calibrate with \d+ rows in all") as refused:
        getattr(few, method)(X[:1], coverage)
    enough = int(re.search(r"with (\d+) rows", str(refused.value))[1])
    getattr(models[estimator].calibrate(X[:enough], TARGETS[estimator][:enough]), method)(X[:1], coverage)
