"""Regression of several targets: one ensemble per target."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import epiboost
from epiboost import EpiBoostRegressor, MultiTargetRegressor


def quick(**parameters):
    """Return an estimator that trains fast."""
    return MultiTargetRegressor(EpiBoostRegressor(n_members=5, n_estimators=20, random_state=3, **parameters))


@pytest.fixture(scope="module")
def table():
    """Return a table with two targets of different size."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (200, 3))
    return X, np.stack([X[:, 0], 100.0 * X[:, 1] ** 2], axis=1) + random.normal(scale=0.1, size=(200, 2))


@pytest.fixture(scope="module")
def model(table):
    """Return a model of both targets."""
    return quick().fit(*table)


def test_each_target_is_predicted_by_the_model_of_its_own_column(table, model):
    X, y = table
    for k, own in enumerate(model.models_):
        alone = clone(own).fit(X, y[:, k])
        assert (alone.predict(X) == model.predict(X)[:, k]).all()


def test_predictions_have_one_column_per_target(table, model):
    X, _ = table
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == (200, 2)
    assert model.predict_interval(X).shape == (200, 2, 2)
    assert model.predict_interval(X, [0.5, 0.9]).shape == (200, 2, 2, 2)
    assert model.predict_quantile(X, [0.1, 0.5, 0.9]).shape == (200, 2, 3)
    assert model.oof_prediction_.shape == (200, 2)
    first, second = model.predict_uncertainty(X)
    assert second.total.mean() > 100 * first.total.mean()


def test_members_of_different_targets_do_not_share_their_seeds(model):
    assert len({one.random_state for one in model.models_}) == 2


def test_the_same_seed_gives_the_same_bits(table, model):
    again = quick().fit(*table)
    assert (again.predict(table[0]) == model.predict(table[0])).all()


def test_names_of_a_frame_name_the_targets(table):
    pandas = pytest.importorskip("pandas")
    X, y = table
    model = quick().fit(X, pandas.DataFrame(y, columns=["height", "width"]))
    assert model.target_names_ == ("height", "width")
    posteriors = model.predict_posterior(X[:4])
    assert (posteriors["width"].mean == posteriors[1].mean).all()
    with pytest.raises(KeyError, match="there are height, width"):
        posteriors["depth"]


def test_a_saved_model_predicts_the_same(table, model, tmp_path):
    model.save(tmp_path / "model.epib")
    loaded = epiboost.load(tmp_path / "model.epib")
    assert (loaded.predict(table[0]) == model.predict(table[0])).all()
    assert loaded.target_names_ == model.target_names_


def test_evaluation_rows_have_all_targets(table):
    X, y = table
    model = quick(out_of_fold=0).fit(X, y, eval_set=(X[:50], y[:50]))
    assert all(one.evaluation_loss_.shape == (5, 20) for one in model.models_)


def test_weight_zero_is_as_no_row(table):
    X, y = table
    weight = np.r_[np.ones(150), np.zeros(50)]
    weighted, short = quick().fit(X, y, weight), quick().fit(X[:150], y[:150])
    assert (weighted.predict(X) == short.predict(X)).all()


@pytest.mark.parametrize(("y", "fault"), [
    (np.zeros(200), r"shape \(n, targets\), got \(200,\); EpiBoostRegressor is for one"),
    (np.full((200, 2), np.nan), "NaN"),
    (np.empty((200, 0)), "0 feature|one column per target"),
    (None, "y is None"),
])  # fmt: skip
def test_impossible_targets_are_refused(table, y, fault):
    with pytest.raises(ValueError, match=fault):
        quick().fit(table[0], y)


def test_errors_name_the_target_that_is_at_fault(table):
    pandas = pytest.importorskip("pandas")
    X, y = table
    named = pandas.DataFrame({"height": np.exp(y[:, 0]), "width": y[:, 1] - 200.0})
    with pytest.raises(ValueError, match=r"the model of width: distribution='gamma' is for .*; y holds -"):
        quick(distribution="gamma").fit(X, named)
    with pytest.raises(ValueError, match=r"y of width: Input y contains NaN"):
        quick().fit(X, named.assign(width=np.nan))
    with pytest.raises(ValueError, match=r"eval_set of target 1: .* NaN"):
        quick().fit(X, y, eval_set=(X, np.where([False, True], np.nan, y)))


def test_evaluation_rows_of_another_number_of_targets_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="as many targets as y, 2; got 1"):
        quick().fit(X, y, eval_set=(X, y[:, :1]))


def test_an_estimator_of_another_kind_is_refused(table):
    with pytest.raises(ValueError, match="must be an EpiBoostRegressor"):
        MultiTargetRegressor(epiboost.EpiBoostClassifier()).fit(*table)


def test_a_regressor_of_one_target_names_the_one_of_several(table):
    with pytest.raises(
        ValueError, match=r"shape \(200, 2\) instead; for several targets there is MultiTargetRegressor"
    ):
        EpiBoostRegressor().fit(*table)


@parametrize_with_checks([quick()])
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)
