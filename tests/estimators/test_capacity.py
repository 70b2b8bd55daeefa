"""An estimator chooses the size of its trees, and what the user gives stays."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import TimeSeriesSplit

import epiboost
from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.capacity import Capacity, TreeSize
from epiboost._estimators import capacity
from epiboost._estimators.out_of_fold.options import OutOfFoldOptions, plan_for
from epiboost._estimators.out_of_fold.tree_size import ShortChains
from epiboost._estimators.training_rows import GivenRows
from tests.support.compare import assert_same_trees

AUTO = {"n_members": 5, "n_jobs": 2, "random_state": 0}


def additive(n=300, seed=0):
    """Return a table whose columns act alone: trees need not be deep."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 8))
    return X, np.sin(4 * X).sum(axis=1) + 0.05 * rng.normal(size=n)


def interacting(n=1500, seed=0):
    """Return a table in which five columns act together: shallow trees see nothing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 5))
    return X, np.sign(X).prod(axis=1) + 0.1 * rng.normal(size=n)


def short_chains(X, y, **options):
    """Return the short chains of a regressor."""
    model = EpiBoostRegressor(**{**AUTO, **options})
    engine = model._checked_engine()
    rows = model._read_rows(GivenRows(X, y), engine)
    plan = plan_for(
        OutOfFoldOptions(model.out_of_fold, keep=False, groups=None, kept=rows.kept), model._recipe(), rows.data
    )
    return ShortChains(engine, rows.data, model._recipe(), 0, plan)


def test_trees_are_small_where_columns_act_alone_and_deep_where_they_act_together():
    shallow = EpiBoostRegressor(**AUTO).fit(*additive())
    deep = EpiBoostRegressor(**AUTO).fit(*interacting())
    assert shallow.capacity_.max_depth <= 4
    assert deep.capacity_.max_depth >= 6
    assert deep.oof_score_ > 0.4


def test_a_classifier_of_noise_has_few_trees():
    X, _ = additive()
    labels = np.random.default_rng(1).integers(0, 2, len(X))
    model = EpiBoostClassifier(**AUTO).fit(X, labels)
    assert model.capacity_.n_estimators < 600


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ({"n_estimators": 20}, (20, 0.3)),
        ({"n_estimators": 20, "learning_rate": 0.05}, (20, 0.05)),
        ({"n_estimators": 20, "max_depth": 3}, (20, 0.3, 3, None)),
        ({"n_estimators": 20, "max_leaves": 9}, (20, 0.3, None, 9)),
        ({"n_estimators": 20, "max_leaves": 9, "max_depth": 4}, (20, 0.3, 4, 9)),
    ],
)
def test_values_that_are_given_are_used(given, used):
    capacity = EpiBoostRegressor(**AUTO, **given).fit(*additive()).capacity_
    fields = (capacity.n_estimators, capacity.learning_rate, capacity.max_depth, capacity.max_leaves)
    assert fields[: len(used)] == used


def nested(n=6000, columns=6, depth=8, seed=0):
    """Return a table whose target is a random tree, each leaf with thresholds of its own."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, columns))
    leaf = np.zeros(n, dtype=int)
    for _ in range(depth):
        column, threshold = rng.integers(columns, size=leaf.max() + 1), rng.uniform(0.3, 0.7, size=leaf.max() + 1)
        leaf = 2 * leaf + (X[np.arange(n), column[leaf]] > threshold[leaf])
    return X, rng.normal(size=leaf.max() + 1)[leaf]


def test_a_large_table_of_thresholds_that_interact_has_leafwise_trees():
    model = EpiBoostRegressor(n_members=5, n_estimators=3, random_state=0).fit(*nested())
    assert model.capacity_ == Capacity(3, 0.3, None, 64)
    assert model.forest_.parent.shape[2] == 63


