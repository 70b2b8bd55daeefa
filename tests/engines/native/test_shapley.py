"""Exact Shapley values of trees: they are those of the definition, for all trees, threads and instruction sets."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest

from epiboost import EpiBoostRegressor
from epiboost.engines.native.shapley import _deepest, is_exact, shapley_values

N_COLUMNS = 20
NOT_MADE = 255


def random_trees(random, n_trees, splits, *, leafwise, columns=N_COLUMNS):
    """Return feature, threshold, parent and leaf values of trees that split at random; chains of splits get deep."""
    feature = random.integers(0, columns, size=(n_trees, splits)).astype(np.uint16)
    threshold = random.integers(0, 4, size=(n_trees, splits)).astype(np.uint8)
    parent = np.empty((n_trees, 0), dtype=np.uint8)
    if leafwise:
        newest = np.arange(splits)
        other = random.integers(0, newest + 1, size=(n_trees, splits))
        parent = np.where(random.random((n_trees, splits)) < 0.7, newest, other).astype(np.uint8)
        parent[0, splits // 2 :] = NOT_MADE
    leaf = random.normal(size=(n_trees, splits + 1 if leafwise else 1 << splits))
    return feature, threshold, parent, leaf


def sum_of_trees(trees, bins):
    """Return the sum of the leaf values of one row of bins."""
    total = 0.0
    for feature, threshold, parent, leaf in zip(*trees, strict=True):
        above = bins[feature] > threshold
        if parent.size:
            at = 0
            for split, divided in enumerate(parent):
                if divided != NOT_MADE and at == divided and above[split]:
                    at = split + 1
        else:
            at = int((above << np.arange(len(above))).sum())
        total += leaf[at]
    return total


def values_by_definition(trees, row, background, player, n_players):
    """Return the Shapley values of one row by a sum over all coalitions."""

    def worth(coalition):
        known = np.isin(player, list(coalition))
        return np.mean([sum_of_trees(trees, np.where(known, row, other)) for other in background])

    worths = {}
    for size in range(n_players + 1):
        for coalition in combinations(range(n_players), size):
            worths[frozenset(coalition)] = worth(coalition)
    values = np.zeros(n_players)
    for coalition, value in worths.items():
        size = len(coalition)
        for one in set(range(n_players)) - coalition:
            weight = factorial(size) * factorial(n_players - size - 1) / factorial(n_players)
            values[one] += weight * (worths[coalition | {one}] - value)
    return values, worths[frozenset()]


def native_values(core, trees, rows, background, player, n_players, threads=1):
    values = np.empty((len(rows), n_players))
    columns = (np.ascontiguousarray(table.T) for table in (rows, background))
    return values, core.tree_shapley_values(*trees, player.astype(np.int32), *columns, threads, values)


@pytest.mark.parametrize(("splits", "leafwise"), [(1, False), (4, False), (7, True)])
def test_values_are_those_of_the_definition(core, splits, leafwise):
    random = np.random.default_rng(splits)
    trees = random_trees(random, 3, splits, leafwise=leafwise, columns=6)
    player = np.array([0, 1, 1, 2, 3, 4])
    rows, background = (random.integers(0, 6, size=(n, 6)).astype(np.uint8) for n in (3, 4))
    values, base = native_values(core, trees, rows, background, player, 5)
    for row, found in zip(rows, values, strict=True):
        expected, expected_base = values_by_definition(trees, row, background, player, 5)
        np.testing.assert_allclose(found, expected, atol=1e-13)
        assert base == pytest.approx(expected_base)


@pytest.mark.parametrize("splits", [6, 40, 120])  # paths of few, more than eight and more than twelve players
def test_leafwise_values_are_sums_over_pairs_of_rows(core, splits):
    """For one background row the definition is a sum over leaves; the mean over rows is that of the values."""
    random = np.random.default_rng(splits)
    trees = random_trees(random, 2, splits, leafwise=True)
    player = np.arange(N_COLUMNS)
    rows, background = (random.integers(0, 6, size=(n, N_COLUMNS)).astype(np.uint8) for n in (5, 6))
    together, base = native_values(core, trees, rows, background, player, N_COLUMNS)
    alone = [native_values(core, trees, rows, one[np.newaxis], player, N_COLUMNS) for one in background]
    np.testing.assert_allclose(together, np.mean([values for values, _ in alone], axis=0), atol=1e-12)
    assert base == pytest.approx(np.mean([one for _, one in alone]))
    sums = [sum_of_trees(trees, row) for row in rows]
    np.testing.assert_allclose(base + together.sum(axis=1), sums, atol=1e-12)


@pytest.mark.parametrize("splits", [9, 15, 18])
def test_long_paths_have_the_values_of_the_definition(core, splits):
    """One path with a player per split: only its end has a value, so the definition is a product."""
    trees = (
        np.arange(splits, dtype=np.uint16)[np.newaxis],
        np.zeros((1, splits), dtype=np.uint8),
        np.arange(splits, dtype=np.uint8)[np.newaxis],
        np.append(np.zeros(splits), 1.0)[np.newaxis],
    )
    row, other = np.ones((1, N_COLUMNS), np.uint8), np.ones((1, N_COLUMNS), np.uint8)
    row[0, :2], other[0, 2:7] = 0, 0  # the row fails for two players, the background row for five
    values, base = native_values(core, trees, row, other, np.arange(N_COLUMNS), N_COLUMNS)
    gained, taken = factorial(4) * factorial(2) / factorial(7), factorial(5) * factorial(1) / factorial(7)
    expected = np.zeros(N_COLUMNS)
    expected[:2], expected[2:7] = -taken, gained
    np.testing.assert_allclose(values[0], expected, atol=1e-14)
    assert base == 0.0


@pytest.mark.parametrize(("splits", "leafwise"), [(8, False), (30, True)])
def test_threads_and_instruction_sets_give_the_same_bits(core, use_instructions, splits, leafwise):
    from epiboost._native import native

    random = np.random.default_rng(0)
    trees = random_trees(random, 70, splits, leafwise=leafwise)
    rows, background = (random.integers(0, 6, size=(n, N_COLUMNS)).astype(np.uint8) for n in (1100, 30))
    values, base = native_values(core, trees, rows, background, np.arange(N_COLUMNS), N_COLUMNS)
    use_instructions("portable")
    again, base_again = native_values(native(), trees, rows, background, np.arange(N_COLUMNS), N_COLUMNS, threads=3)
    np.testing.assert_array_equal(again, values)
    assert base_again == base


def test_arrays_that_do_not_fit_are_refused(core):
    trees = random_trees(np.random.default_rng(0), 2, 3, leafwise=False)
    rows = np.zeros((4, N_COLUMNS), dtype=np.uint8)
    with pytest.raises(ValueError, match="must have the same trees"):
        native_values(core, trees, rows, rows[:0], np.arange(N_COLUMNS), N_COLUMNS)
    with pytest.raises(ValueError, match="must have the same trees"):
        native_values(core, trees, rows, rows, np.arange(N_COLUMNS), N_COLUMNS - 1)


def test_paths_of_more_than_64_players_are_not_exact():
    chain = np.arange(80, dtype=np.uint8)[np.newaxis, np.newaxis]
    assert _deepest(chain) == 80
    X = np.random.default_rng(0).normal(size=(60, 70))
    forest = EpiBoostRegressor(ensemble="single", n_estimators=2, max_leaves=4).fit(X, X[:, 0]).forest_
    assert is_exact(forest, np.arange(70))
    deep = type(forest)(
        **{**{name: getattr(forest, name) for name in forest.__dataclass_fields__ if name[0] != "_"}, "parent": chain}
    )
    assert not is_exact(deep, np.arange(70))


def test_the_score_of_a_virtual_ensemble_is_divided():
    X = np.random.default_rng(0).normal(size=(100, 3))
    model = EpiBoostRegressor(ensemble="virtual", n_members=4, n_estimators=20, random_state=0).fit(
        X, X[:, 0] - X[:, 1]
    )
    coefficients = np.array([1.0, 0.0])
    values, base = shapley_values(
        model.forest_, X, X, players=np.arange(3), coefficients=coefficients, prefixes=model.prefixes_
    )
    location, scale = model.forest_.objective.units
    np.testing.assert_allclose(location + scale * (base + values.sum(axis=1)), model.predict(X), atol=1e-6)
