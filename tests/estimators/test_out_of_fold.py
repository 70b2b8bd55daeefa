"""Out-of-fold chains of an estimator: what they predict, when they are trained, and what they leave unchanged."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import KFold

from epiboost._binning.bins import BinnedTable, Bins
from epiboost._boosting.out_of_fold import out_of_fold_plan
from epiboost._boosting.recipe import draw_seed
from epiboost._estimators.conformal import temper
from epiboost._estimators.out_of_fold.categorical import fit_temperature_above_one
from epiboost._estimators.training_rows import GivenRows
from epiboost.engines.native.engine import NativeEngine
from tests.support.cities import city_target, draw
from tests.support.compare import assert_same_trees, parameters_of
from tests.support.models import every_task
from tests.support.out_of_fold import ATTRIBUTES, SIZE, N, X, Y, fitted, is_predicted, model_of
from tests.support.tables import regression_table, target_for, with_missing

STAGES = tuple(range(2, 21, 2))  # tree counts among which a classifier chooses
every_table = pytest.mark.parametrize("table", ["numbers", "categories"])


def table_of(kind, task):
    """Return a table and its target."""
    if kind == "numbers":
        return with_missing(X), target_for(task, Y)
    frame, y = draw(n=240, known=12)
    return frame, city_target(task, y)


def ignore(_done, _total, /):
    """Report no progress."""


def forests_by_hand(model, table, target):
    """Yield the forest of each fold, trained on the rows of the other folds alone, with the rows of its fold."""
    data = model._read_rows(GivenRows(table, target), model._checked_engine()).data
    plan = out_of_fold_plan(4, data.X, data.y, n_classes=data.n_classes)
    rows = data
    if not data.n_codes:
        bins = Bins.fit(data.X, data.weight, 255)
        rows = replace(data, X=BinnedTable(bins, bins.transform(data.X)))
    specs = model._recipe().out_of_fold_specs(draw_seed(model.random_state), len(plan.tests))
    for spec, train, test in zip(specs, plan.trains, plan.tests, strict=True):
        yield NativeEngine(n_jobs=1).fit(rows.take(train), (spec,), ignore), data.X[test], test


# What chains predict


@every_task
@every_table
def test_each_row_is_predicted_by_a_model_that_is_trained_without_its_fold(task, table):
    given = table_of(table, task)
    model = model_of(task).fit(*given)
    assert is_predicted(model).all()
    for forest, rows, test in forests_by_hand(model, *given):
        if task == "regression":
            expected = forest.predict(rows)[0, :, 0]
        else:
            chosen = forest.predict(rows, prefixes=STAGES)[STAGES.index(model.n_iter_[0])]
            expected = temper(chosen[np.newaxis], model.out_of_fold_.recalibration.temperature)[0]
        np.testing.assert_array_equal(model.oof_prediction_[test], expected)


@every_task
@every_table
@pytest.mark.parametrize("ensemble", ["sglb", "sgb", "single", "virtual"])
def test_members_are_the_same_bits_with_and_without_out_of_fold_chains(task, table, ensemble):
    given = table_of(table, task)
    one, other = (model_of(task, ensemble=ensemble, out_of_fold=folds).fit(*given) for folds in (0, 3))
    assert_same_trees(one, other)
    assert other.out_of_fold_ is not None
    np.testing.assert_array_equal(one.forest_.predict(one.schema_.transform(given[0])),
                                  other.forest_.predict(other.schema_.transform(given[0])))  # fmt: skip


@every_task
def test_predictions_of_rows_do_not_depend_on_their_order(task):
    order = np.random.default_rng(1).permutation(N)
    one, other = fitted(task), model_of(task).fit(X[order], target_for(task, Y)[order])
    np.testing.assert_array_equal(other.oof_prediction_, one.oof_prediction_[order])
    np.testing.assert_array_equal(parameters_of(other, X), parameters_of(one, X))
    assert (one.oof_score_, one.oof_loss_) == (other.oof_score_, other.oof_loss_)


@every_task
def test_a_row_of_weight_two_is_the_row_twice(task):
    weight, y = np.random.default_rng(1).integers(1, 4, size=N), target_for(task, Y)
    copies = np.repeat(np.arange(N), weight)
    one = model_of(task, keep_folds=True).fit(X, y, sample_weight=weight)
    other = model_of(task, keep_folds=True).fit(X[copies], y[copies])
    np.testing.assert_array_equal(other.oof_prediction_, one.oof_prediction_[copies])
    assert len(one.out_of_fold_.scores) == len(other.out_of_fold_.scores) == len(copies)
    np.testing.assert_array_equal(parameters_of(other, X), parameters_of(one, X))
    predict = "predict_interval" if task == "regression" else "predict_set"
    for guarantee in (False, True):
        found, expected = (getattr(model, predict)(X, 0.9, guarantee=guarantee) for model in (one, other))
        np.testing.assert_array_equal(found, expected)


@every_task
def test_rows_of_weight_zero_are_not_predicted_and_do_not_move_the_others(task):
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.0], size=N)
    kept, y = weight > 0, target_for(task, Y)
    model = model_of(task).fit(X, y, sample_weight=weight)
    alone = model_of(task).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert np.array_equal(is_predicted(model), kept)
    np.testing.assert_array_equal(model.oof_prediction_[kept], alone.oof_prediction_)
    assert model.oof_loss_ == alone.oof_loss_


@pytest.mark.parametrize("weighted", [False, True])
def test_score_and_loss_of_a_regression_are_those_of_its_predictions(weighted):
    weight = np.random.default_rng(1).uniform(0.5, 3.0, size=N) if weighted else None
    model = model_of("regression").fit(X, Y, sample_weight=weight)
    assert model.oof_score_ == pytest.approx(r2_score(Y, model.oof_prediction_, sample_weight=weight))
    variance = model.out_of_fold_.predicted[:, 1]
    loss = 0.5 * (np.log(2 * np.pi * variance) + (Y - model.oof_prediction_) ** 2 / variance)
    assert model.oof_loss_ == pytest.approx(np.average(loss, weights=weight))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_score_and_loss_of_a_classifier_are_those_of_its_predictions(task, weighted):
    weight = np.random.default_rng(1).uniform(0.5, 3.0, size=N) if weighted else None
    y = target_for(task, Y)
    model = model_of(task).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.oof_prediction_.sum(axis=1), 1.0)
    labels = model.classes_[model.oof_prediction_.argmax(axis=1)]
    assert model.oof_score_ == pytest.approx(accuracy_score(y, labels, sample_weight=weight))
    assert model.oof_loss_ == pytest.approx(log_loss(y, model.oof_prediction_, sample_weight=weight))


@every_task
def test_the_score_is_that_of_new_rows_and_not_that_of_the_training_rows(task):
    new_X, new_y = regression_table(2000, noise=0.5, seed=1)
    borders = np.quantile(Y, [0.5] if task == "binary" else [0.3, 0.6])
    new_target = new_y if task == "regression" else np.digitize(new_y, borders)
    model = fitted(task, n_estimators=60, learning_rate=0.3)
    assert model.oof_score_ == pytest.approx(model.score(new_X, new_target), abs=0.06)
    assert model.oof_score_ < model.score(X, target_for(task, Y)) - 0.03


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_a_classifier_uses_the_number_of_trees_of_the_least_out_of_fold_loss(task):
    y = np.random.default_rng(1).permutation(target_for(task, Y))  # noise: more trees are no better
    model = model_of(task, learning_rate=0.5).fit(X, y)
    probabilities = np.empty((len(STAGES), N, len(model.classes_)))
    for forest, rows, test in forests_by_hand(model, X, y):
        probabilities[:, test] = forest.predict(rows, prefixes=STAGES)
    losses = [fit_temperature_above_one(stage, y, np.ones(N))[1] for stage in probabilities]
    assert model.prefixes_ == (STAGES[np.argmin(losses)],)
    assert (model.n_iter_ == model.prefixes_[0]).all()
    assert model.n_iter_.max() < 20
    assert model.oof_loss_ == pytest.approx(min(losses))


def test_a_number_of_trees_is_chosen_even_where_it_is_below_ten():
    assert model_of("binary", n_estimators=3).fit(X, target_for("binary", Y)).n_iter_.max() <= 3


# When chains are trained


AUTOMATIC = {
    "five members": ({}, N, True),
    "sgb": ({"ensemble": "sgb"}, N, True),
    "four members": ({"n_members": 4}, N, False),
    "single": ({"ensemble": "single", "n_members": 10}, N, False),
    "virtual": ({"ensemble": "virtual", "n_members": 10}, N, False),
    "forty rows": ({}, 40, True),
    "thirty-nine rows": ({}, 39, False),
}


@pytest.mark.parametrize("case", AUTOMATIC)
@every_task
def test_auto_trains_chains_for_five_members_and_forty_rows(task, case):
    changes, n_rows, expected = AUTOMATIC[case]
    model = model_of(task, **changes).fit(X[:n_rows], target_for(task, Y[:n_rows]))
    assert (model.out_of_fold_ is not None) == expected


@every_task
def test_auto_trains_no_chains_for_fewer_distinct_rows_than_folds(task):
    few = np.arange(N) % 3
    model = model_of(task).fit(X[few], target_for(task, Y[few]))
    assert model.out_of_fold_ is None


def test_auto_trains_no_chains_if_most_classes_are_rare():
    y = np.where(np.arange(60) < 39, 0, np.arange(60))
    assert model_of("multiclass").fit(X[:60], y).out_of_fold_ is None


@every_task
@pytest.mark.parametrize("ensemble", ["single", "virtual", "sglb"])
def test_a_number_of_folds_trains_chains_for_any_ensemble_and_few_rows(task, ensemble):
    model = model_of(task, ensemble=ensemble, out_of_fold=3).fit(X[:30], target_for(task, Y[:30]))
    assert is_predicted(model).all()
    assert np.isfinite([model.oof_score_, model.oof_loss_]).all()


def without_chains():
    return fitted("binary", out_of_fold=0), fitted("regression", out_of_fold=0)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_without_chains_the_attributes_say_how_to_get_them(name):
    for model in without_chains():
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match="trained without out-of-fold chains; set out_of_fold to a number"):
            getattr(model, name)


def test_sets_and_guarantees_need_chains_and_a_fit():
    classifier, regressor = without_chains()
    with pytest.raises(AttributeError, match="set out_of_fold to a number of folds"):
        classifier.predict_set(X)
    with pytest.raises(AttributeError, match="set out_of_fold to a number of folds"):
        regressor.predict_interval(X, guarantee=True)
    with pytest.raises(NotFittedError):
        model_of("binary").predict_set(X)
    with pytest.raises(NotFittedError):
        model_of("regression").predict_interval(X, guarantee=True)


@every_task
def test_a_fit_without_chains_forgets_those_of_an_earlier_fit(task):
    model = fitted(task)
    y = target_for(task, Y)
    refitted = model.set_params(out_of_fold=0).fit(X, y)
    assert not hasattr(refitted, "oof_score_")
    np.testing.assert_array_equal(parameters_of(refitted, X), parameters_of(fitted(task, out_of_fold=0), X))


def test_a_fit_that_fails_forgets_the_chains_of_an_earlier_fit():
    model = fitted("regression")
    with pytest.raises(ValueError, match="got 2"):
        model.set_params(out_of_fold=2).fit(X, Y)
    assert not any(hasattr(model, name) for name in (*ATTRIBUTES, "forest_"))


# Copies


@every_task
@every_table
def test_a_pickled_model_has_the_same_chains(task, table):
    X_given, y = table_of(table, task)
    model = model_of(task, keep_folds=True).fit(X_given, y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 (our own)
    np.testing.assert_array_equal(parameters_of(again, X_given), parameters_of(model, X_given))
    np.testing.assert_array_equal(again.oof_prediction_, model.oof_prediction_)
    method = "predict_interval" if task == "regression" else "predict_set"
    for guarantee in (False, True):
        one, other = (getattr(each, method)(X_given, 0.8, guarantee=guarantee) for each in (model, again))
        np.testing.assert_array_equal(one, other)


def test_a_clone_has_the_same_folds_and_is_not_fitted():
    model = fitted("regression", out_of_fold=KFold(3, shuffle=True, random_state=7), keep_folds=True)
    copy = clone(model)
    assert copy.out_of_fold_ is None
    assert copy.keep_folds
    np.testing.assert_array_equal(copy.fit(X, Y).oof_prediction_, model.oof_prediction_)


def test_other_seeds_give_other_chains_on_the_same_folds():
    one, other = (fitted("regression", random_state=seed) for seed in (0, 1))
    assert SIZE["n_members"] == len(one.forest_.count)
    assert (one.oof_prediction_ != other.oof_prediction_).mean() > 0.9
