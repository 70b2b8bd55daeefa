"""A saved model is the same after loading; what cannot be saved or loaded is refused."""

import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import epiboost
from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._estimators.base import BaseEpiBoost
from epiboost._files import model_file
from epiboost._files.model_file import ModelFileError
from epiboost._inputs.target import Classes
from epiboost.engines.native.engine import NativeEngine
from tests.support.models import every_ensemble, small_classifier, small_regressor
from tests.support.processes import run_python
from tests.support.saved_models import CLASSES, TARGETS, X, Y, assert_same_model, fitted

every_target = pytest.mark.parametrize("target", sorted(TARGETS))


# Saving and loading


@every_ensemble
@every_target
def test_a_model_is_the_same_after_saving_and_loading(path, target, ensemble):
    model = fitted(target, ensemble)
    model.save(path)
    again = type(model).load(path)
    assert_same_model(again, model)
    if target != "numbers":
        np.testing.assert_array_equal(again.classes_, model.classes_, strict=True)


@every_ensemble
def test_a_loaded_model_is_saved_to_the_same_bytes(path, tmp_path, ensemble):
    fitted(ensemble=ensemble).save(path)
    EpiBoostRegressor.load(path).save(tmp_path / "again.epib")
    assert (tmp_path / "again.epib").read_bytes() == path.read_bytes()


def test_every_parameter_is_restored(path):
    model = fitted(
        ensemble="sgb", n_members=2, n_estimators=7, learning_rate=0.05, max_depth=2, subsample=0.7, l2=0.5,
        max_bins=20, temperature=3.0, variance_guard=0.25, n_jobs=2, random_state=12, verbose=0,
    )  # fmt: skip
    model.save(path)
    assert EpiBoostRegressor.load(path).get_params() == model.get_params()


def test_a_wrong_instruction_set_is_no_fault_of_the_file(path, monkeypatch):
    fitted(n_members=2, n_estimators=3).save(path)
    monkeypatch.setenv("EPIBOOST_INSTRUCTIONS", "nonsense")
    with pytest.raises(ValueError, match=r"^EPIBOOST_INSTRUCTIONS is 'nonsense'"):
        EpiBoostRegressor.load(path)


def test_numpy_parameters_are_restored_as_python_numbers(path):
    fitted(n_members=np.int64(2), learning_rate=np.float64(0.25), max_depth=np.int32(2)).save(path)
    parameters = EpiBoostRegressor.load(path).get_params()
    assert (parameters["n_members"], parameters["learning_rate"], parameters["max_depth"]) == (2, 0.25, 2)
    assert type(parameters["n_members"]) is int


def test_a_random_generator_is_not_saved_with_the_model(path):
    model = fitted(random_state=np.random.RandomState(3))
    model.save(path)
    again = EpiBoostRegressor.load(path)
    assert again.random_state is None
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_column_names_are_restored_and_checked(path):
    frame = pd.DataFrame(X, columns=["länge", "b c", ""])
    model = fitted(table=frame)
    model.save(path)
    again = EpiBoostRegressor.load(path)
    assert again.feature_names_in_.tolist() == ["länge", "b c", ""]
    assert again.feature_names_in_.dtype == object
    assert_same_model(again, model, frame)
    np.testing.assert_array_equal(again.predict(frame[["b c", "länge", ""]]), model.predict(frame))
    with pytest.raises(ValueError, match="unseen at fit time"):
        again.predict(frame.rename(columns={"b c": "d"}))


def test_a_model_without_column_names_has_none_after_loading(path):
    fitted().save(path)
    assert not hasattr(EpiBoostRegressor.load(path), "feature_names_in_")


def test_evaluation_losses_and_stopped_chains_are_restored(path):
    model = small_regressor(n_estimators=40, learning_rate=1.0, l2=0.0, variance_guard=0.0, early_stopping_rounds=2)
    model.fit(X[:40], Y[:40], eval_set=(X[40:], Y[40:])).save(path)
    assert model.n_iter_.max() < 40
    again = EpiBoostRegressor.load(path)
    assert_same_model(again, model)
    np.testing.assert_array_equal(again.evaluation_loss_, model.evaluation_loss_)


def test_a_loaded_model_can_be_fitted_again(path):
    model = fitted()
    model.save(path)
    assert_same_model(EpiBoostRegressor.load(path).fit(X, Y), model)


def test_saving_replaces_an_existing_file(path):
    fitted("integer labels").save(path)
    model = fitted()
    model.save(path)
    assert_same_model(EpiBoostRegressor.load(path), model)


def test_another_process_predicts_the_same_bits(path, tmp_path):
    model = fitted(ensemble="virtual")
    model.save(path)
    np.save(tmp_path / "table.npy", X)
    code = f"""
        import numpy as np
        from epiboost import EpiBoostRegressor
        model = EpiBoostRegressor.load({str(path)!r})
        print(model.predict_posterior(np.load({str(tmp_path / "table.npy")!r})).parameters.tobytes().hex())
    """
    ended = run_python(code)
    assert ended.returncode == 0, ended.stderr
    assert bytes.fromhex(ended.stdout.strip()) == model.predict_posterior(X).parameters.tobytes()


