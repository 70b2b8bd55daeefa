"""The variance guard for libraries that take our gradients: leave-one-out residuals."""

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.rows import learning_rows
from epiboost._boosting.step_sizes import step_sizes
from epiboost._boosting.variance_guard import (
    LEAVE_ONE_OUT_FACTOR,
    GuardedObjective,
    leaves_of,
    neighbour_weight,
    with_variance_guard,
)
from epiboost._inputs.dataset import Dataset

X = np.arange(12.0)[:, np.newaxis]
Y = np.random.default_rng(0).normal(size=12)


def chain(estimator=EpiBoostRegressor, y=Y, family="normal", **params):
    task = (0, family) if estimator is EpiBoostRegressor else (2, "bernoulli")
    rows = learning_rows(Dataset(X, y, np.ones(12), *task))
    spec = estimator(n_members=1, n_estimators=5, learning_rate=0.1, max_depth=6, **params)._recipe().specs(0)[0]
    return LangevinObjective(rows, step_sizes(spec, rows.objective, rows.total), spec)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_rows_that_move_by_the_same_amount_share_a_leaf(kind):
    rng = np.random.default_rng(1)
    before = rng.normal(size=500).astype(kind)
    leaf = rng.integers(8, size=500)
    found = leaves_of((before + rng.normal(size=8)[leaf]).astype(kind), before)
    assert len(np.unique(found)) == len(np.unique(found + 8 * leaf)) == 8


@pytest.mark.parametrize("family", ["normal", "lognormal", "laplace", "gamma", "weibull"])
def test_the_deviation_is_learned_from_leave_one_out_residuals(family):
    plain = chain(y=np.exp(Y) if family in {"lognormal", "gamma", "weibull"} else Y, family=family)
    objective = plain.rows.objective
    guarded = GuardedObjective(plain)
    leaf = (plain.rows.X[:, 0] > 5).astype(int)
    raw, left_out = np.zeros((12, 2)), np.zeros(12)
    for tree in range(4):
        gradient, hessian = guarded.gradients(raw, tree)
        decay, rate, l2 = plain.steps.decay, plain.steps.rate, plain.steps.l2
        unguarded, _ = plain.gradients(raw, tree)
        np.testing.assert_allclose(gradient[:, 0], unguarded[:, 0])
        expected, _ = plain.gradients(raw, tree, LEAVE_ONE_OUT_FACTOR * decay**tree * (raw[:, 0] - left_out))
        np.testing.assert_allclose(gradient, expected, rtol=1e-9)
        assert tree == 0 or (gradient[:, 1] != unguarded[:, 1]).any()
        sums = np.array([gradient[leaf == side, 0].sum() for side in (0, 1)])[leaf]
        own = objective.gradient(objective.start + decay**tree * raw, plain.rows.y)[:, 0]
        noiseless = decay ** -(tree + 1) * own
        left_out = left_out - rate * (sums - noiseless) / (np.bincount(leaf)[leaf] - 1 + l2)
        values = -rate * np.array([
            gradient[leaf == side].sum(axis=0) / (hessian[leaf == side].sum(axis=0) + l2) for side in (0, 1)
        ])  # fmt: skip
        raw = raw + values[leaf]


def test_without_a_guard_gradients_are_plain():
    assert isinstance(with_variance_guard(chain()), GuardedObjective)
    assert isinstance(with_variance_guard(chain(variance_guard=0.0)), LangevinObjective)
    assert isinstance(with_variance_guard(chain(EpiBoostClassifier, (Y > 0).astype(float))), LangevinObjective)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_the_guard_keeps_the_spread_of_a_small_table(library):
    pytest.importorskip(library)
    rng = np.random.default_rng(0)
    table = rng.uniform(-2, 2, size=(600, 3))
    y = table[:, 0] + rng.normal(scale=0.5, size=600)
    settings = {"engine": library, "n_members": 2, "n_estimators": 150, "random_state": 0, "n_jobs": 1}
    with_guard, without = (
        EpiBoostRegressor(variance_guard=guard, **settings).fit(table, y).predict_uncertainty(table).data.mean() / 0.25
        for guard in (1.0, 0.0)
    )
    assert without < 0.3
    assert 0.6 < with_guard < 2


@pytest.mark.parametrize("n", [300, 4000])
@pytest.mark.parametrize("engine", ["native", "lightgbm", "xgboost"])
def test_the_variance_of_counts_over_discrete_columns_is_near_the_truth(engine, n):
    if engine != "native":
        pytest.importorskip(engine)
    random = np.random.default_rng(0)
    table = random.integers(0, 3, size=(n, 2)).astype(float)
    rate = np.exp(0.5 * table[:, 0] - 0.3 * table[:, 1])
    counts = random.poisson(rate).astype(float)
    size = {"n_members": 2, "n_estimators": 200, "learning_rate": 0.1, "max_depth": 6}
    model = EpiBoostRegressor(engine=engine, random_state=0, **size).fit(table, counts)
    assert 0.8 < (model.predict_uncertainty(table).data / rate).mean() < 1.3


def test_neighbours_are_rows_in_the_same_bins_and_all_but_one_copy_of_the_row():
    table = np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan], [2.0, -0.0], [2.0, 1.0]])
    weight = np.array([3.0, 1.0, 0.5, 1.0, 7.0])
    np.testing.assert_array_equal(neighbour_weight(table, weight, 255), [2.5, 1.0, 3.0, 1.0, 6.0])
    np.testing.assert_array_equal(neighbour_weight(np.arange(4.0)[:, np.newaxis], np.ones(4), 2), np.ones(4))
    np.testing.assert_array_equal(neighbour_weight(np.empty((2, 0)), np.ones(2), 255), [0.0, 0.0])


def test_coarse_bins_do_not_raise_the_variance():
    pytest.importorskip("xgboost")
    random = np.random.default_rng(0)
    table = random.uniform(-2, 2, size=(1000, 1))
    y = table[:, 0] + random.normal(scale=0.5, size=1000)
    size = {"engine": "xgboost", "n_members": 2, "n_estimators": 200, "learning_rate": 0.1, "max_bins": 16}
    model = EpiBoostRegressor(random_state=0, n_jobs=1, **size).fit(table, y)
    assert 0.8 < model.predict_uncertainty(table).data.mean() / 0.25 < 1.5
