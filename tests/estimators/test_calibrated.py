"""A calibrated model covers what it says it covers, keeps the model it holds, and travels in files."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from epiboost import (
    CalibratedClassifier,
    CalibratedRegressor,
    EpiBoostClassifier,
    EpiBoostRegressor,
    ModelFileError,
)
from epiboost._files import model_file
from epiboost._posterior.conformal import conformal_quantile, fit_scales, fit_temperature, temper
from epiboost.metrics import interval_coverage_score, interval_width, negative_log_likelihood_loss

RANDOM = np.random.default_rng(0)
N = 2400
X = RANDOM.uniform(-1.0, 1.0, size=(N, 2))
NOISE = np.where(X[:, 0] > 0.0, 1.0, 0.2)
Y = X[:, 0] + NOISE * RANDOM.normal(size=N)
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.5, 0.5])]
TRAIN, HELD_OUT, TEST = slice(0, 600), slice(600, 1000), slice(1000, None)
SMALL = {"n_members": 3, "n_estimators": 60, "max_depth": 3, "n_jobs": 1, "random_state": 0}
TARGETS = {"regressor": Y, "classifier": LABELS}

every_task = pytest.mark.parametrize("task", sorted(TARGETS))


@pytest.fixture(scope="module")
def models():
    return {
        "regressor": EpiBoostRegressor(**SMALL).fit(X[TRAIN], Y[TRAIN]),
        "classifier": EpiBoostClassifier(**SMALL).fit(X[TRAIN], LABELS[TRAIN]),
    }


@pytest.fixture(scope="module")
def calibrated(models):
    return {task: model.calibrate(X[HELD_OUT], TARGETS[task][HELD_OUT]) for task, model in models.items()}


# The guarantee


@given(st.integers(1, 60), st.integers(1, 99))
def test_the_conformal_quantile_is_exceeded_by_no_more_than_a_fair_share_of_ranks(n, percent):
    coverage = percent / 100
    scores = np.arange(1.0, n + 1)
    if n < coverage / (1 - coverage) - 1e-9:
        with pytest.raises(ValueError, match=f"cannot be guaranteed by {n} rows"):
            conformal_quantile(scores, coverage)
        return
    rank = conformal_quantile(scores, coverage)
    assert rank / (n + 1) >= coverage - 1e-12
    assert (rank - 1) / (n + 1) < coverage


def test_rows_that_guarantee_lie_in_the_intervals_that_rest_on_them(calibrated):
    model = calibrated["regressor"]
    n = len(model.scores_)
    ranks = np.arange(1, n + 1)
    interval = model.predict_interval(X[HELD_OUT], ranks / (n + 1))
    y = Y[HELD_OUT][:, np.newaxis]
    inside = (interval[..., 0] <= y) & (y <= interval[..., 1])
    assert (inside[model._parts(len(y))[1]].sum(axis=0) >= ranks).all()


def test_intervals_of_many_coverages_hold_the_target_as_often_as_they_say(calibrated):
    coverages = np.array([0.5, 0.8, 0.9, 0.95])
    observed = interval_coverage_score(Y[TEST], calibrated["regressor"].predict_interval(X[TEST], coverages))
    assert observed == pytest.approx(coverages, abs=0.05)


def test_sets_of_many_coverages_hold_the_label_as_often_as_they_say(calibrated):
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


def test_intervals_and_sets_never_cross(calibrated):
    coverages = [0.9, 0.1, 0.5, 0.95]
    order = np.argsort(coverages)
    interval = calibrated["regressor"].predict_interval(X[TEST], coverages)[:, order]
    assert (np.diff(interval[..., 0], axis=1) <= 0.0).all()
    assert (np.diff(interval[..., 1], axis=1) >= 0.0).all()
    sets = calibrated["classifier"].predict_set(X[TEST], coverages)[:, order]
    assert (sets[:, 1:] >= sets[:, :-1]).all()
    assert sets.any(axis=2).all()


def test_one_coverage_gives_the_same_as_many(calibrated):
    interval = calibrated["regressor"].predict_interval(X[TEST], [0.8, 0.9])
    np.testing.assert_array_equal(calibrated["regressor"].predict_interval(X[TEST]), interval[:, 1])
    sets = calibrated["classifier"].predict_set(X[TEST], [0.8, 0.9])
    np.testing.assert_array_equal(calibrated["classifier"].predict_set(X[TEST]), sets[:, 1])


def test_noise_that_the_model_sees_makes_intervals_narrower_on_average(models, calibrated):
    interval = calibrated["regressor"].predict_interval(X[TEST], 0.9)
    residual = np.sort(np.abs(Y[HELD_OUT] - models["regressor"].predict(X[HELD_OUT])))
    assert interval_width(interval) < 0.95 * 2 * conformal_quantile(residual, 0.9)


# What is learned


def test_scales_find_which_uncertainty_the_residuals_follow():
    random = np.random.default_rng(1)
    data, knowledge = random.gamma(1.0, size=(2, 3000))
    scales = fit_scales(random.normal(scale=np.sqrt(0.5 * data + 9.0 * knowledge)), data, knowledge)
    assert scales.data == pytest.approx(0.5, abs=0.3)
    assert scales.knowledge == pytest.approx(9.0, rel=0.15)
    alike = fit_scales(random.normal(scale=3.0, size=3000), data, knowledge)
    assert alike.constant == pytest.approx(9.0, rel=0.2)
    assert max(alike.data, alike.knowledge) < 1.0


def test_scales_do_not_depend_on_units():
    random = np.random.default_rng(2)
    residual, (data, knowledge) = random.normal(size=50), random.gamma(1.0, size=(2, 50))
    one, other = fit_scales(residual, data, knowledge), fit_scales(1e6 * residual, 1e12 * data, 1e12 * knowledge)
    assert other.constant == pytest.approx(1e12 * one.constant, rel=1e-4)
    assert (other.data, other.knowledge) == pytest.approx((one.data, one.knowledge), rel=1e-4)


@pytest.mark.parametrize("zero", ["residual", "data", "knowledge"])
def test_scales_are_defined_where_something_is_zero_everywhere(zero):
    parts = {"residual": np.linspace(-1.0, 2.0, 20), "data": np.ones(20), "knowledge": np.ones(20), zero: np.zeros(20)}
    scales = fit_scales(**parts)
    assert np.isfinite([scales.constant, scales.data, scales.knowledge]).all()
    assert np.isfinite(scales.variance(parts["data"], parts["knowledge"])).all()
    if zero != "residual":
        assert getattr(scales, zero) == 0.0


@pytest.mark.parametrize("broken", [np.inf, np.nan, 1e200])
def test_residuals_without_a_finite_square_have_no_scales(broken):
    with pytest.raises(ValueError, match="must be finite to learn their scales"):
        fit_scales(np.array([1.0, broken]), np.ones(2), np.ones(2))


@pytest.mark.parametrize("unit", [1.0, 1e3])
@pytest.mark.parametrize("alone", [{"ensemble": "single"}, {"n_members": 1}], ids=str)
def test_a_model_without_knowledge_uncertainty_is_calibrated_by_data_alone(alone, unit):
    model = EpiBoostRegressor(**{**SMALL, **alone}).fit(X[TRAIN], unit * Y[TRAIN])
    calibrated = model.calibrate(X[HELD_OUT], unit * Y[HELD_OUT])
    assert calibrated.scales_.knowledge == 0.0
    assert np.isfinite(calibrated.scores_).all()
    interval = calibrated.predict_interval(X[TEST], 0.9)
    assert interval_coverage_score(unit * Y[TEST], interval) == pytest.approx(0.9, abs=0.05)
    assert np.isfinite(calibrated.predict_posterior(X[TEST]).parameters).all()


def test_temperature_undoes_overconfidence():
    random = np.random.default_rng(3)
    truth = random.dirichlet(np.ones(3), size=4000)
    codes = (random.uniform(size=4000) > truth.cumsum(axis=1).T).sum(axis=0)
    assert fit_temperature(temper(truth[np.newaxis], 1 / 3), codes) == pytest.approx(3.0, rel=0.1)
    assert fit_temperature(truth[np.newaxis], codes) == pytest.approx(1.0, rel=0.1)


def test_calibration_improves_the_likelihood_of_an_overfitted_classifier():
    model = EpiBoostClassifier(**{**SMALL, "n_estimators": 1000, "max_depth": 6, "n_members": 1}).fit(
        X[TRAIN], LABELS[TRAIN]
    )
    calibrated = model.calibrate(X[HELD_OUT], LABELS[HELD_OUT])
    assert calibrated.temperature_ > 1.2
    before, after = (
        negative_log_likelihood_loss(LABELS[TEST], one.predict_posterior(X[TEST]), classes=one.classes_)
        for one in (model, calibrated)
    )
    assert after < before - 0.02


def test_the_calibrated_posterior_has_the_scaled_uncertainties_and_the_same_mean(models, calibrated):
    plain, scaled = models["regressor"], calibrated["regressor"]
    before, after, scales = plain.predict_uncertainty(X), scaled.predict_uncertainty(X), scaled.scales_
    assert after.data == pytest.approx(scales.constant + scales.data * before.data)
    assert after.knowledge == pytest.approx(scales.knowledge * before.knowledge)
    mean, std = scaled.predict(X, return_std=True)
    assert mean == pytest.approx(plain.predict(X))
    assert std == pytest.approx(np.sqrt(after.total))


def test_calibrated_probabilities_are_those_of_the_tempered_members(models, calibrated):
    model = calibrated["classifier"]
    members = temper(models["classifier"].predict_posterior(X).parameters, model.temperature_)
    assert model.predict_proba(X) == pytest.approx(members.mean(axis=0))
    assert (model.predict(X) == model.classes_[members.mean(axis=0).argmax(axis=1)]).all()


# A citizen of scikit-learn, and of files


@every_task
def test_a_calibrated_model_says_what_it_is(calibrated, task):
    assert is_regressor(calibrated[task]) == (task == "regressor")
    assert is_classifier(calibrated[task]) == (task == "classifier")
    assert calibrated[task].score(X[TEST], TARGETS[task][TEST]) > 0.2
    assert calibrated[task].n_features_in_ == 2


@every_task
def test_a_clone_keeps_the_fitted_model_and_forgets_the_calibration(calibrated, task):
    copy = clone(calibrated[task])
    assert copy.model is calibrated[task].model
    with pytest.raises(NotFittedError):
        copy.predict(X)
    again = copy.fit(X[HELD_OUT], TARGETS[task][HELD_OUT])
    np.testing.assert_array_equal(again.scores_, calibrated[task].scores_)


def same(one, other, task):
    np.testing.assert_array_equal(one.predict_posterior(X).parameters, other.predict_posterior(X).parameters)
    if task == "regressor":
        np.testing.assert_array_equal(one.predict_interval(X, [0.5, 0.9]), other.predict_interval(X, [0.5, 0.9]))
    else:
        np.testing.assert_array_equal(one.predict_set(X, [0.5, 0.9]), other.predict_set(X, [0.5, 0.9]))
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


@every_task
def test_a_calibrated_model_comes_back_from_pickle_and_from_a_file(calibrated, task, tmp_path):
    same(pickle.loads(pickle.dumps(calibrated[task])), calibrated[task], task)  # noqa: S301 (bytes of our own)
    calibrated[task].save(tmp_path / "model.epib")
    same(type(calibrated[task]).load(tmp_path / "model.epib"), calibrated[task], task)


@every_task
def test_a_calibration_without_a_seed_can_be_saved(models, task, tmp_path):
    model = models[task].calibrate(X_cal=X[HELD_OUT], y_cal=TARGETS[task][HELD_OUT], random_state=None)
    model.save(tmp_path / "model.epib")
    again = type(model).load(tmp_path / "model.epib")
    same(again, model, task)
    assert again.random_state is None


@every_task
def test_a_file_of_another_kind_is_refused(models, calibrated, task, tmp_path):
    models[task].save(tmp_path / "plain.epib")
    calibrated[task].save(tmp_path / "calibrated.epib")
    with pytest.raises(ModelFileError, match="holds a model of 'EpiBoost"):
        type(calibrated[task]).load(tmp_path / "plain.epib")
    with pytest.raises(ModelFileError, match="holds a model of 'Calibrated"):
        type(models[task]).load(tmp_path / "calibrated.epib")


@pytest.mark.parametrize(
    ("task", "array", "value"),
    [
        ("regressor", "calibration_scores", np.array([2.0, 1.0])),
        ("regressor", "calibration_scores", np.array([np.nan, 1.0])),
        ("regressor", "calibration_scores", np.array([-1.0, 1.0])),
        ("regressor", "calibration_scores", np.empty(0)),
        ("regressor", "calibration_scales", np.array([1.0, -1.0, 1.0])),
        ("regressor", "calibration_scales", np.array([1.0])),
        ("classifier", "calibration_temperature", np.array(0.0)),
        ("classifier", "calibration_temperature", np.array([1.0, 2.0])),
    ],
)
def test_a_forged_calibration_is_refused(calibrated, task, array, value, tmp_path):
    path = tmp_path / "model.epib"
    calibrated[task].save(path)
    header, arrays = model_file.read(path)
    model_file.write(path, header, {**arrays, array: value})
    with pytest.raises(ModelFileError, match="do not fit together"):
        type(calibrated[task]).load(path)


def test_a_forged_kind_of_model_is_refused(calibrated, tmp_path):
    path = tmp_path / "model.epib"
    calibrated["regressor"].save(path)
    header, arrays = model_file.read(path)
    for kind in ("EpiBoostClassifier", "Nobody"):
        model_file.write(path, {**header, "model": {**header["model"], "estimator": kind}}, arrays)
        with pytest.raises(ModelFileError, match="do not fit together"):
            CalibratedRegressor.load(path)


def test_names_of_columns_are_those_of_the_model():
    frame = pd.DataFrame(X[HELD_OUT], columns=["a", "b"])
    model = EpiBoostRegressor(**SMALL).fit(frame, Y[HELD_OUT]).calibrate(frame, Y[HELD_OUT])
    assert model.feature_names_in_.tolist() == ["a", "b"]


# Bad input


@pytest.mark.parametrize(
    ("rows", "targets", "words"),
    [
        (slice(0, 3), slice(0, 3), "at least 4 rows are needed to calibrate, got 3"),
        (slice(0, 9), slice(0, 8), "the same number of rows, got 9 and 8"),
    ],
)
def test_rows_that_cannot_calibrate_are_refused(models, rows, targets, words):
    for task, model in models.items():
        with pytest.raises(ValueError, match=words):
            model.calibrate(X[rows], TARGETS[task][targets])


def test_a_label_that_the_model_does_not_know_is_refused(models):
    with pytest.raises(ValueError, match="y holds 'odd', which is none of the classes"):
        models["classifier"].calibrate(X[:10], np.full(10, "odd"))


def test_missing_targets_are_refused(models):
    with pytest.raises(ValueError, match="NaN"):
        models["regressor"].calibrate(X[:10], np.full(10, np.nan))


def test_a_coverage_that_cannot_be_guaranteed_is_refused(models):
    model = models["regressor"].calibrate(X[HELD_OUT][:20], Y[HELD_OUT][:20])
    with pytest.raises(
        ValueError, match=r"a coverage of 0\.95 cannot be guaranteed: it takes 19 rows besides .* there are 15"
    ):
        model.predict_interval(X, [0.5, 0.95])
    for coverage in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            model.predict_interval(X, coverage)
    with pytest.raises(ValueError, match="a number or a sequence"):
        model.predict_interval(X, [[0.5]])


def test_what_is_no_fitted_model_is_refused(models):
    with pytest.raises(NotFittedError):
        EpiBoostRegressor().calibrate(X, Y)
    with pytest.raises(ValueError, match="CalibratedRegressor calibrates a normal model"):
        CalibratedRegressor(models["classifier"]).fit(X, Y)
    with pytest.raises(ValueError, match="CalibratedClassifier calibrates a categorical model"):
        CalibratedClassifier("model").fit(X, Y)
    with pytest.raises(ValueError, match="scale_share must be a number strictly between 0 and 1, got 1"):
        CalibratedRegressor(models["regressor"], scale_share=1.0).fit(X, Y)


@pytest.mark.parametrize(("task", "method"), [("regressor", "predict_interval"), ("classifier", "predict_set")])
@pytest.mark.parametrize("coverage", [0.9, 0.97])
def test_too_few_rows_are_told_how_many_to_bring(models, task, method, coverage):
    few = models[task].calibrate(X[:8], TARGETS[task][:8])
    with pytest.raises(ValueError, match=r"there are 6; calibrate with \d+ rows in all") as refused:
        getattr(few, method)(X[:1], coverage)
    enough = int(re.search(r"with (\d+) rows", str(refused.value))[1])
    getattr(models[task].calibrate(X[:enough], TARGETS[task][:enough]), method)(X[:1], coverage)


@every_task
def test_a_calibrated_model_is_calibrated_anew_on_other_rows(models, calibrated, task):
    fresh = calibrated[task].calibrate(X[TEST], TARGETS[task][TEST])
    expected = models[task].calibrate(X[TEST], TARGETS[task][TEST])
    np.testing.assert_array_equal(fresh.scores_, expected.scores_)


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


def test_logarithms_of_probabilities_are_those(models, calibrated):
    for model in (models["classifier"], calibrated["classifier"]):
        np.testing.assert_array_equal(model.predict_log_proba(X[TEST]), np.log(model.predict_proba(X[TEST])))


def test_a_file_of_another_kind_says_what_reads_it(models, calibrated, tmp_path):
    for model, reader in ((calibrated["regressor"], EpiBoostRegressor), (models["regressor"], CalibratedRegressor)):
        model.save(tmp_path / "model.epib")
        with pytest.raises(ModelFileError, match=f"read it by {type(model).__name__}.load"):
            reader.load(tmp_path / "model.epib")