def test_symmetric_trees_are_kept_where_leaves_are_none_or_columns_too_many(monkeypatch):
    options = {"n_members": 5, "n_estimators": 3, "random_state": 0}
    assert EpiBoostRegressor(max_leaves=None, **options).fit(*nested()).capacity_.max_leaves is None
    monkeypatch.setattr(capacity, "_MAX_WIDTH", 11)
    assert EpiBoostRegressor(**options).fit(*nested()).capacity_.max_leaves is None


@pytest.mark.parametrize("n", [300, 3000])
def test_weight_two_is_the_row_twice(n):
    X, y = nested(n)
    options = {"n_members": 5, "n_estimators": 5, "random_state": 0}
    weighted = EpiBoostRegressor(**options).fit(X, y, sample_weight=np.full(n, 2.0))
    repeated = EpiBoostRegressor(**options).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert weighted.capacity_ == repeated.capacity_
    assert_same_trees(weighted, repeated)


def test_expected_losses_have_the_same_bits_in_any_order_of_rows():
    X, y = nested(500)
    order = np.random.default_rng(3).permutation(len(y))
    first, second = (
        short_chains(X[rows], y[rows])._expected_losses(TreeSize(4), (50, 150)) for rows in (slice(None), order)
    )
    np.testing.assert_array_equal(first, second)


def test_a_single_model_gains_nothing_by_averaging():
    chains = short_chains(*nested(300), ensemble="single", n_members=10, out_of_fold=4)
    many = replace(chains, recipe=replace(chains.recipe, ensemble="sglb"))
    assert chains._gain_factor == 0.0
    assert many._gain_factor == pytest.approx(1.8)


def test_the_chain_that_sees_most_rows_decides_where_rows_are_many():
    X, y = nested(5200)
    chains = short_chains(X, y, out_of_fold=TimeSeriesSplit(5))
    assert chains._folds == [4]


def test_a_virtual_ensemble_of_many_members_keeps_its_trees():
    X, _ = additive()
    labels = np.random.default_rng(1).integers(0, 2, len(X))
    model = EpiBoostClassifier(ensemble="virtual", n_members=100, out_of_fold=4, random_state=0).fit(X, labels)
    assert model.capacity_.n_estimators == 600


def test_the_choice_does_not_depend_on_the_order_of_rows_or_on_threads():
    X, y = interacting(400)
    order = np.random.default_rng(2).permutation(len(y))
    one = EpiBoostRegressor(n_members=5, n_estimators=10, n_jobs=1, random_state=0).fit(X, y)
    other = EpiBoostRegressor(n_members=5, n_estimators=10, n_jobs=3, random_state=0).fit(X[order], y[order])
    assert one.capacity_ == other.capacity_
    assert_same_trees(one, other)


def test_the_capacity_is_saved(tmp_path):
    X, y = additive()
    model = EpiBoostRegressor(n_members=5, n_estimators=20, max_leaves=12, random_state=0).fit(X, y)
    model.save(tmp_path / "model.epib")
    loaded = epiboost.load(tmp_path / "model.epib")
    assert loaded.capacity_ == model.capacity_
    assert_same_trees(loaded, model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_leafwise_trees_of_other_engines(engine):
    pytest.importorskip(engine)
    X, y = additive(400)
    options = {"ensemble": "single", "engine": engine, "n_estimators": 30, "random_state": 0}
    few, many = (EpiBoostRegressor(max_leaves=leaves, **options).fit(X, y).predict(X) for leaves in (2, 60))
    assert np.mean((many - y) ** 2) < np.mean((few - y) ** 2)


@pytest.mark.parametrize("engine", ["catboost", "forest"])
def test_engines_without_leafwise_trees_refuse_them(engine):
    pytest.importorskip("catboost" if engine == "catboost" else "sklearn")
    model = EpiBoostRegressor(ensemble="single", engine=engine, max_leaves=9)
    with pytest.raises(ValueError, match="does not support max_leaves=9; leave it at its default, 'auto'"):
        model.fit(*additive(50))
