"""A model file of a stranger takes no more memory, time and threads than a file of its size needs."""

import numpy as np
import pytest

import epiboost
from epiboost import ModelFileError
from epiboost._boosting.recipe import thread_count
from epiboost._estimators import estimator_file
from epiboost._files import model_file
from epiboost.engines.native.forest import NativeForest
from tests.support.forgeries import change, put, with_value
from tests.support.library_models import fitted as library_fitted
from tests.support.saved_models import X, fitted


def forged(path, model, *forgeries):
    """Write a model with changes and a right checksum."""
    model.save(path)
    header, arrays = model_file.read(path)
    for forge in forgeries:
        forge(header, arrays)
    model_file.write(path, header, arrays)
    return path


@pytest.fixture(scope="module")
def virtual():
    """Return a virtual ensemble."""
    return fitted("numbers", "virtual")


def test_a_loaded_model_uses_no_more_threads_than_there_are_cores(path):
    loaded = epiboost.load(forged(path, fitted(), put("parameters", "n_jobs", value=100_000)))
    assert loaded.n_jobs == loaded.forest_.threads == thread_count(None)


@pytest.mark.parametrize("n_jobs", [1, -1, None])
def test_a_loaded_model_keeps_its_number_of_threads(path, n_jobs):
    assert epiboost.load(forged(path, fitted(), put("parameters", "n_jobs", value=n_jobs))).n_jobs == n_jobs


@pytest.mark.parametrize(
    ("n_members", "refusal"),
    [
        (1001, "n_members of ensemble='virtual' must be a whole number from 1 to 1000"),
        (10**9, "n_members must be a whole number from 1 to 100000"),
    ],
)
def test_too_many_virtual_members_are_refused_before_they_are_counted(path, virtual, n_members, refusal):
    forgeries = [
        put("parameters", "n_members", value=n_members),
        put("parameters", "n_estimators", value=10**9),
        put("capacity", "n_estimators", value=10**9),
    ]
    with pytest.raises(ModelFileError, match=refusal):
        epiboost.load(forged(path, virtual, *forgeries))


def test_too_many_members_for_the_categories_are_refused(path, monkeypatch):
    model = fitted(categorical_features=[0])
    epiboost.load(forged(path, model))
    monkeypatch.setattr(estimator_file, "_MAX_DRAWS", 2)
    with pytest.raises(ModelFileError, match="3 members are too many for that many categorical columns"):
        epiboost.load(path)


def test_no_row_is_predicted_while_a_model_is_loaded(path, monkeypatch):
    model, predict, rows = fitted(out_of_fold=3), NativeForest.predict, []

    def counted(forest, table, **options):
        rows.append(len(table))
        return predict(forest, table, **options)

    monkeypatch.setattr(NativeForest, "predict", counted)
    loaded = epiboost.load(forged(path, model))
    assert set(rows) == {0}
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("count", [0, 65_536, 10**9])
def test_a_number_of_columns_that_no_model_has_is_refused(path, count):
    with pytest.raises(ModelFileError, match="the number of columns must be from 1 to 65535"):
        epiboost.load(forged(path, fitted(), put("n_features", value=count)))


HARMLESS = {
    "lightgbm": (b"feature_names=Column_0", b"feature_names=Column_9", "names that LightGBM gives"),
    "xgboost": (b"reg:squarederror", b"reg:squaredERROR", "no objective of its own"),
    "catboost": (b"FlabuffersModel_v1", b"FlabuffersModel_v2", "of the format FlabuffersModel_v1"),
}


@pytest.mark.parametrize("engine", HARMLESS)
def test_a_model_of_a_library_is_checked_before_the_library_reads_it(path, engine):
    old, new, fault = HARMLESS[engine]

    def alter(models):
        content = models.tobytes()
        assert old in content
        return np.frombuffer(content.replace(old, new), dtype=np.uint8)

    with pytest.raises(ModelFileError, match=fault):
        epiboost.load(forged(path, library_fitted(engine), change("models", alter)))


@pytest.mark.parametrize("engine", HARMLESS)
def test_codes_of_a_library_s_model_must_be_those_of_the_columns(path, engine):
    with pytest.raises(ModelFileError, match="as many categories as the trees have codes"):
        epiboost.load(forged(path, library_fitted(engine), put("forest", "sizes", value=[0, 0, 2**40])))


def test_sizes_of_models_that_overflow_are_refused(path):
    sizes = change("model_sizes", with_value(0, 2**63 - 1))
    with pytest.raises(ModelFileError, match="model_sizes must add up"):
        epiboost.load(forged(path, library_fitted("xgboost"), sizes))


FOREST_FORGERIES = {
    "a cycle": (change("left", with_value(0, 0)), "one node"),
    "a child of two nodes": (change("right", lambda a: np.where(a == a[0], 1, a)), "one node"),
    "a child that is no node": (change("left", with_value(0, 10**6)), "children must be nodes"),
    "a root twice": (change("roots", lambda a: np.repeat(a[:, :1], a.shape[1], axis=1)), "one node"),
    "a negative root": (change("roots", with_value((0, 0), -1)), "children must be nodes"),
    "another depth": (put("forest", "depth", value=10**9), "levels, the header says 1000000000"),
}


@pytest.mark.parametrize("forgery", FOREST_FORGERIES)
def test_trees_of_a_random_forest_that_are_no_trees_are_refused(path, forest_model, forgery):
    forge, fault = FOREST_FORGERIES[forgery]
    with pytest.raises(ModelFileError, match=fault):
        epiboost.load(forged(path, forest_model, forge))


@pytest.fixture(scope="module")
def forest_model():
    """Return a small random forest."""
    model = epiboost.EpiBoostRegressor(engine="forest", ensemble="sgb", n_members=2, n_estimators=3, random_state=0)
    return model.fit(X, X[:, 0] > 0)
