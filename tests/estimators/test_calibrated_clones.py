"""Calibrated models that train their model: clones, cross-validation, searches and pipelines."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from epiboost import CalibratedClassifier, CalibratedRegressor, EpiBoostRegressor
from epiboost.metrics import interval_coverage_score
from tests.support.calibration import HELD_OUT, LABELS, TARGETS, TEST, X, Y
from tests.support.models import every_estimator, small_classifier, small_regressor

ROWS = slice(0, 300)


@every_estimator
def test_a_clone_is_not_fitted_and_neither_is_its_model(calibrated, estimator):
    copy = clone(calibrated[estimator])
    assert not hasattr(copy.estimator, "forest_")
    assert copy.estimator.get_params() == calibrated[estimator].estimator.get_params()
    for method in ("predict", "predict_posterior"):
        with pytest.raises(NotFittedError):
            getattr(copy, method)(X)


def test_cross_validation_does_not_judge_a_model_on_rows_that_it_was_trained_on():
    random = np.random.default_rng(0)
    table, noise = random.normal(size=(120, 3)), random.normal(size=120)
    model = EpiBoostRegressor(n_members=1, n_estimators=200, max_depth=6, n_jobs=1, random_state=0).fit(table, noise)
    assert model.score(table, noise) > 0.5
    assert cross_val_score(model.calibrate(table, noise), table, noise, cv=2).max() < 0.2


@every_estimator
def test_a_model_that_is_not_fitted_is_trained_on_other_rows_than_it_is_calibrated_on(estimator):
    y = TARGETS[estimator][ROWS]
    inner = {"regressor": small_regressor, "classifier": small_classifier}[estimator](n_estimators=20)
    kind = {"regressor": CalibratedRegressor, "classifier": CalibratedClassifier}[estimator]
    model = kind(inner, calibration_share=0.4).fit(X[ROWS], y)
    assert not hasattr(inner, "forest_")
    assert model.estimator_.provenance_.n_rows == 180
    assert len(model.scores_) == 99
    again = kind(inner, calibration_share=0.4).fit(X[ROWS], y)
    np.testing.assert_array_equal(again.scores_, model.scores_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    other = kind(inner, calibration_share=0.4, random_state=1).fit(X[ROWS], y)
    assert not np.array_equal(other.scores_, model.scores_)


def test_intervals_of_a_model_trained_in_fit_have_the_promised_coverage():
    model = CalibratedRegressor(small_regressor(n_estimators=40)).fit(X[:800], Y[:800])
    assert interval_coverage_score(Y[TEST], model.predict_interval(X[TEST])) == pytest.approx(0.9, abs=0.05)


def test_every_table_can_be_split_into_training_and_calibration_rows():
    tables = {
        "array": X[ROWS],
        "list": X[ROWS].tolist(),
        "pandas": pd.DataFrame(X[ROWS], columns=["a", "b"]),
        "polars": pl.DataFrame(X[ROWS], schema=["a", "b"]),
        "arrow": pl.DataFrame(X[ROWS], schema=["a", "b"]).to_arrow(),
    }
    scores = {
        name: CalibratedRegressor(small_regressor()).fit(table, Y[ROWS]).scores_ for name, table in tables.items()
    }
    for found in scores.values():
        np.testing.assert_array_equal(found, scores["array"])
    names = CalibratedRegressor(small_regressor()).fit(tables["polars"], Y[ROWS]).feature_names_in_
    assert names.tolist() == ["a", "b"]


def test_searches_and_pipelines_train_a_calibrated_model():
    search = GridSearchCV(CalibratedRegressor(small_regressor()), {"estimator__n_estimators": [1, 30]}, cv=2)
    assert search.fit(X[ROWS], Y[ROWS]).best_params_ == {"estimator__n_estimators": 30}
    pipeline = make_pipeline(StandardScaler(), CalibratedRegressor(small_regressor())).fit(X[ROWS], Y[ROWS])
    assert pipeline[-1].predict_interval(X[:3]).shape == (3, 2)


def test_weights_and_groups_reach_training_and_calibration():
    weight, groups = np.tile([1.0, 0.0, 2.0], 100), np.tile(["a", "b", "b"], 100)
    model = CalibratedRegressor(small_regressor()).fit(X[ROWS], Y[ROWS], sample_weight=weight, groups=groups)
    kept = weight > 0.0
    same = CalibratedRegressor(small_regressor()).fit(X[ROWS][kept], Y[ROWS][kept], weight[kept], groups[kept])
    np.testing.assert_array_equal(model.scores_, same.scores_)
    np.testing.assert_array_equal(
        model.predict_interval(X[:2], groups=["a", "b"]), same.predict_interval(X[:2], groups=["a", "b"])
    )
    assert set(model.conformity_.weight) == {1.0, 2.0}
    unweighted = CalibratedRegressor(small_regressor()).fit(X[ROWS][kept], Y[ROWS][kept])
    assert not np.array_equal(unweighted.predict(X), model.predict(X))


def test_every_class_has_a_training_row():
    labels = LABELS[:60].astype(object)
    labels[[3, 40]] = ["rare", "scarce"]
    for seed in range(4):
        model = CalibratedClassifier(small_classifier(n_estimators=2), random_state=seed).fit(X[:60], labels)
        assert {"rare", "scarce"} <= set(model.classes_)


def test_too_few_rows_to_train_and_calibrate_are_refused():
    with pytest.raises(ValueError, match=r"Found 5 sample\(s\) while training and calibration need at least 6"):
        CalibratedRegressor(small_regressor()).fit(X[:5], Y[:5])
    with pytest.raises(ValueError, match="calibration_share must be a number strictly between 0 and 1, got 1"):
        CalibratedRegressor(small_regressor(), calibration_share=1.0).fit(X, Y)


@pytest.mark.slow
@every_estimator
def test_a_calibrated_model_passes_the_checks_of_scikit_learn(estimator):
    inner = {"regressor": small_regressor, "classifier": small_classifier}[estimator](n_members=1, n_estimators=3)
    kind = {"regressor": CalibratedRegressor, "classifier": CalibratedClassifier}[estimator]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(kind(inner), on_fail=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    drawn_at_random = {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}
    assert failed <= drawn_at_random  # the rows of each part are


def test_options_that_are_not_true_or_false_are_refused(models):
    with pytest.raises(ValueError, match="symmetric must be True or False, got 'no'"):
        models["regressor"].calibrate(X[HELD_OUT], Y[HELD_OUT], symmetric="no")
    with pytest.raises(ValueError, match="per_class must be True or False, got 2"):
        models["classifier"].calibrate(X[HELD_OUT], LABELS[HELD_OUT], per_class=2)


def test_a_failed_fit_leaves_no_earlier_calibration(models):
    model = models["regressor"].calibrate(X[HELD_OUT], Y[HELD_OUT])
    with pytest.raises(ValueError, match="at least 4 rows"):
        model.fit(X[:3], Y[:3])
    with pytest.raises(NotFittedError):
        model.predict_interval(X[:3])
