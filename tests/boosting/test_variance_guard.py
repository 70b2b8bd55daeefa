"""The variance guard of libraries that take our gradients: residuals without the row's own pull."""

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.rows import learning_rows
from epiboost._boosting.step_sizes import steps_of
from epiboost._boosting.variance_guard import HONEST_PULLS, GuardedObjective, gradients_of, leaves_of
from epiboost._inputs.table import Dataset

X = np.arange(12.0)[:, np.newaxis]
Y = np.random.default_rng(0).normal(size=12)


def chain(estimator=EpiBoostRegressor, y=Y, **params):
    n_classes = 0 if estimator is EpiBoostRegressor else 2
    rows = learning_rows(Dataset(X, y, np.ones(12), n_classes, None, ()))
    spec = estimator(n_members=1, n_estimators=5, **params)._recipe().specs(0)[0]
    return LangevinObjective(rows, steps_of(spec, rows.objective, rows.total), spec)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_rows_that_moved_alike_share_a_leaf(kind):
    rng = np.random.default_rng(1)
    before = rng.normal(size=500).astype(kind)
    leaf = rng.integers(8, size=500)
    found = leaves_of((before + rng.normal(size=8)[leaf]).astype(kind), before)
    assert len(np.unique(found)) == len(np.unique(found + 8 * leaf)) == 8


def test_the_spread_is_learned_from_what_a_row_is_without_its_own_pull():
    own = chain()
    guarded = GuardedObjective(own)
    leaf = (own.rows.X[:, 0] > 5).astype(int)
    raw, honest = np.zeros((12, 2)), np.zeros(12)
    for tree in range(4):
        gradient, hessian = guarded.gradients(raw, tree)
        decay = own.steps.decay
        pull = decay**tree * (raw[:, 0] - honest)
        plain, _ = own.gradients(raw, tree)
        np.testing.assert_allclose(gradient[:, 0], plain[:, 0])
        expected, _ = own.gradients(raw, tree, HONEST_PULLS * pull)
        np.testing.assert_allclose(gradient, expected, rtol=1e-9)
        assert tree == 0 or (gradient[:, 1] != plain[:, 1]).any()
        sums = np.array([gradient[leaf == side, 0].sum() for side in (0, 1)])[leaf]
        sizes = np.bincount(leaf)[leaf]
        noiseless = decay ** -(tree + 1) * (decay**tree * raw[:, 0] - own.rows.y)
        honest = honest - own.steps.rate * (sums - noiseless) / (sizes - 1 + own.steps.l2)
        values = -own.steps.rate * np.array([
            gradient[leaf == side].sum(axis=0) / (hessian[leaf == side].sum(axis=0) + own.steps.l2) for side in (0, 1)
        ])  # fmt: skip
        raw = raw + values[leaf]


def test_what_is_not_guarded_has_plain_gradients():
    assert isinstance(gradients_of(chain()), GuardedObjective)
    assert isinstance(gradients_of(chain(variance_guard=0.0)), LangevinObjective)
    assert isinstance(gradients_of(chain(EpiBoostClassifier, (Y > 0).astype(float))), LangevinObjective)


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
