"""Out-of-fold chains for every input of `fit`: frames, groups, splitters, evaluation rows, Dask and other engines."""

import importlib.util

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, TimeSeriesSplit

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from tests.support.compare import assert_same_trees, parameters_of
from tests.support.engines import LIBRARIES, capabilities_of, supported
from tests.support.models import every_task
from tests.support.out_of_fold import SIZE, N, X, Y, fitted, is_predicted, model_of
from tests.support.tables import regression_table, target_for

GROUPS = np.arange(N) // 10


# Frames


@every_task
def test_a_frame_gives_the_same_chains_as_an_array(task):
    pd = pytest.importorskip("pandas")
    index = np.arange(N)[::-1] * 3
    frame, y = pd.DataFrame(X, columns=list("abc"), index=index), pd.Series(target_for(task, Y), index=index)
    weight = pd.Series(np.arange(N) % 3, index=index)
    model = model_of(task).fit(frame, y, sample_weight=weight)
    array_model = model_of(task).fit(X, target_for(task, Y), sample_weight=weight.to_numpy())
    np.testing.assert_array_equal(model.oof_prediction_, array_model.oof_prediction_)
    np.testing.assert_array_equal(is_predicted(model), np.arange(N) % 3 > 0)
    np.testing.assert_array_equal(parameters_of(model, frame), parameters_of(array_model, X))


def test_groups_may_be_text_of_a_frame():
    pd = pytest.importorskip("pandas")
    names = pd.Series([f"patient {group:03d}" for group in GROUPS])
    one, other = (model_of("regression").fit(X, Y, groups=groups) for groups in (names, GROUPS))
    np.testing.assert_array_equal(one.oof_prediction_, other.oof_prediction_)


# Groups


@every_task
def test_copies_in_one_group_are_not_seen_by_the_chain_that_predicts_them(task):
    rows = np.repeat(np.arange(20), 10)  # noise that a chain could learn from another row of the group only
    X_noise = np.random.default_rng(0).normal(size=(20, 3))[rows] + 1e-3 * X
    y = np.random.default_rng(1).permutation(np.arange(20) % 2 * 1.0)[rows]
    y = y if task == "regression" else y.astype(int)
    alone = model_of(task).fit(X_noise, y)
    grouped = model_of(task).fit(X_noise, y, groups=rows)
    assert alone.oof_score_ > 0.8
    assert grouped.oof_score_ < 0.7


@every_task
def test_groups_of_rows_of_weight_zero_are_no_groups(task):
    weight = np.where(GROUPS < 5, 0.0, 1.0)
    model = model_of(task).fit(X, target_for(task, Y), sample_weight=weight, groups=GROUPS)
    np.testing.assert_array_equal(is_predicted(model), weight > 0)
    weight = np.where(GROUPS < 18, 0.0, 1.0)
    with pytest.raises(ValueError, match="out_of_fold=4 needs at least 4 groups; got 2"):
        model_of(task, out_of_fold=4).fit(X, target_for(task, Y), sample_weight=weight, groups=GROUPS)


def test_groups_of_another_length_are_refused():
    with pytest.raises(ValueError, match="groups must have one entry per row, 200; got 199"):
        model_of("regression").fit(X, Y, groups=GROUPS[1:])


def test_auto_trains_no_chains_for_fewer_groups_than_folds():
    assert model_of("regression").fit(X, Y, groups=GROUPS % 3).out_of_fold_ is None


def test_a_class_in_two_groups_alone_is_learned():
    y = np.where(GROUPS < 2, 2, (Y > 0).astype(int))
    for folds in (3, 4, 5):
        model = model_of("multiclass", out_of_fold=folds).fit(X, y, groups=GROUPS)
        assert is_predicted(model).all()
        assert np.isfinite([model.oof_loss_, model.out_of_fold_.recalibration.knowledge]).all()


# Splitters


