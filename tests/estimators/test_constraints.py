"""Constraints of the estimators hold for every member and for the mean, whatever the table."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epiboost import EpiBoostClassifier, EpiBoostRegressor, load
from epiboost._estimators.out_of_fold.categorical import CategoricalRecalibration
from tests.support.engines import SMALL

FREE = {"n_members": 2, "n_estimators": 20, "learning_rate": 0.3, "out_of_fold": 0, "n_jobs": 1, "random_state": 0}
GRID = np.concatenate([[-1e300], np.linspace(-3.5, 3.5, 43), [1e300]])


def random_table(seed, *, n=120, n_columns=3, missing=False):
    """Return a table with ties and a target that contradicts most constraints."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)).round(1)
    y = X @ rng.normal(size=n_columns) + np.sin(4 * X[:, 0]) + rng.normal(size=n)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def along(X, column):
    """Return rows that take every value of the grid in a column, shape (rows * grid, columns)."""
    rows = np.repeat(X[:12], len(GRID), axis=0)
    rows[:, column] = np.tile(GRID, 12)
    return rows


def steps_of(values, direction):
    """Return the differences along the grid, positive in the direction of the constraint."""
    return direction * np.diff(values.reshape(*values.shape[:-1], 12, len(GRID)), axis=-1)


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    directions=st.tuples(*[st.sampled_from([-1, 0, 1])] * 3),
    ensemble=st.sampled_from(["sglb", "sgb", "virtual", "bootstrap"]),
    size=st.sampled_from([{"max_depth": 1}, {"max_depth": 7}, {"max_leaves": 12, "max_depth": None}]),
    temperature=st.sampled_from([1.0, 100.0]),
    is_regression=st.booleans(),
    missing=st.booleans(),
)
def test_every_member_and_the_mean_follow_the_directions(
    seed, directions, ensemble, size, temperature, is_regression, missing
):
    X, y = random_table(seed, missing=missing)
    estimator, target = (EpiBoostRegressor, y) if is_regression else (EpiBoostClassifier, y > np.median(y))
    options = {**FREE, **size, "ensemble": ensemble, "temperature": temperature}
    model = estimator(monotonic_constraints=directions, **options).fit(X, target)
    for column in np.flatnonzero(directions):
        rows = along(X, column)
        members = model.predict_posterior(rows).parameters[:, :, 0 if is_regression else 1]
        mean = model.predict(rows) if is_regression else model.predict_proba(rows)[:, 1]
        assert steps_of(members, directions[column]).min() >= 0.0
        assert steps_of(mean, directions[column]).min() >= 0.0


@pytest.mark.parametrize("estimator", [EpiBoostRegressor, EpiBoostClassifier])
def test_recalibration_keeps_the_direction_of_the_mean(estimator):
    X, y = random_table(3, n=200)
    target = y if estimator is EpiBoostRegressor else y > np.median(y)
    options = {**FREE, "n_members": 5, "max_depth": 5, "out_of_fold": 3, "monotonic_constraints": [-1, 1, 0]}
    model = estimator(**options).fit(X, target)
    assert model.out_of_fold_.recalibration.knowledge != 1.0
    for column, direction in ((0, -1), (1, 1)):
        rows = along(X, column)
        mean = model.predict(rows) if estimator is EpiBoostRegressor else model.predict_proba(rows)[:, 1]
        assert steps_of(mean, direction).min() >= -1e-12  # rounding errors of the recalibration


def test_recalibration_of_a_constrained_classifier_never_moves_the_mean():
    members = np.array([[[1 - 1e-6, 1e-6]], [[0.4, 0.6]], [[0.9, 0.1]]])
    moved, kept = (
        CategoricalRecalibration(1.0, 50.0, *options).apply(members).mean(axis=0) for options in ((), (0.0,))
    )
    np.testing.assert_allclose(kept, members.mean(axis=0), rtol=1e-12)
    assert abs(moved - members.mean(axis=0)).max() > 1e-6
    X, y = random_table(3, n=200)
    options = {**FREE, "n_members": 5, "out_of_fold": 3, "max_depth": 3}
    for directions, error in (([-1, 1, 0], 0.0), (None, 1e-3)):
        model = EpiBoostClassifier(**options, monotonic_constraints=directions).fit(X, y > 0)
        assert model.out_of_fold_.recalibration.max_mean_error == error


def test_constraints_that_agree_with_the_table_cost_no_accuracy():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1300, 4))
    truth = 4 * X[:, 0] - 3 * X[:, 1] ** 2 + 2 * X[:, 0] * (1 - X[:, 1]) + np.sin(8 * X[:, 2])
    y = truth + rng.normal(size=1300)
    for size in ({"max_depth": 6}, {"max_leaves": 31, "max_depth": None}):
        errors = []
        for directions in (None, [1, -1, 0, 0]):
            options = {**FREE, "n_estimators": 100, **size}
            model = EpiBoostRegressor(monotonic_constraints=directions, **options).fit(X[:300], y[:300])
            errors.append(np.sqrt(np.mean((model.predict(X[300:]) - truth[300:]) ** 2)))
            assert 0.5 < np.sqrt(model.predict_uncertainty(X[300:]).data.mean()) < 2.0  # the truth is 1
        assert errors[1] < errors[0]


