"""Continued training: the same bits as all trees at once on the same rows, and what holds on other rows."""

import copy

import numpy as np
import pandas as pd
import pytest

from epiboost import load
from tests.support.compare import parameters_of
from tests.support.models import every_ensemble, every_estimator, small_estimator, small_regressor

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 3))
Y = X[:, 0] + RANDOM.normal(scale=0.3, size=120)
TARGETS = {"regressor": Y, "classifier": np.digitize(Y, [-0.5, 0.5])}
FRAME = pd.DataFrame({"size": X[:, 1], "town": np.array(["a", "b", "c", "d"])[np.digitize(X[:, 0], [-1, 0, 1])]})
CHAINS = {"n_members": 3, "learning_rate": 0.2, "max_depth": 3}
FOLDS = {**CHAINS, "out_of_fold": 3, "keep_folds": True}


def clone_with(model, **changes):
    """Return a shallow copy of a fitted model with other parameters."""
    return copy.copy(model).set_params(**changes)


def continued(name, table, *, first=7, trees=12, **options):
    """Return a small model that was trained in two steps."""
    model = small_estimator(name, **options, n_estimators=first, warm_start=True).fit(table, TARGETS[name])
    return model.set_params(n_estimators=trees).fit(table, TARGETS[name])


@every_ensemble
@every_estimator
@pytest.mark.parametrize("shape", [{"max_depth": 3}, {"max_depth": None, "max_leaves": 5}], ids=["depth", "leaves"])
def test_a_continued_model_has_the_bits_of_one_trained_at_once(estimator, ensemble, shape):
    options = {**FOLDS, **shape, "ensemble": ensemble}
    at_once = small_estimator(estimator, **options, n_estimators=12).fit(X, TARGETS[estimator])
    model = continued(estimator, X, **options)
    np.testing.assert_array_equal(parameters_of(model, X), parameters_of(at_once, X))
    np.testing.assert_array_equal(model.oof_prediction_, at_once.oof_prediction_)
    assert model.capacity_ == at_once.capacity_
    assert model.n_iter_.tolist() == at_once.n_iter_.tolist()


@every_estimator
def test_a_model_of_categories_is_continued_with_the_same_bits(estimator):
    at_once = small_estimator(estimator, **FOLDS, n_estimators=12).fit(FRAME, TARGETS[estimator])
    model = continued(estimator, FRAME, **FOLDS)
    np.testing.assert_array_equal(parameters_of(model, FRAME), parameters_of(at_once, FRAME))


def test_noise_goes_on_where_it_was_without_a_seed_and_after_loading(tmp_path):
    model = small_regressor(**CHAINS, n_estimators=7, random_state=None, warm_start=True).fit(X, Y)
    model.save(tmp_path / "model.epiboost")
    longer = model.set_params(n_estimators=12).fit(X, Y)
    loaded = load(tmp_path / "model.epiboost").set_params(n_estimators=12).fit(X, Y)
    np.testing.assert_array_equal(parameters_of(loaded, X), parameters_of(longer, X))
    by_steps = continued("regressor", X, **CHAINS, first=2, trees=7).set_params(n_estimators=12).fit(X[::-1], Y[::-1])
    at_once = small_regressor(**CHAINS, n_estimators=12).fit(X, Y)
    np.testing.assert_array_equal(parameters_of(by_steps, X), parameters_of(at_once, X))


def test_the_capacity_of_the_first_training_is_continued():
    model = small_regressor(n_members=5, n_estimators=100, warm_start=True).fit(X, Y)
    capacity = model.capacity_
    model.set_params(n_estimators=110).fit(X, Y)
    assert (model.capacity_.n_estimators, model.capacity_.learning_rate) == (110, capacity.learning_rate)
    assert model.capacity_.max_depth == capacity.max_depth


def test_the_loss_on_evaluation_rows_is_that_of_all_trees():
    model = small_regressor(**CHAINS, n_estimators=7, warm_start=True).fit(X, Y)
    model.set_params(n_estimators=12).fit(X, Y, eval_set=(X, Y))
    at_once = small_regressor(**CHAINS, n_estimators=12).fit(X, Y, eval_set=(X, Y))
    np.testing.assert_array_equal(model.evaluation_loss_, at_once.evaluation_loss_)


@every_estimator
@pytest.mark.parametrize("table", [X, FRAME], ids=["numbers", "categories"])
def test_on_other_rows_the_earlier_trees_and_bins_stay(estimator, table):
    y = TARGETS[estimator]
    model = small_estimator(estimator, **FOLDS, n_estimators=7, warm_start=True).fit(table[:90], y[:90])
    forest, known = model.forest_, model.schema_.ranges
    with pytest.warns(UserWarning, match="X, y or sample_weight are not those of the training before"):
        model.set_params(n_estimators=12).fit(table[60:], y[60:])
    np.testing.assert_array_equal(model.forest_.leaf[:, :7], forest.leaf)
    np.testing.assert_array_equal(model.forest_.bins.borders, forest.bins.borders)
    assert model.forest_.decay == forest.decay
    assert model.forest_.objective == forest.objective
    assert model.out_of_fold_ is None
    assert (model.schema_.ranges.low[:1] <= known.low[:1]).all()
    assert np.isfinite(parameters_of(model, table)).all()


