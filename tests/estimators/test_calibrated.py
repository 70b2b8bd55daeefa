"""Calibrated models as estimators of scikit-learn, and in files."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor

from epiboost import CalibratedRegressor, EpiBoostRegressor, ModelFileError
from epiboost._files import model_file
from tests.support.calibration import HELD_OUT, TARGETS, TEST, X, Y
from tests.support.compare import parameters_of
from tests.support.models import every_estimator, small_regressor

# scikit-learn


@every_estimator
def test_a_calibrated_model_is_a_regressor_or_a_classifier(calibrated, estimator):
    assert is_regressor(calibrated[estimator]) == (estimator == "regressor")
    assert is_classifier(calibrated[estimator]) == (estimator == "classifier")
    assert calibrated[estimator].score(X[TEST], TARGETS[estimator][TEST]) > 0.2
    assert calibrated[estimator].n_features_in_ == 2


@every_estimator
def test_a_calibrated_model_can_be_calibrated_again_on_other_rows(models, calibrated, estimator):
    fresh = calibrated[estimator].calibrate(X[TEST], TARGETS[estimator][TEST])
    expected = models[estimator].calibrate(X[TEST], TARGETS[estimator][TEST])
    np.testing.assert_array_equal(fresh.scores_, expected.scores_)


def test_a_calibrated_model_has_the_column_names_of_its_model():
    frame = pd.DataFrame(X[HELD_OUT], columns=["a", "b"])
    model = small_regressor().fit(frame, Y[HELD_OUT]).calibrate(frame, Y[HELD_OUT])
    assert model.feature_names_in_.tolist() == ["a", "b"]


# Files


def assert_same_predictions(one, other, estimator):
    np.testing.assert_array_equal(parameters_of(one, X), parameters_of(other, X))
    if estimator == "regressor":
        np.testing.assert_array_equal(one.predict_interval(X, [0.5, 0.9]), other.predict_interval(X, [0.5, 0.9]))
    else:
        np.testing.assert_array_equal(one.predict_set(X, [0.5, 0.9]), other.predict_set(X, [0.5, 0.9]))
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


@every_estimator
def test_a_calibrated_model_is_the_same_after_pickling_and_saving(calibrated, estimator, tmp_path):
    model = calibrated[estimator]
    assert_same_predictions(pickle.loads(pickle.dumps(model)), model, estimator)  # noqa: S301 (bytes of our own)
    model.save(tmp_path / "model.epib")
    assert_same_predictions(type(model).load(tmp_path / "model.epib"), model, estimator)


@every_estimator
def test_a_calibration_without_a_seed_can_be_saved(models, estimator, tmp_path):
    model = models[estimator].calibrate(X_cal=X[HELD_OUT], y_cal=TARGETS[estimator][HELD_OUT], random_state=None)
    model.save(tmp_path / "model.epib")
    again = type(model).load(tmp_path / "model.epib")
    assert_same_predictions(again, model, estimator)
    assert again.random_state is None


@every_estimator
def test_plain_and_calibrated_files_are_not_interchangeable(models, calibrated, estimator, tmp_path):
    models[estimator].save(tmp_path / "plain.epib")
    calibrated[estimator].save(tmp_path / "calibrated.epib")
    with pytest.raises(ModelFileError, match="holds a model of 'EpiBoost"):
        type(calibrated[estimator]).load(tmp_path / "plain.epib")
    with pytest.raises(ModelFileError, match="holds a model of 'Calibrated"):
        type(models[estimator]).load(tmp_path / "calibrated.epib")


def test_the_error_for_another_type_of_file_names_the_class_that_loads_it(models, calibrated, tmp_path):
    for model, reader in ((calibrated["regressor"], EpiBoostRegressor), (models["regressor"], CalibratedRegressor)):
        model.save(tmp_path / "model.epib")
        with pytest.raises(ModelFileError, match=f"read it with epiboost.load or {type(model).__name__}.load"):
            reader.load(tmp_path / "model.epib")


@pytest.mark.parametrize(
    ("estimator", "array", "value"),
    [
        ("regressor", "calibration_scores", np.array([2.0, 1.0])),
        ("regressor", "calibration_scores", np.array([np.nan, 1.0])),
        ("regressor", "calibration_scores", np.array([-1.0, 1.0])),
        ("regressor", "calibration_scores", np.empty(0)),
        ("regressor", "calibration_scales", np.array([1.0, -1.0, 1.0])),
        ("regressor", "calibration_scales", np.array([1.0])),
        ("regressor", "calibration_posterior_scales", np.array([1.0, np.inf, 1.0])),
        ("classifier", "calibration_temperature", np.array(0.0)),
        ("classifier", "calibration_temperature", np.array([1.0, 2.0])),
    ],
)
def test_a_forged_calibration_is_refused(calibrated, estimator, array, value, tmp_path):
    path = tmp_path / "model.epib"
    calibrated[estimator].save(path)
    header, arrays = model_file.read(path)
    model_file.write(path, header, {**arrays, array: value})
    with pytest.raises(ModelFileError, match="do not fit together"):
        type(calibrated[estimator]).load(path)


def test_a_forged_type_of_inner_model_is_refused(calibrated, tmp_path):
    path = tmp_path / "model.epib"
    calibrated["regressor"].save(path)
    header, arrays = model_file.read(path)
    for name in ("EpiBoostClassifier", "Nobody"):
        model_file.write(path, {**header, "model": {**header["model"], "estimator": name}}, arrays)
        with pytest.raises(ModelFileError, match="do not fit together"):
            CalibratedRegressor.load(path)