def test_a_constrained_column_is_part_of_no_cross():
    rng = np.random.default_rng(0)
    dose, city = rng.uniform(size=1500), rng.integers(0, 60, 1500)
    y = rng.normal(size=(60, 8))[city, (8 * dose).astype(int)]
    X = np.array([dose, np.char.add("c", city.astype(str))], dtype=object).T
    free, model = (
        EpiBoostRegressor(**FREE, max_depth=5, monotonic_constraints=one).fit(X, y) for one in (None, [1, 0])
    )
    crosses = [[one.columns for one in each.forest_.encoding.lookups if one.is_cross] for each in (free, model)]
    assert crosses == [[(0, 1)], []]
    rows = np.repeat(X[:12], 30, axis=0)
    rows[:, 0] = np.tile(np.linspace(-0.1, 1.1, 30), 12)
    members = model.predict_posterior(rows).parameters[:, :, 0].reshape(-1, 12, 30)
    assert np.diff(members, axis=2).min() >= 0.0
    assert np.diff(members, axis=2).max() > 0.0


def columns_of_paths(model):
    """Return the set of columns on the path to each leaf of the first member's trees."""
    forest = model.forest_
    for feature, threshold, parent in zip(forest.feature[0], forest.threshold[0], forest.parent[0], strict=True):
        made = feature[threshold < 255]
        if not parent.size:
            yield set(made.tolist())
            continue
        paths = {0: set()}
        for split, divided in enumerate(parent[parent < 255]):
            paths[divided] = paths[split + 1] = paths[divided] | {int(feature[split])}
        yield from paths.values()


@pytest.mark.parametrize("size", [{"max_depth": 5}, {"max_leaves": 12, "max_depth": None}])
def test_columns_of_a_path_are_of_one_set(size):
    X, y = random_table(0, n=300, n_columns=5)
    y = y + 3 * X[:, 0] * X[:, 1] * X[:, 4]
    sets = [{0, 1}, {1, 2, 3}]  # the last column is alone
    paths = list(columns_of_paths(EpiBoostRegressor(**FREE, **size, interaction_constraints=sets).fit(X, y)))
    assert all(any(path <= group for group in (*sets, {4})) for path in paths)
    assert {frozenset(path) for path in paths} >= {frozenset({0, 1}), frozenset({4})}
    paths = columns_of_paths(EpiBoostRegressor(**FREE, **size, interaction_constraints="pairwise").fit(X, y))
    assert max(map(len, paths)) == 2
    free = columns_of_paths(EpiBoostRegressor(**FREE, **size).fit(X, y))
    assert max(map(len, free)) > 3


