"""Feature importances: they find the columns that matter, and scikit-learn's selectors work with them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, RFECV, SelectFromModel

import epiboost
from tests.support.models import every_estimator, small_classifier, small_estimator, small_regressor

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 5))
Y = {"regressor": 2 * X[:, 1] - X[:, 3], "classifier": np.digitize(2 * X[:, 1] - X[:, 3], [-1.0, 1.0])}

pytestmark = pytest.mark.filterwarnings("ignore::epiboost.NumbersAsTextWarning")  # categories that are numerals


@every_estimator
def test_they_sum_to_one_and_find_the_columns_that_matter(estimator):
    importances = small_estimator(estimator).fit(X, Y[estimator]).feature_importances_
    assert importances.shape == (5,)
    assert importances.sum() == pytest.approx(1.0)
    assert np.argsort(-importances)[:2].tolist() == [1, 3]
    assert importances[[0, 2, 4]].sum() < 0.15


@every_estimator
@pytest.mark.parametrize("size", [{"max_leaves": 6}, {"ensemble": "virtual"}, {"ensemble": "single"}])
def test_every_ensemble_and_tree_has_them(estimator, size):
    importances = small_estimator(estimator, **size).fit(X, Y[estimator]).feature_importances_
    assert np.argmax(importances) == 1


@every_estimator
def test_selectors_of_scikit_learn_keep_the_columns_that_matter(estimator):
    model = small_estimator(estimator, n_estimators=10, out_of_fold=0)
    assert RFE(model, n_features_to_select=2).fit(X, Y[estimator]).get_support(indices=True).tolist() == [1, 3]
    assert {1, 3} <= set(RFECV(model, cv=2).fit(X, Y[estimator]).get_support(indices=True))
    assert SelectFromModel(model).fit(X, Y[estimator]).get_support(indices=True).tolist() == [1, 3]


def test_loaded_and_calibrated_models_have_the_same(tmp_path):
    model = small_regressor().fit(X, Y["regressor"])
    model.save(tmp_path / "model.epib")
    loaded = epiboost.load(tmp_path / "model.epib")
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    calibrated = model.calibrate(X[:40], Y["regressor"][:40])
    np.testing.assert_array_equal(calibrated.feature_importances_, model.feature_importances_)


def test_encoded_columns_and_crosses_count_for_the_columns_of_the_table():
    random = np.random.default_rng(1)
    a, b = random.integers(0, 20, size=(2, 2000))
    frame = pd.DataFrame({"noise": random.normal(size=2000), "a": a.astype(str), "b": b.astype(str)})
    y = random.normal(size=(20, 20))[a, b] + 0.1 * random.normal(size=2000)
    model = small_regressor(out_of_fold=0).fit(frame, y)
    assert any(len(columns) > 1 for columns in model.forest_.encoding.sources)
    noise, first, second = model.feature_importances_
    assert noise < 0.1
    assert min(first, second) > 0.3


def test_a_model_without_splits_has_importances_of_zero():
    model = small_regressor().fit(np.zeros((50, 3)), np.zeros(50))
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(3))


def test_they_need_training_rows_and_say_so():
    with pytest.raises(NotFittedError):
        small_classifier().feature_importances_  # noqa: B018 (a property)
    forgetful = small_regressor(reference_rows=0).fit(X, Y["regressor"])
    assert not hasattr(forgetful, "feature_importances_")
    with pytest.raises(AttributeError, match=r"reference_rows=0.*permutation_importance"):
        forgetful.feature_importances_  # noqa: B018 (a property)


@pytest.mark.parametrize("engine", ["catboost", "lightgbm", "xgboost"])
def test_gains_of_a_library_are_those_of_the_columns_of_the_table(engine):
    """CatBoost puts categories behind the numbers."""
    pytest.importorskip(engine)
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"town": random.choice(["a", "b"], 200), "size": random.normal(size=200), "noise": 0.0})
    model = small_regressor(engine=engine, n_estimators=5, out_of_fold=0).fit(frame, 5.0 * (frame["town"] == "a"))
    assert np.argmax(model.feature_importances_) == 0