def test_a_copied_file_loads_the_same_model(path, tmp_path):
    fitted().save(path)
    shutil.copy(path, tmp_path / "copy.epib")
    assert_same_model(EpiBoostRegressor.load(tmp_path / "copy.epib"), fitted())


# What cannot be saved or loaded


def test_a_model_that_is_not_fitted_cannot_be_saved(path):
    with pytest.raises(NotFittedError):
        EpiBoostRegressor().save(path)
    assert not path.exists()


def test_saving_into_a_missing_folder_raises_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        fitted().save(tmp_path / "nowhere" / "model.epib")
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_as_the_model_file_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError):
        fitted().save(tmp_path)
    with pytest.raises(IsADirectoryError):
        EpiBoostRegressor.load(tmp_path)


def test_loading_a_missing_file_raises_an_error(path):
    with pytest.raises(FileNotFoundError):
        EpiBoostRegressor.load(path)


def test_a_model_of_an_unregistered_engine_cannot_be_saved(path):
    with pytest.raises(ValueError, match="only models of an engine that has a name can be saved"):
        fitted(engine=NativeEngine(n_jobs=1)).save(path)
    assert not path.exists()


def test_labels_of_a_type_that_cannot_be_saved_are_refused(path):
    model = small_classifier().fit(X, (CLASSES > 0).astype(int))
    model.target_ = Classes(np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"))
    with pytest.raises((TypeError, ValueError), match=r"classes|labels"):
        model.save(path)
    assert not path.exists()


def test_a_file_of_the_other_estimator_is_refused(path):
    fitted().save(path)
    with pytest.raises(ModelFileError, match="holds a model of 'EpiBoostRegressor', not of 'EpiBoostClassifier'"):
        EpiBoostClassifier.load(path)
    fitted("integer labels").save(path)
    with pytest.raises(ModelFileError, match="holds a model of 'EpiBoostClassifier', not of 'EpiBoostRegressor'"):
        EpiBoostRegressor.load(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"EPIB", b"\x80\x04K\x01.", b"PK\x03\x04" + bytes(200), b"{}" * 100, b"EPIB" + bytes(500), b"a,b\n1,2\n"],
)
def test_files_of_other_formats_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.epib"):
        EpiBoostRegressor.load(path)


def test_a_model_file_without_an_estimator_is_refused(path):
    for header in ({}, {"estimator": None}, {"estimator": ["EpiBoostRegressor"]}, {"estimator": "EpiBoostRegressor"}):
        model_file.write(path, header, {})
        with pytest.raises(ModelFileError, match=r"model\.epib"):
            EpiBoostRegressor.load(path)


def test_load_opens_a_model_of_any_class_and_names_the_classes_it_knows(path):
    small_classifier(n_estimators=3).fit(X, (CLASSES > 0).astype(int)).save(path)
    assert type(epiboost.load(path)).__name__ == "EpiBoostClassifier"
    header, arrays = model_file.read(path)
    model_file.write(path, {**header, "estimator": "Unknown"}, arrays)
    with pytest.raises(ModelFileError, match="holds a model of 'Unknown'; known are CalibratedClassifier, "):
        epiboost.load(path)


def test_a_base_class_cannot_be_constructed():
    with pytest.raises(TypeError, match="abstract"):
        BaseEpiBoost()


@pytest.mark.parametrize(
    "changes", [{"ensemble": "virtual"}, {"n_members": 3}, {"engine": "lightgbm"}, {"max_depth": "deep"}], ids=str
)
def test_a_model_whose_parameters_were_changed_after_fit_refuses_to_be_saved(changes, tmp_path):
    model = small_regressor(n_members=2).fit(X, Y)
    model.set_params(**changes)
    with pytest.raises(ValueError, match=r"parameters were changed after fit \(.*; set them back or fit again"):
        model.save(tmp_path / "model.epib")
    assert not (tmp_path / "model.epib").exists()


def test_parameters_that_do_not_change_the_form_of_a_model_may_be_changed_before_it_is_saved(tmp_path):
    model = small_regressor(n_members=2).fit(X, Y)
    model.set_params(n_jobs=2, verbose=1, learning_rate=0.5, n_estimators=7).save(tmp_path / "model.epib")
    np.testing.assert_array_equal(epiboost.load(tmp_path / "model.epib").predict(X), model.predict(X))


@pytest.mark.parametrize("values", [[-1e308, 1e308], [-1e308, 1.0, 1e308], [1e308, 1e308, -1e308]], ids=str)
def test_a_model_of_the_largest_numbers_can_be_loaded(values, path):
    table = np.resize(values, (60, 1))
    model = small_regressor().fit(table, np.arange(60.0))
    model.save(path)
    loaded = epiboost.load(path).predict_uncertainty(table, novelty=True)
    np.testing.assert_array_equal(loaded.total, model.predict_uncertainty(table).total)