def test_without_interactions_the_mean_is_a_sum_over_columns():
    X, y = random_table(0, n=300)
    model = EpiBoostRegressor(**FREE, max_depth=4, interaction_constraints="no_interactions").fit(
        X, y + X[:, 0] * X[:, 1]
    )
    corners = np.array([[a, b, 0.0] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    low, one, other, both = model.predict(corners)
    assert abs(low + both - one - other) < 1e-6 * np.ptp(y)


def test_crosses_are_within_one_set():
    rng = np.random.default_rng(0)
    city, plan, shop = (np.char.add(letter, rng.integers(0, 40, 900).astype(str)) for letter in "cps")
    codes = [np.unique(column, return_inverse=True)[1] for column in (city, plan)]
    y = rng.normal(size=(40, 40))[tuple(codes)]
    X = np.array([city, plan, shop], dtype=object).T
    crosses = []
    for sets in (None, [{0, 2}, {1}]):
        model = EpiBoostRegressor(**FREE, max_depth=4, interaction_constraints=sets).fit(X, y)
        lookups = model.forest_.encoding.lookups
        crosses.append({lookup.columns for lookup in lookups if lookup.is_cross})
    assert (0, 1) in crosses[0]
    assert crosses[1] <= {(0, 2)}


@pytest.mark.parametrize("size", [{"max_depth": 5}, {"max_leaves": 25, "max_depth": None}])
def test_no_leaf_has_fewer_rows_than_allowed(size):
    X, y = random_table(1, n=250)
    smallest = {}
    for least in (1, 15):
        model = EpiBoostRegressor(**FREE, **size, min_samples_leaf=least).fit(X, y)
        leaves = model.forest_.leaf_indices(X, 40)
        smallest[least] = min(np.unique(tree, return_counts=True)[1].min() for tree in leaves.T)
    assert smallest[1] < 5
    assert smallest[15] >= 15


def test_a_row_of_weight_two_counts_twice_for_the_size_of_a_leaf():
    X, y = random_table(1, n=150)
    options = {**FREE, "max_leaves": 12, "max_depth": None, "min_samples_leaf": 9}
    weighted = EpiBoostRegressor(**options).fit(X, y, sample_weight=np.full(150, 2.0))
    doubled = EpiBoostRegressor(**options).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    np.testing.assert_array_equal(weighted.predict(X), doubled.predict(X))


def test_each_tree_splits_a_share_of_the_columns():
    X, y = random_table(2, n=200, n_columns=6)
    model = EpiBoostRegressor(**{**FREE, "n_estimators": 40}, max_depth=6, max_features=0.34).fit(X, y)
    used = [set(tree.tolist()) for tree in model.forest_.feature[0]]
    assert {len(columns) for columns in used} == {2}
    assert len(set.union(*used)) == 6
    one = EpiBoostRegressor(**FREE, max_depth=4, max_features=0.01).fit(X, y)
    assert {len(set(tree.tolist())) for tree in one.forest_.feature[0]} == {1}


def test_a_model_file_keeps_the_constraints(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = random_table(0)
    frame = pandas.DataFrame(X, columns=["age", "dose", "weight"])
    given = {
        "monotonic_constraints": {"dose": 1},
        "interaction_constraints": [{"dose", "age"}, {2}],
        "min_samples_leaf": 4,
        "max_features": 0.7,
    }
    model = EpiBoostRegressor(**FREE, **given).fit(frame, y)
    model.save(tmp_path / "model.epib")
    loaded = load(tmp_path / "model.epib")
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    found = {name: loaded.get_params()[name] for name in given}
    assert found == {**given, "interaction_constraints": [["age", "dose"], [2]]}
    np.testing.assert_array_equal(loaded.fit(frame, y).predict(frame), model.predict(frame))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a whole number of at least 1 and below 2\\^31; got 0"),
        ({"min_samples_leaf": 2.5}, "min_samples_leaf must be"),
        ({"max_features": 0.0}, "max_features must be a number above 0 and at most 1; got 0.0"),
        ({"max_features": 2}, "max_features must be"),
        ({"max_features": "sqrt"}, "max_features must be"),
        ({"monotonic_constraints": [1]}, "one entry per column, 3; got 1"),
        ({"interaction_constraints": "none"}, "interaction_constraints must be"),
    ],
)
def test_wrong_parameters_are_refused(given, error):
    X, y = random_table(0)
    with pytest.raises(ValueError, match=error):
        EpiBoostRegressor(**given).fit(X, y)


def test_several_classes_have_no_direction():
    X, y = random_table(0)
    with pytest.raises(ValueError, match="for regression and for two classes; y holds 3"):
        EpiBoostClassifier(monotonic_constraints=[1, 0, 0]).fit(X, np.digitize(y, [-1, 1]))


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_libraries_keep_sets_of_columns_and_sizes_of_leaves(engine):
    pytest.importorskip(engine)
    X, y = random_table(0, n=300)
    y = y + 2 * X[:, 0] * X[:, 1]
    options = {**SMALL, "ensemble": "single", "n_members": 1, "engine": engine}
    alone = EpiBoostRegressor(**options, interaction_constraints="no_interactions").fit(X, y)
    corners = np.array([[a, b, 0.0] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    low, one, other, both = alone.predict(corners)
    assert abs(low + both - one - other) < 1e-5 * np.ptp(y)
    rough = EpiBoostRegressor(**options, min_samples_leaf=140).fit(X, y)
    assert len(np.unique(rough.predict(X))) < len(np.unique(alone.predict(X)))
    option = {"lightgbm": "feature_fraction", "xgboost": "colsample_bytree"}[engine]
    twice = EpiBoostRegressor(**options, max_features=0.5, engine_params={option: 0.7})
    with pytest.raises(ValueError, match=f"engine_params must not hold '{option}' beside the parameter"):
        twice.fit(X, y)


def test_a_random_forest_follows_directions():
    X, y = random_table(0)
    options = {
        "engine": "forest",
        "ensemble": "sgb",
        "n_members": 2,
        "n_estimators": 10,
        "random_state": 0,
        "n_jobs": 1,
    }
    model = EpiBoostRegressor(**options, monotonic_constraints=[1, -1, 0]).fit(X, y)
    for column, direction in ((0, 1), (1, -1)):
        assert steps_of(model.predict(along(X, column)), direction).min() >= -1e-12
    with pytest.raises(ValueError, match="must not hold 'monotonic_cst' beside monotonic_constraints"):
        model.set_params(engine_params={"monotonic_cst": [0, 0, 0]}).fit(X, y)


@pytest.mark.parametrize(("least", "weight", "warns"), [(31, 1.0, True), (30, 1.0, False), (31, 2.0, False)])
def test_leaves_of_more_than_half_of_the_rows_are_warned_of(least, weight, warns):
    X, y = np.arange(60.0)[:, np.newaxis], np.arange(60.0)
    model = EpiBoostRegressor(n_members=2, n_estimators=5, min_samples_leaf=least, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, sample_weight=np.full(60, weight))
    texts = [str(one.message) for one in caught if "min_samples_leaf" in str(one.message)]
    assert len(texts) == warns
    assert (np.ptp(model.predict(X)) == 0.0) == warns
    assert all("more than half of the 60 training rows" in text for text in texts)
