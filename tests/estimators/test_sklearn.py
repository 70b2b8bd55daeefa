"""Both estimators pass the checks of scikit-learn and work with its tools, for every ensemble."""

import io
import multiprocessing
import os
import pickle
import signal
import time

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from tests.support.compare import parameters_of
from tests.support.models import (
    ENSEMBLES,
    ESTIMATORS,
    every_ensemble,
    every_estimator,
    small_estimator,
    small_regressor,
)

HAS_FORK = "fork" in multiprocessing.get_all_start_methods()
SECONDS_TO_WAIT = 30

needs_fork = pytest.mark.skipif(not HAS_FORK, reason="this system cannot fork")


@pytest.fixture(scope="module")
def table():
    """Return a table and a numeric target."""
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 4))
    return X, X[:, 0] - X[:, 1] + random.normal(scale=0.2, size=150)


@pytest.fixture
def rows(table, estimator):
    """Return the table and the target of an estimator."""
    X, y = table
    return (X, np.digitize(y, [-1.0, 1.0])) if estimator == "classifier" else (X, y)


# One thread: the tables of the checks are tiny, and threads are tested elsewhere.
@parametrize_with_checks(
    [
        small_estimator(name, ensemble=ensemble, learning_rate=0.3, random_state=None)
        for name in ESTIMATORS
        for ensemble in ENSEMBLES
    ]
)
def test_every_estimator_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


def test_the_estimators_are_a_regressor_and_a_classifier():
    assert is_regressor(EpiBoostRegressor())
    assert is_classifier(EpiBoostClassifier())


@every_estimator
@every_ensemble
def test_a_clone_has_the_same_parameters_and_learns_the_same_model(estimator, ensemble, rows):
    X, y = rows
    model = small_estimator(estimator, ensemble=ensemble).fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "forest_")
    np.testing.assert_array_equal(parameters_of(copy.fit(X, y), X), parameters_of(model, X))


@every_estimator
@every_ensemble
def test_a_pickled_model_predicts_the_same_bits(estimator, ensemble, rows):
    X, y = rows
    model = small_estimator(estimator, ensemble=ensemble).fit(X, y)
    expected = parameters_of(model, X)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 (bytes of our own)
    np.testing.assert_array_equal(parameters_of(again, X), expected)
    assert again.get_params() == model.get_params()


@every_estimator
@every_ensemble
def test_a_model_dumped_by_joblib_predicts_the_same_bits(estimator, ensemble, rows):
    X, y = rows
    model = small_estimator(estimator, ensemble=ensemble).fit(X, y)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    np.testing.assert_array_equal(parameters_of(joblib.load(file), X), parameters_of(model, X))


@every_estimator
def test_prediction_does_not_make_the_pickle_larger(estimator, rows):
    X, y = rows
    model = small_estimator(estimator).fit(X, y)
    before = len(pickle.dumps(model))
    model.predict(X)
    assert len(pickle.dumps(model)) == before


@every_estimator
@every_ensemble
def test_a_pipeline_trains_and_predicts(estimator, ensemble, rows):
    X, y = rows
    incomplete = X.copy()
    incomplete[::7, 0] = np.nan
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), small_estimator(estimator, ensemble=ensemble)).fit(
        incomplete, y
    )
    assert pipeline.predict(incomplete).shape == y.shape
    assert pipeline.score(incomplete, y) > 0.2


@every_estimator
def test_a_pipeline_sets_the_parameters_of_its_last_step(estimator, rows):
    X, y = rows
    last = f"epiboost{estimator}"
    pipeline = (
        make_pipeline(StandardScaler(), small_estimator(estimator)).set_params(**{f"{last}__n_members": 2}).fit(X, y)
    )
    assert pipeline[-1].predict_posterior(X).n_members == 2


@every_estimator
def test_a_pipeline_passes_weights_to_the_model(estimator, rows):
    X, y = rows
    weight = np.where(np.arange(len(y)) % 2, 1.0, 5.0)
    direct = small_estimator(estimator).fit(X, y, sample_weight=weight)
    pipeline = make_pipeline("passthrough", small_estimator(estimator)).fit(
        X, y, **{f"epiboost{estimator}__sample_weight": weight}
    )
    np.testing.assert_array_equal(parameters_of(pipeline[-1], X), parameters_of(direct, X))


@every_estimator
def test_a_grid_search_gives_the_same_result_for_any_number_of_processes(estimator, rows):
    X, y = rows
    grid = {"ensemble": ["single", "virtual"], "max_depth": [1, 3]}
    one = GridSearchCV(small_estimator(estimator), grid, cv=3, n_jobs=1).fit(X, y)
    two = GridSearchCV(small_estimator(estimator), grid, cv=3, n_jobs=2).fit(X, y)
    assert one.best_params_ == two.best_params_
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(parameters_of(one.best_estimator_, X), parameters_of(two.best_estimator_, X))


