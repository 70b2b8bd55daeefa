"""Rows that outweigh the rest of the table: many copies of one row, or one large weight."""

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._binning.bins import Bins
from epiboost._boosting.out_of_fold import has_counts_of_targets, out_of_fold_plan

N, NOISE = 500, 0.1
PLACES = {"among the others": [0.0, 0.0, 0.0], "far away": [9.0, 9.0, 9.0]}


def table():
    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, size=(N, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + NOISE * random.normal(size=N)


@pytest.mark.parametrize("size", [{}, {"max_leaves": 16}], ids=["symmetric", "leaf-wise"])
@pytest.mark.parametrize("weight", [2e5, 1e6, 1e9])
@pytest.mark.parametrize("place", PLACES)
def test_a_heavy_row_leaves_the_others_their_mean_and_variance(place, weight, size):
    X, y = table()
    weights = np.append(np.ones(N), weight)
    model = EpiBoostRegressor(n_members=5, random_state=0, **size)
    model.fit(np.vstack([X, PLACES[place]]), np.append(y, 0.0), sample_weight=weights)
    other = np.random.default_rng(1).uniform(-2, 2, size=(N, 3))
    truth = np.sin(2 * other[:, 0]) + other[:, 1]
    assert np.sqrt(np.mean((model.predict(other) - truth) ** 2)) < 2 * NOISE
    assert 0.5 * NOISE < np.sqrt(np.median(model.predict_uncertainty(other).data)) < 2 * NOISE
    assert model.predict([PLACES[place]]) == pytest.approx(0.0, abs=0.01)


def test_many_copies_of_a_row_are_one_heavy_row():
    X, y = table()
    rows = np.append(np.arange(N), np.zeros(20_000, dtype=int))
    copied = EpiBoostRegressor(n_members=5, n_estimators=50, random_state=0).fit(X[rows], y[rows])
    weight = np.append(20_001.0, np.ones(N - 1))
    weighted = EpiBoostRegressor(n_members=5, n_estimators=50, random_state=0).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(copied.predict_posterior(X).parameters, weighted.predict_posterior(X).parameters)


def test_a_heavy_value_has_a_bin_of_its_own_and_the_others_keep_theirs():
    values = np.arange(1000.0)[:, np.newaxis]
    weight = np.ones(1000)
    weight[[200, 700]] = 1e6
    borders = Bins.fit(values, weight, 255).borders
    codes = Bins.fit(values, weight, 255).transform(values).ravel()
    assert (np.bincount(codes)[codes[[200, 700]]] == 1).all()
    assert len(borders) == 254
    assert np.bincount(codes)[1:].max() <= 5


def test_the_ends_of_a_column_of_many_rows_have_finer_bins():
    sizes = [
        np.bincount(Bins.fit(X, np.ones(len(X)), 255).transform(X).ravel())[1:] for X in map(column, (20_000, 1000))
    ]
    assert [len(one) for one in sizes] == [255, 255]
    for ends in (sizes[0][:5], sizes[0][::-1][:5]):
        np.testing.assert_allclose(ends, [10, 10, 20, 40, 80], atol=1)
    assert sizes[1].min() >= 3  # parts of a bin would have no rows to learn from


def column(n):
    return np.random.default_rng(0).normal(size=(n, 1))


def test_a_jump_at_the_end_of_a_column_is_found():
    random = np.random.default_rng(0)
    X = random.uniform(size=(20_000, 2))
    last = np.argsort(X[:, 0])[-40:]
    y = 0.1 * random.normal(size=20_000)
    y[last] += 5.0
    model = EpiBoostRegressor(n_members=2, n_estimators=100, learning_rate=0.1, random_state=0).fit(X, y)
    assert np.abs(model.predict(X[last]) - 5.0).mean() < 0.2


def test_values_heavier_than_a_bin_leave_no_value_without_a_bin():
    values = np.arange(300.0)[:, np.newaxis]
    weight = np.where(np.arange(300) % 2, 1.0, 50.0)  # every second value is heavy
    codes = Bins.fit(values, weight, 255).transform(values).ravel()
    assert codes.max() <= 255
    assert np.bincount(codes)[1:].max() <= 4


def test_many_heavy_values_leave_bins_to_the_end_of_a_column():
    random = np.random.default_rng(0)
    lengths = random.gamma(2, 30, size=20_000)
    minutes = np.where(random.random(20_000) < 0.9, lengths.round(), lengths)[:, np.newaxis]  # most are whole
    assert (minutes > Bins.fit(minutes, np.ones(20_000), 255).borders[-1]).sum() < 50
    tail = random.uniform(300, 400, size=5000)
    values = np.concatenate([np.repeat(np.arange(200.0), 100), np.arange(200) + 0.5, tail])[:, np.newaxis]
    assert (Bins.fit(values, np.ones(len(values)), 255).borders > 300).sum() > 40


@pytest.mark.parametrize("max_bins", [2, 3, 255])
def test_a_tiny_weight_beside_heavy_ones_makes_no_bin_too_many(max_bins):
    values = np.arange(max_bins + 1.0)[:, np.newaxis]
    weight = np.append(np.full(max_bins, 1e9), 1e-9)
    bins = Bins.fit(values, weight, max_bins)
    assert len(bins.borders) < max_bins
    assert bins.transform(values).min() == 1


@pytest.mark.parametrize(("engine", "share"), [("lightgbm", "60%"), ("catboost", "95%")])
def test_libraries_that_learn_nothing_beside_a_heavy_row_refuse_it(engine, share):
    pytest.importorskip(engine)
    X, y = table()
    model = EpiBoostRegressor(engine=engine, n_members=2, n_estimators=5, random_state=0)
    with pytest.raises(ValueError, match=f"more than {share} of the weight; got 100.0%; make it lighter"):
        model.fit(X, y, sample_weight=np.append(np.ones(N - 1), 1e6))
    model.fit(X, y, sample_weight=np.append(np.ones(N - 1), 100.0))


@pytest.mark.parametrize("weight", [1e3, 1e6, 1e9])
def test_xgboost_learns_beside_a_heavy_row(weight):
    pytest.importorskip("xgboost")
    X, y = table()
    model = EpiBoostRegressor(engine="xgboost", n_members=2, n_estimators=100, learning_rate=0.1, random_state=0)
    model.fit(X, y, sample_weight=np.append(np.ones(N - 1), weight))
    assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < 3 * NOISE
    assert 0.3 * NOISE < np.sqrt(np.median(model.predict_uncertainty(X).data)) < 3 * NOISE


@pytest.mark.parametrize("weight", [1e6, 1e9])
def test_a_heavy_row_leaves_the_others_their_variance_without_folds(weight):
    X, y = table()
    model = EpiBoostRegressor(n_members=2, out_of_fold=0, random_state=0)
    model.fit(X, y, sample_weight=np.append(np.ones(N - 1), weight))
    assert 0.5 * NOISE < np.sqrt(np.median(model.predict_uncertainty(X).data)) < 3 * NOISE


@pytest.mark.parametrize("engine", ["native", "lightgbm", "xgboost"])
def test_subsamples_draw_copies_of_a_row_one_by_one(engine):
    if engine != "native":
        pytest.importorskip(engine)
    random = np.random.default_rng(0)
    X = random.integers(0, 4, size=(2000, 2)).astype(float)
    truth = np.where(X[:, 0] >= 2, 0.9, np.where(X[:, 1] >= 2, 0.3, 0.02))
    y = (random.random(2000) < truth).astype(int)
    model = EpiBoostClassifier(engine=engine, ensemble="sgb", n_members=2, n_estimators=100, random_state=0)
    found = model.fit(X, y).predict_proba(X)[:, 1]
    assert np.abs(found - truth).max() < 0.12


def test_folds_of_a_table_that_counts_targets_are_warned_of():
    random = np.random.default_rng(0)
    X = random.integers(0, 3, size=(500, 2)).astype(float)
    y = (random.random(500) < 0.3).astype(int)
    model = EpiBoostClassifier(n_members=5, n_estimators=5, random_state=0)
    with pytest.warns(UserWarning, match="copies of a row leave together: out-of-fold chains will be wrong about it"):
        model.set_params(out_of_fold=4).fit(X, y)
    with pytest.raises(ValueError, match=r"set out_of_fold to a number of folds; the table counts"):
        model.set_params(out_of_fold="auto", keep_folds=True).fit(X, y)


def test_catboost_keeps_the_folds_that_correct_its_variance():
    pytest.importorskip("catboost")
    random = np.random.default_rng(0)
    X = random.integers(0, 3, size=(400, 2))
    rate = np.exp(0.5 * X[:, 0] - 0.3 * X[:, 1])
    y = random.poisson(rate).astype(float)
    model = EpiBoostRegressor(engine="catboost", n_members=5, n_estimators=60, categorical_features=[0, 1])
    model.set_params(random_state=0).fit(X, y)
    assert 0.6 < (model.predict_uncertainty(X).data / rate).mean() < 2.0


def test_a_row_that_weighs_more_than_half_a_fold_is_left_out_by_no_chain():
    X, y = table()
    weight = np.append(np.ones(N - 1), 80.0)
    tested = np.concatenate(out_of_fold_plan(4, X, y, n_classes=0, weight=weight).tests)
    assert sorted(tested) == list(range(N - 1))
    lighter = out_of_fold_plan(4, X, y, n_classes=0, weight=np.append(np.ones(N - 1), 60.0))
    assert len(np.concatenate(lighter.tests)) == N


def test_a_table_that_counts_targets_has_no_automatic_folds():
    random = np.random.default_rng(0)
    X = random.integers(0, 3, size=(2000, 2)).astype(float)
    y = random.poisson(np.exp(X[:, 0] - 1.0)).astype(float)
    assert has_counts_of_targets(X, y, np.ones(2000))
    assert not has_counts_of_targets(
        np.repeat(X[:, :1] + np.arange(2000.0)[:, np.newaxis], 3, axis=0), np.repeat(y, 3), np.ones(6000)
    )
    model = EpiBoostRegressor(n_members=5, n_estimators=20, random_state=0)
    assert model.fit(X, y).out_of_fold_ is None
