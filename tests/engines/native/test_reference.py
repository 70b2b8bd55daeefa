"""The native core grows the same trees as the reference trainer in NumPy."""

import numpy as np
import pytest

from epiboost._binning.bins import Bins
from tests.support import reference
from tests.support.native_core import OBJECTIVES, WEIGHTS, recipe_of, small_table, train

ENSEMBLES = {
    "single": {},
    "sgb": {"subsample": 0.5},
    "sglb": {"noise": 0.3, "shrink": 0.05},
    "guarded": {"noise": 0.3, "shrink": 0.05, "variance_guard": 1.6},
    "noise and sampling": {"noise": 0.3, "shrink": 0.05, "subsample": 0.7},
    "no leaf regularisation": {"l2": 0.0},
    "structure on a sample": {"noise": 0.3, "shrink": 0.05, "structure_rows": 100.0},
    "random structures": {"noise": 0.3, "shrink": 0.05, "random_strength": 1.0},
    "random structures that settle": {"subsample": 0.5, "random_strength": 1.0, "random_decay": 2.0},
    "random structures on a sample": {"structure_rows": 100.0, "random_strength": 1.0},
}


def assert_trees_equal(trained, sample, recipe):
    feature, threshold, parent, leaf, *_ = trained
    expected = reference.trained_once(sample, recipe)
    np.testing.assert_array_equal(feature[0], expected.feature)
    np.testing.assert_array_equal(threshold[0], expected.threshold)
    np.testing.assert_array_equal(parent[0], expected.parent)
    np.testing.assert_allclose(leaf[0], expected.leaf, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_trees_equal_those_of_the_reference(core, objective, ensemble, weights, missing):
    sample, counts = small_table(objective, weights, missing=missing)
    recipe = recipe_of(objective, **ENSEMBLES[ensemble])
    trained = train(core, sample, counts, recipe)
    assert trained[4].tolist() == [recipe.trees]
    assert_trees_equal(trained, sample, recipe)


@pytest.mark.parametrize("leaves", [2, 7, 16])
@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_leafwise_trees_equal_those_of_the_reference(core, objective, ensemble, leaves):
    sample, counts = small_table(objective, "integer" if leaves == 7 else "real", missing=True)
    recipe = recipe_of(objective, depth=255, leaves=leaves, trees=4, **ENSEMBLES[ensemble])
    assert_trees_equal(train(core, sample, counts, recipe), sample, recipe)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("ensemble", ["sgb", "structure on a sample", "random structures"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_leafwise_trees_of_limited_depth_and_bundled_columns_equal_the_reference(core, objective, ensemble, threads):
    sample, counts = table_with_few_bins(objective)
    options = ENSEMBLES[ensemble] | ({"structure_rows": 900.0} if "structure_rows" in ENSEMBLES[ensemble] else {})
    recipe = recipe_of(objective, trees=2, depth=4, leaves=12, **options)
    assert_trees_equal(train(core, sample, counts, recipe, threads=threads), sample, recipe)


def test_a_leafwise_tree_makes_no_split_without_gain(core):
    codes = np.repeat(np.array([[1, 1], [1, 2], [2, 1]], dtype=np.uint8), 20, axis=0)
    sample = (
        codes,
        codes.sum(axis=1).astype(np.float32),
        np.ones(60, dtype=np.float32),
        np.arange(60, dtype=np.uint32),
    )
    recipe = recipe_of("normal", trees=2, depth=255, leaves=9)
    trained = train(core, sample, np.array([3, 3], dtype=np.int32), recipe)
    assert_trees_equal(trained, sample, recipe)
    np.testing.assert_array_equal(trained[2][:, :, 2:], 255)  # three distinct rows have three leaves


def wide_table(columns, classes, *, n=300, seed=0, max_bins=255):
    """Return a table with many columns and bins, for a Normal (no classes) or for many classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    signal = X[:, 0] + X[:, -1] ** 2 + 0.3 * rng.normal(size=n)
    bins = Bins.fit(X, np.ones(n), max_bins)
    y = (signal - signal.mean()) / signal.std()
    if classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y).astype(float)
    keys = np.arange(n, dtype=np.uint32)
    return (bins.transform(X), y.astype(np.float32), np.ones(n, dtype=np.float32), keys), bins.counts


@pytest.mark.parametrize(("columns", "classes"), [(9, 0), (17, 0), (9, 5), (3, 12), (2, 20)])
def test_trees_of_wide_tables_and_many_classes_equal_the_reference(core, columns, classes):
    sample, counts = wide_table(columns, classes)
    start = (-np.log(classes),) * classes if classes else (0.0, 0.0)
    recipe = reference.Recipe(
        objective="categorical" if classes else "normal", outputs=len(start), start=start, trees=2, depth=2, noise=0.1
    )
    assert_trees_equal(train(core, sample, counts, recipe), sample, recipe)


PANELS = {"all rows": {}, "some rows": {"subsample": 0.5}, "structure on a sample": {"structure_rows": 2000.0}}


@pytest.mark.parametrize("leaves", [0, 5])
@pytest.mark.parametrize("case", PANELS)
@pytest.mark.parametrize("columns", [17, 30])
def test_trees_of_columns_in_panels_equal_the_reference(core, columns, case, leaves):
    sample, counts = wide_table(columns, 0, n=4200, max_bins=20)  # too many bins for bundles
    recipe = recipe_of("normal", trees=2, depth=3, leaves=leaves, noise=0.1, **PANELS[case])
    for threads in (1, 2, 3):  # that divide the rows, or the columns if there are enough panels
        assert_trees_equal(train(core, sample, counts, recipe, threads=threads), sample, recipe)


@pytest.mark.parametrize("leaves", [0, 9])
@pytest.mark.parametrize("columns", [7, 8, 15])
def test_trees_of_columns_in_few_bundles_equal_the_reference(core, columns, leaves):
    rng = np.random.default_rng(columns)
    codes = rng.integers(1, 3, size=(100, columns)).astype(np.uint8)
    y = (codes[:, 0] + codes[:, -1] * codes[:, 1] + rng.normal(size=100)).astype(np.float32)
    sample = (codes, y - y.mean(), np.ones(100, dtype=np.float32), np.arange(100, dtype=np.uint32))
    recipe = recipe_of("normal", trees=4, depth=5, leaves=leaves)
    assert_trees_equal(train(core, sample, np.full(columns, 3, dtype=np.int32), recipe), sample, recipe)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_trees_of_several_threads_equal_the_reference(core, objective):
    sample, counts = small_table(objective, "integer", missing=True, n=5000)
    recipe = recipe_of(objective, trees=2, depth=2, noise=0.1)
    assert_trees_equal(train(core, sample, counts, recipe, threads=3), sample, recipe)


def table_with_few_bins(objective, *, n=1500, seed=0):
    """Return a table whose columns have few bins, some with missing values, between two columns with many."""
    rng = np.random.default_rng(seed)
    sample, _ = small_table(objective, "integer", missing=False, n=n, seed=seed)
    values = [200, 2, 2, 20, 1, 3, 7, 2, 12, 2, 5, 200]
    X = np.stack([rng.integers(0, most, n) for most in values], axis=1).astype(np.float64)
    for column, borders in ((1, [0.5]), (3, np.linspace(-2, 2, 20)), (5, [0.0, 1.0]), (6, np.arange(-3, 3))):
        X[:, column] = np.digitize(sample[1] + rng.normal(size=n), borders)
    X[rng.random(n) < 0.2, 6] = np.nan
    X[rng.random(n) < 0.2, 7] = np.nan
    bins = Bins.fit(X, np.ones(n), 255)
    return (bins.transform(X), *sample[1:]), bins.counts


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("ensemble", ["sglb", "sgb", "structure on a sample", "random structures"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_trees_of_bundled_columns_equal_the_reference(core, objective, ensemble, threads):
    sample, counts = table_with_few_bins(objective)
    options = ENSEMBLES[ensemble] | ({"structure_rows": 900.0} if "structure_rows" in ENSEMBLES[ensemble] else {})
    recipe = recipe_of(objective, trees=3, depth=4, **options)
    assert_trees_equal(train(core, sample, counts, recipe, threads=threads), sample, recipe)


@pytest.mark.parametrize(("classes", "values"), [(5, 4), (12, 2), (40, 2), (2, 3)])
def test_trees_of_bundled_columns_and_many_classes_equal_the_reference(core, classes, values):
    rng = np.random.default_rng(0)
    n, columns = 1500, 12
    codes = rng.integers(1, values + 1, size=(n, columns)).astype(np.uint8)
    y = ((codes[:, 0] + 2 * codes[:, 5] + 3 * codes[:, 11] + rng.integers(0, 2, n)) % classes).astype(np.float32)
    sample = (codes, y, np.ones(n, dtype=np.float32), np.arange(n, dtype=np.uint32))
    counts = np.full(columns, values + 1, dtype=np.int32)
    start = (0.0,) if classes == 2 else (-np.log(classes),) * classes
    objective = "bernoulli" if classes == 2 else "categorical"
    recipe = reference.Recipe(objective=objective, outputs=len(start), start=start, trees=2, depth=3, noise=0.1)
    assert_trees_equal(train(core, sample, counts, recipe), sample, recipe)


@pytest.mark.parametrize("leaves", [0, 7])
@pytest.mark.parametrize("sampling", [{}, {"subsample": 0.7}])
def test_trees_of_rows_that_share_their_bins_equal_the_reference(core, sampling, leaves):
    rng = np.random.default_rng(0)
    n = 200
    codes = rng.integers(1, 4, size=(n, 2)).astype(np.uint8)
    codes = codes[np.lexsort(codes.T)]  # rows with the same bins follow each other
    y = (codes[:, 0] - 2.0 + rng.normal(size=n)).astype(np.float32)
    weight = rng.integers(1, 4, size=n).astype(np.float32)
    sample = (codes, y, weight, np.arange(n, dtype=np.uint32))
    counts = np.full(2, 4, dtype=np.int32)
    recipe = recipe_of("normal", trees=12, learning_rate=0.3, leaves=leaves, variance_guard=1.6, noise=0.1, **sampling)
    assert_trees_equal(train(core, sample, counts, recipe), sample, recipe)


@pytest.mark.parametrize("heavy", [1.0, 3e5])
def test_a_deviation_goes_up_no_further_than_the_best_of_its_leaf(core, heavy):
    sample, counts = small_table("normal", "one", missing=False)
    codes, y, weight, keys = sample
    y, weight = 40.0 * y, weight.copy()
    y[0], weight[0] = 0.0, heavy
    recipe = recipe_of("normal", trees=3, learning_rate=0.1, variance_guard=1.6)
    trained = train(core, (codes, y, weight, keys), counts, recipe)
    assert_trees_equal(trained, (codes, y, weight, keys), recipe)
    assert 2.0 < trained[3][0, :, :, 1].max() < np.log(200.0)


@pytest.mark.parametrize("depth", [1, 8])
def test_trees_of_any_depth_equal_the_reference(core, depth):
    sample, counts = small_table("normal", "one", missing=False)
    recipe = recipe_of("normal", depth=depth, trees=3, noise=0.3)
    assert_trees_equal(train(core, sample, counts, recipe), sample, recipe)


def test_strong_shrinkage_over_many_trees_equals_the_reference(core):
    # each step halves the score, so that the stored scores are rescaled many times
    sample, counts = small_table("normal", "one", missing=False)
    recipe = recipe_of("normal", trees=80, depth=1, learning_rate=0.5, shrink=1.0, noise=0.1)
    *_, leaf, _, _ = train(core, sample, counts, recipe)
    np.testing.assert_allclose(leaf[0], reference.trained_once(sample, recipe).leaf, rtol=1e-4, atol=1e-5)


CONTROLS = {
    "monotone": {"monotone": (1, -1, 0, 0)},
    "monotone in every column": {"monotone": (-1, 1, 1, -1), "random_strength": 1.0},
    "monotone and guarded": {"monotone": (0, -1, 1, 0), "noise": 0.3, "shrink": 0.05, "variance_guard": 1.6},
    "monotone on samples": {"monotone": (1, 1, 1, 1), "noise": 0.3, "subsample": 0.7, "structure_rows": 100.0},
    "no interactions": {"interactions": ((0,), (1,), (2,), (3,)), "random_strength": 1.0},
    "pairs": {"interactions": ((0, 1), (1, 2), (0, 2), (2, 3)), "noise": 0.3},
    "a column that is in no group": {"interactions": ((1, 3), (2,))},
    "large leaves": {"min_leaf_weight": 9.0},
    "large leaves on samples": {"min_leaf_weight": 11.0, "subsample": 0.8, "structure_rows": 120.0},
    "large leaves and random structures": {"min_leaf_weight": 5.0, "random_strength": 1.0},
    "no leaf is large enough": {"min_leaf_weight": 1000.0, "random_strength": 1.0},
    "half of the columns": {"column_share": 0.5, "noise": 0.3},
    "one column": {"column_share": 0.01, "random_strength": 1.0},
    "all controls": {
        "monotone": (1, -1, 1, 0),
        "interactions": ((0, 1), (0, 2, 3)),
        "min_leaf_weight": 3.0,
        "column_share": 0.8,
        "random_strength": 1.0,
        "noise": 0.3,
    },
}


SIZES = {"symmetric": {"depth": 4}, "leaf-wise": {"depth": 255, "leaves": 9}}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("controls", "objective"),
    [*((one, "normal") for one in CONTROLS), ("monotone on samples", "bernoulli"), ("pairs", "categorical")],
)
def test_constrained_trees_equal_the_reference(core, controls, objective, size):
    sample, counts = small_table(objective, "integer", missing=True, n=90)
    recipe = recipe_of(objective, trees=3, **SIZES[size], **CONTROLS[controls])
    for threads in (1, 3):
        assert_trees_equal(train(core, sample, counts, recipe, threads=threads), sample, recipe)


@pytest.mark.parametrize("fault", [{"monotone": (1, 0)}, {"interactions": ((0, 4),)}, {"interactions": ((-1,),)}])
def test_constraints_on_columns_that_the_table_does_not_have_are_an_error(core, fault):
    sample, counts = small_table("normal", "one", missing=False)
    with pytest.raises(ValueError, match=next(iter(fault))):
        train(core, sample, counts, recipe_of("normal", **fault))
