"""Prediction equals a plain sum of leaf values, on every instruction set and for every shape of forest."""

from dataclasses import replace

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor

MEMBERS, TREES, ROWS = 2, 37, 300


def forest_of(depth, classes, leaves=None):
    rng = np.random.default_rng(leaves or depth)
    X = rng.normal(size=(ROWS, 5))
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X) @ [1.0, -2.0, 0.5, 0.0, 1.0] + np.nan_to_num(X[:, 0] * X[:, 1])
    estimator = EpiBoostClassifier if classes else EpiBoostRegressor
    y = np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes)) if classes else 1e3 * signal
    model = estimator(
        n_members=MEMBERS, n_estimators=TREES, max_depth=depth, max_leaves=leaves, random_state=0, n_jobs=1
    )
    return model.fit(X, y).forest_, X


def raw_scores(forest, X, trees):
    """Return raw scores: the sum of leaf values, each shrunk by every later tree."""
    bins = forest.bins.transform(X)
    scores = np.zeros((MEMBERS, len(X), forest.leaf.shape[3]))
    for member in range(MEMBERS):
        for tree in range(trees):
            above = bins[:, forest.feature[member, tree]] > forest.threshold[member, tree]
            if forest.parent.size:
                leaf = follow(forest.parent[member, tree], above)
            else:
                leaf = above @ (1 << np.arange(above.shape[1]))
            scores[member] = forest.decay * scores[member] + forest.leaf[member, tree, leaf]
    return scores + forest.objective.start


def follow(parent, above):
    """Return the leaf of each row in a leaf-wise tree."""
    leaf = np.zeros(len(above), dtype=int)
    for split, divided in enumerate(parent):
        leaf[(leaf == divided) & above[:, split]] = split + 1
    return leaf


SIZES = [*((depth, None) for depth in range(1, 9)), (None, 2), (None, 40), (5, 255)]


@pytest.mark.parametrize("classes", [0, 2, 3, 4, 7])
@pytest.mark.parametrize(("depth", "leaves"), SIZES)
@pytest.mark.usefixtures("core")
def test_parameters_follow_from_the_sum_of_leaf_values(depth, leaves, classes):
    forest, X = forest_of(depth, classes, leaves)
    for prefixes in (None, (5, 16, 17, TREES)):
        parameters = forest.predict(X, prefixes=prefixes)
        for i, trees in enumerate(prefixes or (TREES,)):
            scores = raw_scores(forest, X, trees)
            predicted = parameters[i :: len(prefixes or (TREES,))]
            if classes == 0:
                location, scale = forest.objective.units
                np.testing.assert_allclose(
                    predicted[..., 0], location + scale * scores[..., 0], rtol=1e-5, atol=1e-6 * scale
                )
                np.testing.assert_allclose(predicted[..., 1], (scale * np.exp(scores[..., 1])) ** 2, rtol=1e-5)
            else:
                if classes == 2:
                    scores = np.concatenate([np.zeros_like(scores), scores], axis=2)
                odds = np.exp(scores - scores.max(axis=2, keepdims=True))
                np.testing.assert_allclose(predicted, odds / odds.sum(axis=2, keepdims=True), atol=1e-6)


@pytest.mark.parametrize("classes", [0, 2, 5])
@pytest.mark.parametrize(("depth", "leaves"), [(2, None), (6, None), (7, None), (None, 3), (None, 255)])
@pytest.mark.usefixtures("core")
def test_a_row_has_the_same_bits_alone_and_in_a_table(depth, leaves, classes):
    forest, X = forest_of(depth, classes, leaves)
    expected = forest.predict(X)
    for rows in (slice(0, 1), slice(7, 10), slice(64, 133), slice(299, 300)):
        np.testing.assert_array_equal(forest.predict(X[rows]), expected[:, rows])


def large_table(X, rows, rng):
    """Return rows like those of a table, in any order, with ties and missing values."""
    return X[rng.integers(len(X), size=rows)] + rng.choice([0.0, 0.1, 5.0], size=(rows, X.shape[1]))


@pytest.mark.parametrize("classes", [0, 2, 5])
@pytest.mark.parametrize(("depth", "leaves"), SIZES)
@pytest.mark.usefixtures("core")
def test_rows_of_a_large_table_have_the_bits_of_a_small_one(depth, leaves, classes):
    """Trees are merged for the strips of large tables, whose rows are evaluated in another order."""
    forest, X = forest_of(depth, classes, leaves)
    table = large_table(X, 5003, np.random.default_rng(1))
    small = [forest.predict(table[first : first + 500], prefixes=(5, TREES)) for first in range(0, len(table), 500)]
    for threads in (1, 3):
        predicted = replace(forest, n_jobs=threads).predict(table, prefixes=(5, TREES))
        np.testing.assert_array_equal(predicted, np.concatenate(small, axis=1))


@pytest.mark.usefixtures("core")
class TestLargeTables:
    @pytest.fixture(params=[(6, None), (8, None), (None, 40)], ids=["depth 6", "depth 8", "leaf-wise"])
    def forest(self, request):
        return forest_of(request.param[0], 0, request.param[1])[0]

    @pytest.mark.parametrize("order", ["C", "F"])
    def test_more_rows_than_are_ordered_at_once(self, forest, order):
        table = np.asarray(np.random.default_rng(2).normal(size=(140_000, 5)), order=order)
        predicted = forest.predict(table)
        for rows in (slice(0, 300), slice(131_000, 131_300), slice(139_800, 140_000)):
            np.testing.assert_array_equal(predicted[:, rows], forest.predict(table[rows]))

    def test_equal_rows(self, forest):
        """All rows are on the same side of every condition, so that no level is left."""
        table = np.full((4000, 5), 0.3)
        np.testing.assert_array_equal(forest.predict(table), np.repeat(forest.predict(table[:1]), 4000, axis=1))

    def test_rows_that_differ_in_one_column(self, forest):
        table = np.zeros((6000, 5))
        table[:, 1] = np.random.default_rng(3).permutation(6000) / 1000 - 3
        predicted = forest.predict(table)
        np.testing.assert_array_equal(
            predicted[:, ::37], np.concatenate([forest.predict(row[np.newaxis]) for row in table[::37]], axis=1)
        )

    def test_missing_values_only(self, forest):
        table = np.full((3000, 5), np.nan)
        table[::2, 0] = 1.0
        np.testing.assert_array_equal(forest.predict(table)[:, :2], forest.predict(table[:2]))

    def test_trees_without_splits(self):
        """A constant target has trees that compare no column."""
        model = EpiBoostRegressor(n_members=2, n_estimators=5, out_of_fold=0, random_state=0)
        forest = model.fit(np.zeros((20, 2)), np.arange(20.0)).forest_
        table = np.random.default_rng(0).normal(size=(3000, 2))
        np.testing.assert_array_equal(forest.predict(table)[:, :1], forest.predict(table[:1]))


@pytest.mark.parametrize("rows", [1, 3, 300])
@pytest.mark.usefixtures("core")
def test_scores_that_overflow_stay_with_their_member(rows):
    forest, X = forest_of(3, 0)
    leaf = forest.leaf.copy()
    leaf[0] = 3e38
    broken = replace(forest, leaf=leaf, _predictors={})
    predicted = broken.predict(X[:rows], prefixes=(5, TREES))
    assert not np.isfinite(predicted[:2]).all()
    np.testing.assert_array_equal(predicted[2:], forest.predict(X[:rows], prefixes=(5, TREES))[2:])
