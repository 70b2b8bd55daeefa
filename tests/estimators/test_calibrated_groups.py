"""Calibration by group and by class: each group has a conformal quantile of its own."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import epiboost
from epiboost._estimators.calibrated.rows import split_rows
from epiboost._estimators.conformal import conformal_quantile
from epiboost.metrics import interval_coverage_score
from tests.support.calibration import HELD_OUT, LABELS, TARGETS, TEST, TRAIN, X, Y
from tests.support.models import every_estimator, small_regressor

SIDE = np.where(X[:, 0] > 0.0, "noisy", "calm")
METHODS = {"regressor": "predict_interval", "classifier": "predict_set"}


def predict(model, rows, coverage=0.9, **options):
    """Return intervals or sets."""
    name = "predict_interval" if hasattr(model, "predict_interval") else "predict_set"
    return getattr(model, name)(rows, coverage, **options)


@pytest.fixture(scope="module")
def flat():
    """Return a model that does not know which rows are noisy."""
    settings = {"n_estimators": 1, "max_depth": 1, "variance_guard": 0.0, "out_of_fold": 0}
    return small_regressor(**settings).fit(X[TRAIN, 1:], Y[TRAIN])


def test_every_group_has_the_coverage_that_is_asked_for(flat):
    calibrated = flat.calibrate(X[HELD_OUT, 1:], Y[HELD_OUT], groups=SIDE[HELD_OUT])
    together = calibrated.predict_interval(X[TEST, 1:])
    apart = calibrated.predict_interval(X[TEST, 1:], groups=SIDE[TEST])
    for side in ("noisy", "calm"):
        rows = SIDE[TEST] == side
        assert interval_coverage_score(Y[TEST][rows], apart[rows]) == pytest.approx(0.9, abs=0.05)
    calm = SIDE[TEST] == "calm"
    assert interval_coverage_score(Y[TEST][calm], together[calm]) > 0.95
    assert interval_coverage_score(Y[TEST], together) == pytest.approx(0.9, abs=0.05)


@every_estimator
def test_the_quantile_of_a_group_is_that_of_its_scores_alone(models, estimator):
    model = models[estimator].calibrate(X[HELD_OUT], TARGETS[estimator][HELD_OUT], groups=SIDE[HELD_OUT])
    plain = models[estimator].calibrate(X[HELD_OUT], TARGETS[estimator][HELD_OUT])
    np.testing.assert_array_equal(model.scores_, plain.scores_)
    np.testing.assert_array_equal(predict(model, X[TEST]), predict(plain, X[TEST]))
    quantiles = model.conformity_.quantiles([0.9])[:, 0]
    order = split_rows(400, model.scale_share, np.random.default_rng(0))[1]
    for code, side in enumerate(("calm", "noisy")):
        of_side = model.conformity_.groups == code
        assert of_side.sum() == (SIDE[HELD_OUT][order] == side).sum()
        assert quantiles[code] == conformal_quantile(model.scores_[of_side], 0.9)


@every_estimator
def test_groups_may_be_a_column_of_the_table(models, estimator):
    y = TARGETS[estimator]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "side": SIDE})
    model = type(models[estimator])(n_members=2, n_estimators=20, random_state=0).fit(frame[TRAIN], y[TRAIN])
    by_name = model.calibrate(frame[HELD_OUT], y[HELD_OUT], groups="side")
    by_place = model.calibrate(frame[HELD_OUT], y[HELD_OUT], groups=2)
    by_label = model.calibrate(frame[HELD_OUT], y[HELD_OUT], groups=frame["side"][HELD_OUT])
    expected = predict(by_label, frame[TEST], groups=pl.Series(SIDE[TEST]))
    assert not np.array_equal(expected, predict(by_label, frame[TEST]))
    for one in (by_name, by_place):
        np.testing.assert_array_equal(predict(one, frame[TEST]), expected)
    np.testing.assert_array_equal(predict(by_name, pl.from_pandas(frame[TEST])), expected)
    with pytest.raises(ValueError, match="groups are those of column 2 of X"):
        predict(by_name, frame[TEST], groups=SIDE[TEST])


@every_estimator
def test_small_and_unknown_groups_get_the_quantile_of_all_rows_and_a_warning(models, estimator):
    groups = np.where(np.arange(400) < 4, 7, 1)
    model = models[estimator].calibrate(X[HELD_OUT], TARGETS[estimator][HELD_OUT], groups=groups)
    of_new = np.array([1, 7, 8, 1])
    with pytest.warns(UserWarning, match="2 of 4 rows are of groups that have too few calibration rows") as caught:
        found = predict(model, X[:4], groups=of_new)
    assert caught[0].filename == __file__
    marginal = predict(model, X[:4])
    np.testing.assert_array_equal(found[1:3], marginal[1:3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(predict(model, X[:4], groups=[1, 1, 1, 1])[[0, 3]], found[[0, 3]])


def test_missing_values_of_a_column_are_a_group_of_their_own():
    column = np.where(SIDE == "noisy", np.nan, 1.0)
    table = np.column_stack([X, column])
    model = small_regressor().fit(table[TRAIN], Y[TRAIN])
    missing = model.calibrate(table[HELD_OUT], Y[HELD_OUT], groups=2)
    labelled = model.calibrate(table[HELD_OUT], Y[HELD_OUT], groups=SIDE[HELD_OUT])
    np.testing.assert_array_equal(
        missing.predict_interval(table[TEST]), labelled.predict_interval(table[TEST], groups=SIDE[TEST])
    )


def test_sets_per_class_cover_every_class(models):
    model = models["classifier"]
    plain, per_class = (model.calibrate(X[HELD_OUT], LABELS[HELD_OUT], per_class=one) for one in (False, True))

    def coverage_by_class(calibrated):
        sets = calibrated.predict_set(X[TEST], 0.8)
        return [sets[LABELS[TEST] == label, code].mean() for code, label in enumerate(calibrated.classes_)]

    assert np.ptp(coverage_by_class(plain)) > 0.18
    assert coverage_by_class(per_class) == pytest.approx([0.8] * 3, abs=0.07)
    assert per_class.predict_set(X[TEST], [0.5, 0.8]).shape == (len(X[TEST]), 2, 3)
    np.testing.assert_array_equal(per_class.predict_set(X[TEST], [0.5, 0.8])[:, 1], per_class.predict_set(X[TEST], 0.8))


def test_a_class_without_calibration_rows_gets_the_quantile_of_all_rows(models):
    known = LABELS[HELD_OUT] != LABELS[0]
    model = models["classifier"].calibrate(X[HELD_OUT][known], LABELS[HELD_OUT][known], per_class=True)
    with pytest.warns(UserWarning, match="1 of 3 classes have too few calibration rows"):
        model.predict_set(X[:5])


@every_estimator
def test_groups_are_kept_in_files(models, estimator, tmp_path):
    y = TARGETS[estimator][HELD_OUT]
    for groups, new in ((SIDE[HELD_OUT], SIDE[TEST]), (SIDE[HELD_OUT] == "calm", SIDE[TEST] == "calm")):
        model = models[estimator].calibrate(X[HELD_OUT], y, groups=groups)
        model.save(tmp_path / "model.epib")
        again = epiboost.load(tmp_path / "model.epib")
        np.testing.assert_array_equal(predict(again, X[TEST], groups=new), predict(model, X[TEST], groups=new))


def test_classes_as_groups_are_kept_in_files(models, tmp_path):
    model = models["classifier"].calibrate(X[HELD_OUT], LABELS[HELD_OUT], per_class=True)
    model.save(tmp_path / "model.epib")
    again = epiboost.load(tmp_path / "model.epib")
    assert again.per_class
    np.testing.assert_array_equal(again.predict_set(X[TEST]), model.predict_set(X[TEST]))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ("side", "must name a column of X, give its position or one label per row; got 'side' for columns without"),
        (2, "must be a column of X, from 0 to 1; got 2"),
        (-1, "must be a column of X, from 0 to 1; got -1"),
        (True, "one label per row, shape (400,); got shape ()"),
        (np.zeros(3), "one label per row, shape (400,); got shape (3,)"),
        (np.arange(400), "must be shared by several rows, got 400 different ones for 400 rows"),
        (0, "must be shared by several rows"),
        ([None] * 400, "missing labels"),
        (["a", 1] * 200, "all text or all numbers, got the types int, str"),
        (np.full(400, "2020-01-01", dtype="datetime64[D]"), "make them text"),
    ],
)
def test_groups_that_cannot_be_used_are_refused(models, groups, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        models["regressor"].calibrate(
            X[HELD_OUT], Y[HELD_OUT], groups=np.array(groups, dtype=object) if isinstance(groups, list) else groups
        )


def test_groups_without_a_use_are_refused(models, calibrated):
    with pytest.raises(ValueError, match="groups are for models that were calibrated with groups"):
        calibrated["regressor"].predict_interval(X[:3], groups=[1, 1, 1])
    per_class = models["classifier"].calibrate(X[HELD_OUT], LABELS[HELD_OUT], per_class=True)
    with pytest.raises(ValueError, match="groups are for models that were calibrated with groups"):
        per_class.predict_set(X[:3], groups=[1, 1, 1])
    with pytest.raises(ValueError, match="groups and per_class=True exclude each other"):
        models["classifier"].calibrate(X[HELD_OUT], LABELS[HELD_OUT], groups=SIDE[HELD_OUT], per_class=True)
    by_text = models["regressor"].calibrate(X[HELD_OUT], Y[HELD_OUT], groups=SIDE[HELD_OUT])
    with pytest.raises(ValueError, match="give the same kind"):
        by_text.predict_interval(X[:3], groups=[1, 2, 3])