@every_task
def test_the_first_rows_of_a_time_series_are_not_predicted(task):
    model = fitted(task, out_of_fold=TimeSeriesSplit(4), keep_folds=True)
    np.testing.assert_array_equal(is_predicted(model), np.arange(N) >= 40)
    assert np.isfinite(parameters_of(model, X)).all()
    assert model.out_of_fold_.chains.n_scores == 160


@pytest.mark.parametrize("pairs", [list, iter], ids=["list", "iterator"])
def test_pairs_are_the_folds_of_a_splitter(pairs):
    one = fitted("regression", out_of_fold=KFold(4, shuffle=True, random_state=0))
    other = fitted("regression", out_of_fold=pairs(list(KFold(4, shuffle=True, random_state=0).split(X))))
    np.testing.assert_array_equal(one.oof_prediction_, other.oof_prediction_)


def test_a_splitter_gets_groups_and_the_rows_of_weight_zero():
    weight = np.where(np.arange(N) % 7 == 3, 0.0, 1.0)
    one = model_of("regression", out_of_fold=GroupKFold(4)).fit(X, Y, sample_weight=weight, groups=GROUPS)
    fold = np.empty(N, dtype=int)
    for number, (_, test) in enumerate(GroupKFold(4).split(X, Y, GROUPS)):
        fold[test] = number
    other = model_of("regression", out_of_fold=PredefinedSplit(fold)).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(one.oof_prediction_, other.oof_prediction_)
    np.testing.assert_array_equal(is_predicted(one), weight > 0)


@every_task
def test_copies_of_a_row_in_different_folds_are_predicted_by_different_chains(task):
    copies = np.arange(N) % 50
    model = model_of(task, out_of_fold=KFold(4)).fit(X[copies], target_for(task, Y)[copies])
    predicted = model.oof_prediction_.reshape(4, 50, -1)
    assert is_predicted(model).all()
    assert (predicted[1:] != predicted[0]).mean() > 0.9


@every_task
def test_knowledge_of_a_virtual_ensemble_keeps_its_size(task):
    model = fitted(task, ensemble="virtual", out_of_fold=4)
    assert model.out_of_fold_.recalibration.knowledge == pytest.approx(1.0)


@every_task
def test_two_folds_keep_the_size_of_knowledge_as_they_cannot_measure_it(task):
    model = fitted(task, out_of_fold=KFold(2))
    assert is_predicted(model).all()
    assert model.out_of_fold_.recalibration.knowledge == pytest.approx(1.0)


# Evaluation rows


@every_task
def test_evaluation_rows_stop_the_ensemble_and_change_no_members(task):
    y = target_for(task, Y)
    changes = {"early_stopping_rounds": 3, "learning_rate": 0.5, "n_estimators": 40}
    evaluation = (X[150:], y[150:])
    one, other = (
        model_of(task, out_of_fold=folds, **changes).fit(X[:150], y[:150], eval_set=evaluation) for folds in (0, 4)
    )
    assert_same_trees(one, other)
    assert one.n_iter_.max() < 40
    np.testing.assert_array_equal(one.n_iter_, other.n_iter_)
    np.testing.assert_array_equal(one.evaluation_loss_, other.evaluation_loss_)
    assert is_predicted(other).all()


def test_an_ensemble_that_stopped_early_uses_no_later_trees(path):
    X_new, y_new = regression_table(60, noise=0.8, seed=1)
    changes = {"early_stopping_rounds": 5, "learning_rate": 0.5, "n_estimators": 40, "out_of_fold": 3}
    model = model_of("binary", **changes).fit(X, target_for("binary", Y), eval_set=(X_new, (y_new > 0).astype(int)))
    assert model.prefixes_ == (model.n_iter_[0],)
    assert model.n_iter_[0] < model.forest_.n_trees[0]
    model.save(path)
    loaded = type(model).load(path)
    np.testing.assert_array_equal(parameters_of(loaded, X), parameters_of(model, X))
    np.testing.assert_array_equal(loaded.history_.validation_loss, model.history_.validation_loss)
    assert repr(loaded.history_) == repr(model.history_)