def test_trees_that_are_added_learn_from_the_other_rows():
    shifted = Y + 3.0
    model = small_regressor(**CHAINS, out_of_fold=0, n_estimators=20, warm_start=True).fit(X, Y)
    model.set_params(n_estimators=80).fit(X, shifted)
    assert np.abs(model.predict(X) - shifted).mean() < 0.5


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"n_estimators": 6}, r"continues chains of 7 trees; n_estimators must be .* say 107; got 6"),
        ({"n_estimators": "auto"}, "n_estimators must be a whole number of at least that"),
        ({"n_estimators": 9, "max_depth": 4}, "warm_start continues with max_depth=3; got 4"),
        ({"n_estimators": 9, "learning_rate": 0.3}, "warm_start continues with learning_rate=0.2; got 0.3"),
        ({"n_estimators": 9, "n_members": 4}, "warm_start continues 3 chains; ensemble and n_members ask for 4"),
        ({"n_estimators": 9, "engine": "lightgbm"}, "engine='lightgbm' cannot continue training"),
    ],
)
def test_what_cannot_be_continued_is_refused_and_the_model_stays(changes, fault):
    if "engine" in changes:
        pytest.importorskip("lightgbm")
    model = small_regressor(**CHAINS, n_estimators=7, warm_start=True).fit(X, Y)
    expected = parameters_of(model, X)
    with pytest.raises(ValueError, match=fault):
        model.set_params(**changes).fit(X, Y)
    np.testing.assert_array_equal(parameters_of(model, X), expected)


def test_unknown_labels_and_columns_are_refused_when_training_continues():
    model = small_estimator("classifier", **CHAINS, n_estimators=7, warm_start=True).fit(X, TARGETS["classifier"])
    with pytest.raises(ValueError, match="y holds 3, which is none of the classes"):
        model.set_params(n_estimators=9).fit(X, TARGETS["classifier"] + 1)
    model = small_regressor(**CHAINS, n_estimators=7, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="X has 2 features, but EpiBoostRegressor is expecting 3"):
        model.set_params(n_estimators=9).fit(X[:, :2], Y)
    assert model.n_iter_.tolist() == [7, 7, 7]  # it stays as it was


def test_early_stopping_is_refused_when_training_continues():
    model = small_regressor(**CHAINS, n_estimators=7, warm_start=True).fit(X, Y)
    for options in ({"early_stopping_rounds": 3}, {"validation_fraction": 0.2}, {"early_stopping": True}):
        with pytest.raises(ValueError, match="leave early_stopping_rounds and validation_fraction at None"):
            clone_with(model, n_estimators=9, **options).fit(X, Y)


def test_a_model_that_was_stopped_early_is_continued_behind_its_last_tree():
    model = small_regressor(n_members=5, n_estimators=200, early_stopping=True, warm_start=True).fit(X, Y)
    n_trees = int(model.forest_.n_trees.max())
    assert n_trees < 200
    before = model.forest_.leaf
    model.set_params(n_estimators=n_trees + 5, early_stopping=False).fit(X, Y)
    np.testing.assert_array_equal(model.forest_.leaf[:, :n_trees], before)
    assert model.forest_.n_trees.tolist() == [n_trees + 5] * 5


def test_callbacks_and_the_history_see_the_continued_trees():
    seen = []
    model = small_regressor(**FOLDS, n_estimators=7, warm_start=True).fit(X, Y)
    model.set_params(n_estimators=25).fit(X, Y, eval_set=(X, Y), callbacks=[seen.append])
    assert seen[-1].n_trees == 25
    assert model.history_.n_trees[-1] == 25


def test_a_dask_collection_cannot_be_continued():
    arrays = pytest.importorskip("dask.array")
    model = small_regressor(**CHAINS, n_estimators=7, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="warm_start continues on tables in memory"):
        model.set_params(n_estimators=9).fit(arrays.from_array(X), Y)


@pytest.mark.parametrize(
    "change",
    [{"max_bins": 31}, {"l2": 1.0}, {"temperature": 2.0}, {"ensemble": "sgb"}, {"monotonic_constraints": [1, 0, 0]}],
    ids=lambda change: next(iter(change)),
)
def test_other_parameters_of_trees_are_refused_when_training_continues(change):
    model = small_regressor(**CHAINS, n_estimators=7, warm_start=True).fit(X, Y)
    name = next(iter(change))
    with pytest.raises(ValueError, match=f"warm_start continues with {name}="):
        model.set_params(n_estimators=9, **change).fit(X, Y)
    assert model.n_iter_.tolist() == [7, 7, 7]


def test_rows_that_were_held_out_are_other_rows():
    model = small_regressor(**FOLDS, n_estimators=9, warm_start=True, validation_fraction=0.2).fit(X, Y)
    model.set_params(n_estimators=12, validation_fraction=None)
    with pytest.warns(UserWarning, match="are not those of the training before"):
        model.fit(X, Y)
