"""Sample weights in calibration: weight two is the row twice, weight zero is no row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import epiboost
from epiboost._estimators.calibrated.scales import fit_scales
from epiboost._estimators.calibrated.scores import ConformityScores
from epiboost._estimators.calibrated.temperature import fit_temperature
from epiboost._estimators.conformal import conformal_quantile
from epiboost.metrics import interval_coverage_score
from tests.support.calibration import HELD_OUT, TARGETS, TEST, TRAIN, X, Y
from tests.support.models import every_estimator, small_regressor


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30), st.integers(1, 99))
def test_the_quantile_of_a_score_of_weight_two_is_that_of_two_scores(counts, percent):
    scores, weight = np.arange(1.0, len(counts) + 1), np.array(counts, dtype=float)
    repeated = np.repeat(scores, counts)
    if sum(counts) < percent / (100 - percent) - 1e-9:
        with pytest.raises(ValueError, match="cannot be guaranteed"):
            conformal_quantile(scores, percent / 100, weight)
        return
    expected = conformal_quantile(repeated, percent / 100)
    assert conformal_quantile(scores, percent / 100, weight) == expected


def test_scales_and_temperature_of_a_row_of_weight_two_are_those_of_the_row_twice():
    random = np.random.default_rng(0)
    residual, (data, knowledge) = random.normal(size=30), random.gamma(1.0, size=(2, 30))
    counts = random.integers(1, 4, size=30)
    weighted = fit_scales(residual, data, knowledge, counts.astype(float))
    repeated = fit_scales(*(np.repeat(part, counts) for part in (residual, data, knowledge)))
    for name in ("constant", "data", "knowledge"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-3)
    assert weighted.data != pytest.approx(fit_scales(residual, data, knowledge).data, rel=1e-3)
    members, codes = random.dirichlet(np.ones(3), size=(2, 30)), random.integers(0, 3, size=30)
    assert fit_temperature(members, codes, counts.astype(float)) == pytest.approx(
        fit_temperature(np.repeat(members, counts, axis=1), np.repeat(codes, counts)), rel=1e-4
    )


@every_estimator
def test_rows_of_weight_zero_are_as_if_they_were_not_there(models, estimator):
    y, weight = TARGETS[estimator][HELD_OUT], np.tile([1.0, 0.0], 200)
    model = models[estimator].calibrate(X[HELD_OUT], y, weight)
    without = models[estimator].calibrate(X[HELD_OUT][::2], y[::2])
    np.testing.assert_array_equal(model.scores_, without.scores_)
    np.testing.assert_array_equal(model.predict_posterior(X).parameters, without.predict_posterior(X).parameters)


@every_estimator
def test_equal_weights_of_at_most_one_change_nothing(models, calibrated, estimator):
    y = TARGETS[estimator][HELD_OUT]
    for weight in (np.ones(400), np.full(400, 1 / 400)):
        model = models[estimator].calibrate(X[HELD_OUT], y, sample_weight=weight)
        np.testing.assert_allclose(model.scores_, calibrated[estimator].scores_, rtol=1e-9)
        method = "predict_interval" if estimator == "regressor" else "predict_set"
        found, expected = (getattr(one, method)(X[TEST], [0.5, 0.8]) for one in (model, calibrated[estimator]))
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_weights_correct_for_a_shift_between_calibration_rows_and_new_ones():
    flat = small_regressor(n_estimators=1, max_depth=1, out_of_fold=0).fit(X[TRAIN, 1:], Y[TRAIN])
    rows = np.flatnonzero((X[:, 0] <= 0.0) | (np.arange(len(X)) % 8 == 0))[:400]  # one in eight of the noisy rows
    weight = np.where(X[rows, 0] > 0.0, 8.0, 1.0)
    new = slice(1000, None)
    coverages = [
        interval_coverage_score(Y[new], flat.calibrate(X[rows, 1:], Y[rows], one).predict_interval(X[new, 1:]))
        for one in (weight, None)
    ]
    assert coverages[0] == pytest.approx(0.9, abs=0.05)
    assert coverages[1] < 0.8


def test_weights_are_kept_in_files(models, tmp_path):
    weight = np.random.default_rng(0).integers(1, 5, size=400)
    model = models["regressor"].calibrate(X[HELD_OUT], Y[HELD_OUT], weight)
    model.save(tmp_path / "model.epib")
    again = epiboost.load(tmp_path / "model.epib")
    np.testing.assert_array_equal(
        again.predict_interval(X[TEST], [0.5, 0.9]), model.predict_interval(X[TEST], [0.5, 0.9])
    )
    np.testing.assert_array_equal(again.conformity_.weight, model.conformity_.weight)
    assert again.max_coverage_ == model.max_coverage_


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (-np.ones(400), "must not be negative"),
        (np.zeros(400), "zero for every row"),
        (np.ones(3), "one number per row"),
        (np.full(400, np.nan), "NaN"),
        (np.where(np.arange(400) < 3, 1.0, 0.0), "at least 4 rows, got 3"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(models, weight, words):
    with pytest.raises(ValueError, match=words):
        models["regressor"].calibrate(X[HELD_OUT], Y[HELD_OUT], weight)


@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("calibration_weights", np.array([1.0, 0.0])),
        ("calibration_weights", np.array([1.0])),
        ("calibration_groups", np.array([0, 2])),
        ("calibration_groups", np.array([0.0, 1.0])),
    ],
)
def test_forged_weights_and_groups_of_scores_are_refused(array, value):
    arrays = {"calibration_scores": np.array([1.0, 2.0]), "calibration_groups": np.array([0, 1])}
    assert ConformityScores.from_file(arrays, n_groups=2, signed=False).n_groups == 2
    with pytest.raises(ValueError, match="of scores must be"):
        ConformityScores.from_file({**arrays, array: value}, n_groups=2, signed=False)