# Dask


@every_task
def test_a_dask_array_gives_chains_and_the_members_of_memory(task):
    da = pytest.importorskip("dask.array")
    y = target_for(task, Y)
    lazy = da.from_array(X, chunks=(70, 3)), da.from_array(y, chunks=70)
    model = model_of(task, keep_folds=True).fit(*lazy)
    assert_same_trees(model, fitted(task))
    assert is_predicted(model).all()
    assert model.oof_score_ > 0.5
    method = model.predict_interval if task == "regression" else model.predict_set
    for guarantee in (False, True):
        interval = method(lazy[0], [0.5, 0.9], guarantee=guarantee)
        np.testing.assert_array_equal(interval.compute(), method(X, [0.5, 0.9], guarantee=guarantee))


def test_rows_of_weight_zero_of_a_dask_array_are_not_predicted():
    da = pytest.importorskip("dask.array")
    weight = np.arange(N) % 3.0
    lazy = da.from_array(X, chunks=(70, 3)), da.from_array(Y, chunks=70)
    model = model_of("regression").fit(*lazy, sample_weight=weight)
    np.testing.assert_array_equal(is_predicted(model), weight > 0)
    assert np.corrcoef(model.oof_prediction_[weight > 0], Y[weight > 0])[0, 1] > 0.7
    splits = model_of("regression", out_of_fold=TimeSeriesSplit(4)).fit(*lazy, sample_weight=weight)
    np.testing.assert_array_equal(is_predicted(splits), (weight > 0) & (np.arange(N) >= 40))


def test_groups_of_a_dask_array_are_refused():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="groups are for tables in memory"):
        model_of("regression").fit(da.from_array(X), da.from_array(Y), groups=GROUPS)


def test_rows_that_stay_on_workers_have_no_chains():
    da = pytest.importorskip("dask.array")
    pytest.importorskip("xgboost")
    lazy = da.from_array(X, chunks=(70, 3)), da.from_array(Y, chunks=70)
    with pytest.raises(ValueError, match="out_of_fold needs the rows in memory"):
        EpiBoostRegressor(engine="xgboost", n_members=5, n_estimators=5, out_of_fold=4).fit(*lazy)


# Other engines


@pytest.fixture(params=[*LIBRARIES, "forest"])
def engine(request):
    """The name of an engine that is not the native one."""
    if request.param in LIBRARIES and importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


def model_by(engine, estimator, **changes):
    """Return a small model of another engine, which is not fitted."""
    settings = {**supported(engine, SIZE), "ensemble": capabilities_of(engine).ensembles[0], "n_jobs": 1}
    return estimator(engine=engine, random_state=0, **{**settings, **changes})


def test_other_engines_have_chains_for_a_regression(engine):
    model = model_by(engine, EpiBoostRegressor).fit(X, Y)
    assert is_predicted(model).all()
    assert 0.3 < model.oof_score_ < model.score(X, Y)
    assert (model.out_of_fold_.recalibration is None) == (model.forest_.family == "mean") == np.isnan(model.oof_loss_)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_other_engines_have_chains_for_classes(engine, task):
    y = target_for(task, Y)
    model = model_by(engine, EpiBoostClassifier, keep_folds=True).fit(X, y)
    assert is_predicted(model).all()
    assert 0.5 < model.oof_score_ <= model.score(X, y)
    assert np.isfinite(model.oof_loss_)
    assert model.predict_set(X, guarantee=True).shape == (N, len(model.classes_))


def test_a_random_forest_uses_all_trees():
    model = model_by("forest", EpiBoostClassifier).fit(X, target_for("binary", Y))
    assert model.prefixes_ is None
    assert (model.n_iter_ == SIZE["n_estimators"]).all()


def test_members_that_predict_a_mean_alone_keep_no_chains():
    with pytest.raises(ValueError, match="keep_folds=True is for members that predict a distribution"):
        model_by("forest", EpiBoostRegressor, keep_folds=True).fit(X, Y)