@every_estimator
def test_a_grid_search_finds_the_better_number_of_trees(estimator, rows):
    X, y = rows
    search = GridSearchCV(small_estimator(estimator, learning_rate=0.3), {"n_estimators": [1, 60]}, cv=3).fit(X, y)
    assert search.best_params_ == {"n_estimators": 60}


@every_estimator
@every_ensemble
def test_cross_validated_predictions_come_from_models_without_the_row(estimator, ensemble, rows):
    X, y = rows
    first, second = np.arange(75), np.arange(75, len(y))
    predicted = cross_val_predict(
        small_estimator(estimator, ensemble=ensemble), X, y, cv=[(first, second), (second, first)]
    )
    np.testing.assert_array_equal(
        predicted[second], small_estimator(estimator, ensemble=ensemble).fit(X[first], y[first]).predict(X[second])
    )
    np.testing.assert_array_equal(
        predicted[first], small_estimator(estimator, ensemble=ensemble).fit(X[second], y[second]).predict(X[first])
    )


@every_ensemble
@pytest.mark.parametrize("estimator", ["classifier"])
def test_cross_validated_probabilities_have_one_column_per_class_and_sum_to_one(estimator, ensemble, rows):
    X, y = rows
    probabilities = cross_val_predict(small_estimator(estimator, ensemble=ensemble), X, y, cv=3, method="predict_proba")
    assert probabilities.shape == (len(y), 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)


@every_estimator
def test_cross_validation_scores_better_than_chance(estimator, rows):
    X, y = rows
    scores = cross_val_score(small_estimator(estimator, n_estimators=60, learning_rate=0.3), X, y, cv=3)
    assert (scores > 0.5).all()


@pytest.mark.parametrize("estimator", ["classifier"])
def test_the_classifier_predicts_the_most_probable_class(estimator, rows):
    X, y = rows
    model = small_estimator(estimator).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])


@every_estimator
def test_a_second_fit_replaces_the_first(estimator, rows):
    X, y = rows
    model = small_estimator(estimator).fit(X[:50, :2], y[:50])
    model.fit(X, y)
    np.testing.assert_array_equal(parameters_of(model, X), parameters_of(small_estimator(estimator).fit(X, y), X))


# Processes that are forked after their parent has used threads


def enough_for_threads(X, y):
    """Return so many rows that threads share the work."""
    X = np.tile(X, (40, 1))
    return X + np.random.default_rng(0).normal(scale=0.1, size=X.shape), np.tile(y, 40)


def train_and_predict(estimator, X, y):
    model = small_estimator(estimator, n_members=4, n_jobs=2).fit(X, y)
    return parameters_of(model, X)


def train_and_send(connection, estimator, X, y):
    connection.send_bytes(train_and_predict(estimator, X, y).tobytes())
    connection.close()


@needs_fork
@every_estimator
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_trains_the_same_bits_after_its_parent_used_threads(estimator, rows):
    X, y = enough_for_threads(*rows)
    expected = train_and_predict(estimator, X, y)
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=train_and_send, args=(sender, estimator, X, y))
    child.start()
    sender.close()
    try:
        assert receiver.poll(SECONDS_TO_WAIT), "the child hangs"
        assert receiver.recv_bytes() == expected.tobytes()
        child.join(SECONDS_TO_WAIT)
        assert child.exitcode == 0
    finally:
        child.kill()
        child.join()
    np.testing.assert_array_equal(train_and_predict(estimator, X, y), expected)


@needs_fork
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_bare_fork_predicts_and_trains_the_same_bits_as_its_parent(table):
    X, y = enough_for_threads(*table)
    model = small_regressor(ensemble="virtual", n_jobs=2).fit(X, y)
    expected = parameters_of(model, X)
    child = os.fork()
    if child == 0:  # only the exit status leaves the child: no assertion, no clean-up of the test run
        status = 1
        try:
            again = small_regressor(ensemble="virtual", n_jobs=2).fit(X, y)
            same = all(np.array_equal(parameters_of(one, X), expected) for one in (model, again))
            status = 0 if same else 2
        finally:
            os._exit(status)
    assert exit_status(child) == 0


def exit_status(child):
    """Return the exit code of a child process; kill it if it hangs."""
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "the child hangs"


def test_a_subclass_may_validate_its_data_before_fit():
    class Validating(EpiBoostRegressor):
        def fit(self, X, y):
            return super().fit(*validate_data(self, X, y))

    X = np.random.default_rng(0).normal(size=(30, 2))
    model = Validating(n_members=2, n_estimators=3).fit(X, X[:, 0])
    assert model.n_features_in_ == 2


def test_a_second_fit_forgets_the_names_of_the_first():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = EpiBoostRegressor(n_members=2, n_estimators=3).fit(pd.DataFrame(X, columns=["a", "b"]), X[:, 0])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert not hasattr(model.fit(X, X[:, 0]), "feature_names_in_")
