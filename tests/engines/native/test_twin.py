"""The native core grows the trees that its NumPy twin grows."""

import numpy as np
import pytest

from epiboost._binning.bins import Bins
from epiboost._boosting.objectives import Normal
from epiboost._boosting.recipe import Recipe
from epiboost._native import available_instruction_sets, native
from epiboost.engines.native.chains import options_of
from tests.support import reference

OBJECTIVES = {
    "normal": (0, (0.0, 0.0)),
    "bernoulli": (1, (-0.5,)),
    "categorical": (2, (-1.0, -0.9, -1.3)),
}
ENSEMBLES = {
    "single": {},
    "sgb": {"subsample": 0.5},
    "sglb": {"noise": 0.3, "shrink": 0.05},
    "guarded": {"noise": 0.3, "shrink": 0.05, "variance_guard": 10.0},
    "noise and sampling": {"noise": 0.3, "shrink": 0.05, "subsample": 0.7},
    "no leaf regularisation": {"l2": 0.0},
    "structure on a sample": {"noise": 0.3, "shrink": 0.05, "structure_rows": 100.0},
}
WEIGHTS = {
    "one": lambda _rng, n: np.ones(n),
    "whole": lambda rng, n: rng.integers(1, 5, n).astype(np.float64),
    "real": lambda rng, n: rng.uniform(0.1, 1.1, n),
}


@pytest.fixture(params=available_instruction_sets())
def core(request, monkeypatch):
    """The native module of each instruction set that the machine has."""
    monkeypatch.setenv("EPIBOOST_INSTRUCTIONS", request.param)
    return native()


def small_table(objective, weights, *, missing, n=150, seed=0):
    """Bins, targets, weights and keys of a table with something to learn."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    signal = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    weight = WEIGHTS[weights](rng, n)
    bins = Bins.fit(X, weight, 16)
    y = {
        "normal": (signal - signal.mean()) / signal.std(),
        "bernoulli": (signal > 1).astype(float),
        "categorical": np.digitize(signal, [0, 1.5]).astype(float),
    }[objective]
    sample = (bins.transform(X), y.astype(np.float32), weight.astype(np.float32), np.arange(n, dtype=np.uint32))
    return sample, bins.counts


def train(core, sample, counts, recipe, *, seeds=(99,), threads=1, evaluation=None, patience=0):
    """Call the native trainer as the engine does."""
    code = OBJECTIVES[recipe.objective][0]
    options = {
        "objective": code,
        "outputs": recipe.outputs,
        "start": [float(value) for value in recipe.start],
        "trees": recipe.trees,
        "depth": recipe.depth,
        "learning_rate": recipe.learning_rate,
        "l2": recipe.l2,
        "shrink": recipe.shrink,
        "noise": recipe.noise,
        "subsample": recipe.subsample,
        "variance_guard": recipe.variance_guard,
        "structure_rows": recipe.structure_rows,
        "patience": patience,
    }
    seeds = np.array(seeds, dtype=np.uint64)
    watched = None if evaluation is None else core.Sample(*evaluation, counts)
    return core.train([core.Sample(*sample, counts)], watched, seeds, options, threads, lambda _done: None)


def test_each_of_several_samples_has_its_members():
    random = np.random.default_rng(0)
    n, counts = 5000, np.array([20, 20], dtype=np.int32)
    y, weight, keys = (
        random.normal(size=n).astype(np.float32),
        np.ones(n, dtype=np.float32),
        np.arange(n, dtype=np.uint32),
    )
    codes = [random.integers(1, 20, size=(n, 2)).astype(np.uint8) for _ in range(2)]
    options = options_of(Recipe(n_estimators=5, temperature=3.0).specs(0)[0], Normal(0.0, 1.0), float(n))
    core = native()

    def grown(samples, seeds, threads):
        samples = [core.Sample(own, y, weight, keys, counts) for own in samples]
        return core.train(samples, None, np.array(seeds, dtype=np.uint64), options, threads, lambda _done: None)

    alone = [grown([codes[member % 2]], [member], 1) for member in range(3)]
    for threads in (1, 2, 4):
        for place, arrays in enumerate(grown(codes, [0, 1, 2], threads)):
            np.testing.assert_array_equal(arrays, np.concatenate([one[place] for one in alone]))


def test_samples_that_do_not_fit_together_are_refused():
    core, ones = native(), np.ones(64, dtype=np.float32)
    keys = np.arange(64, dtype=np.uint32)

    def sample(columns, bins=8):
        table = np.ones((64, columns), dtype=np.uint8)
        return core.Sample(table, ones, ones, keys, np.full(columns, bins, dtype=np.int32))

    options = options_of(Recipe(n_estimators=2).specs(0)[0], Normal(0.0, 1.0), 64.0)
    seeds = np.array([1], dtype=np.uint64)
    for samples in ([], [None], [sample(2), sample(3)], [sample(2), sample(2, 9)]):
        with pytest.raises((ValueError, TypeError)):
            core.train(samples, None, seeds, options, 1, lambda _done: None)
    with pytest.raises(ValueError, match="evaluation"):
        core.train([sample(2)], sample(1), seeds, options, 1, lambda _done: None)


def recipe_of(objective, **options):
    start = OBJECTIVES[objective][1]
    return reference.Recipe(objective=objective, outputs=len(start), start=start, **options)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_native_trees_equal_the_twins(core, objective, ensemble, weights, missing):
    sample, counts = small_table(objective, weights, missing=missing)
    recipe = recipe_of(objective, **ENSEMBLES[ensemble])
    trained = train(core, sample, counts, recipe)
    assert trained[3].tolist() == [recipe.trees]
    assert_trees_equal(trained, sample, counts, recipe)


def wide_table(columns, classes, *, n=300, seed=0):
    """A table of many columns and bins, for a Normal (no classes) or for many classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    signal = X[:, 0] + X[:, -1] ** 2 + 0.3 * rng.normal(size=n)
    bins = Bins.fit(X, np.ones(n), 255)
    y = (signal - signal.mean()) / signal.std()
    if classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y).astype(float)
    keys = np.arange(n, dtype=np.uint32)
    return (bins.transform(X), y.astype(np.float32), np.ones(n, dtype=np.float32), keys), bins.counts


@pytest.mark.parametrize(("columns", "classes"), [(9, 0), (17, 0), (9, 5), (3, 12), (2, 20)])
def test_trees_of_wide_tables_and_many_classes_equal_the_twins(core, columns, classes):
    sample, counts = wide_table(columns, classes)
    start = (-np.log(classes),) * classes if classes else (0.0, 0.0)
    recipe = reference.Recipe(
        objective="categorical" if classes else "normal", outputs=len(start), start=start, trees=2, depth=2, noise=0.1
    )
    assert_trees_equal(train(core, sample, counts, recipe), sample, counts, recipe)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_trees_that_a_team_of_threads_grew_equal_the_twins(core, objective):
    sample, counts = small_table(objective, "whole", missing=True, n=5000)
    recipe = recipe_of(objective, trees=2, depth=2, noise=0.1)
    assert_trees_equal(train(core, sample, counts, recipe, threads=3), sample, counts, recipe)


def table_of_few_values(objective, *, n=1500, seed=0):
    """Columns of one to twenty values, with and without missing ones, between two of many."""
    rng = np.random.default_rng(seed)
    sample, _ = small_table(objective, "whole", missing=False, n=n, seed=seed)
    values = [200, 2, 2, 20, 1, 3, 7, 2, 12, 2, 5, 200]
    X = np.stack([rng.integers(0, most, n) for most in values], axis=1).astype(np.float64)
    for column, borders in ((1, [0.5]), (3, np.linspace(-2, 2, 20)), (5, [0.0, 1.0]), (6, np.arange(-3, 3))):
        X[:, column] = np.digitize(sample[1] + rng.normal(size=n), borders)
    X[rng.random(n) < 0.2, 6] = np.nan
    X[rng.random(n) < 0.2, 7] = np.nan
    bins = Bins.fit(X, np.ones(n), 255)
    return (bins.transform(X), *sample[1:]), bins.counts


@pytest.mark.parametrize(("classes", "values"), [(5, 4), (12, 2), (40, 2), (2, 3)])
def test_trees_of_many_classes_and_columns_of_few_values_equal_the_twins(core, classes, values):
    rng = np.random.default_rng(0)
    n, columns = 1500, 12
    codes = rng.integers(1, values + 1, size=(n, columns)).astype(np.uint8)
    y = ((codes[:, 0] + 2 * codes[:, 5] + 3 * codes[:, 11] + rng.integers(0, 2, n)) % classes).astype(np.float32)
    sample = (codes, y, np.ones(n, dtype=np.float32), np.arange(n, dtype=np.uint32))
    counts = np.full(columns, values + 1, dtype=np.int32)
    start = (0.0,) if classes == 2 else (-np.log(classes),) * classes
    objective = "bernoulli" if classes == 2 else "categorical"
    recipe = reference.Recipe(objective=objective, outputs=len(start), start=start, trees=2, depth=3, noise=0.1)
    assert_trees_equal(train(core, sample, counts, recipe), sample, counts, recipe)


def test_a_bin_that_its_column_does_not_have_is_refused(core):
    codes, ones = np.full((10, 1), 3, dtype=np.uint8), np.ones(10, dtype=np.float32)
    with pytest.raises(ValueError, match="a bin that its column does not have"):
        core.Sample(codes, ones, ones, np.arange(10, dtype=np.uint32), np.array([3], dtype=np.int32))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("ensemble", ["sglb", "sgb", "structure on a sample"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_trees_of_columns_of_few_values_equal_the_twins(core, objective, ensemble, threads):
    sample, counts = table_of_few_values(objective)
    options = ENSEMBLES[ensemble] | ({"structure_rows": 900.0} if "structure_rows" in ENSEMBLES[ensemble] else {})
    recipe = recipe_of(objective, trees=3, depth=4, **options)
    assert_trees_equal(train(core, sample, counts, recipe, threads=threads), sample, counts, recipe)


def assert_trees_equal(trained, sample, counts, recipe):
    feature, threshold, leaf, *_ = trained
    codes, y, weight, keys = sample
    twin = reference.train(codes, counts, y.astype(float), weight.astype(float), keys, recipe, 99)
    np.testing.assert_array_equal(feature[0], twin.feature)
    np.testing.assert_array_equal(threshold[0], twin.threshold)
    np.testing.assert_allclose(leaf[0], twin.leaf, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("depth", [1, 8])
def test_trees_of_any_depth_equal_the_twins(core, depth):
    sample, counts = small_table("normal", "one", missing=False)
    recipe = recipe_of("normal", depth=depth, trees=3, noise=0.3)
    assert_trees_equal(train(core, sample, counts, recipe), sample, counts, recipe)


def test_the_score_is_the_same_after_many_halvings_of_what_came_before(core):
    # shrinking by a half each step: the factor that scores are kept with is folded in again and again
    sample, counts = small_table("normal", "one", missing=False)
    recipe = recipe_of("normal", trees=80, depth=1, learning_rate=0.5, shrink=1.0, noise=0.1)
    *_, leaf, _, _ = train(core, sample, counts, recipe)
    codes, y, weight, keys = sample
    twin = reference.train(codes, counts, y.astype(float), weight.astype(float), keys, recipe, 99)
    np.testing.assert_allclose(leaf[0], twin.leaf, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("output", [0, 1, 2])
def test_noise_has_the_twins_bits(core, output):
    keys = np.random.default_rng(0).integers(0, 2**32, size=10_000, dtype=np.uint32)
    own = core.langevin_noise(2**63 + 5, 7, keys, output)
    twin = reference.normal_pair(reference.stream(2**63 + 5, 7, reference.LANGEVIN, output // 2), keys)[output % 2]
    np.testing.assert_array_equal(own, twin)


def test_noise_is_standard_normal_and_independent():
    n = 200_000
    keys = np.arange(n, dtype=np.uint32)
    draws = np.stack([native().langevin_noise(1, tree, keys, output) for tree in (0, 1) for output in (0, 1)])
    error = 5 / np.sqrt(n)
    np.testing.assert_allclose(draws.mean(axis=1), 0, atol=error)
    np.testing.assert_allclose((draws**2).mean(axis=1), 1, atol=np.sqrt(2) * error)
    np.testing.assert_allclose((draws**4).mean(axis=1), 3, atol=np.sqrt(96) * error)
    np.testing.assert_allclose(np.corrcoef(draws) - np.eye(4), 0, atol=error)
    neighbours = (draws[:, 1:] * draws[:, :-1]).mean(axis=1)
    np.testing.assert_allclose(neighbours, 0, atol=error)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_evaluation_loss_is_the_likelihood_of_the_truncated_chain(core, objective):
    sample, counts = small_table(objective, "real", missing=True)
    recipe = recipe_of(objective, noise=0.3, shrink=0.05)
    evaluation, _ = small_table(objective, "real", missing=True, n=70, seed=1)
    feature, threshold, leaf, _, losses = train(core, sample, counts, recipe, evaluation=evaluation)
    codes, y, weight, _ = evaluation
    score = np.zeros((len(y), recipe.outputs))
    for tree in range(recipe.trees):
        number = np.zeros(len(y), dtype=int)
        for level in range(recipe.depth):
            number |= (codes[:, feature[0, tree, level]] > threshold[0, tree, level]).astype(int) << level
        score = (1 - recipe.shrink * recipe.learning_rate) * score + leaf[0, tree][number]
        loss = negative_log_likelihood(objective, score + np.array(recipe.start), y)
        assert losses[0, tree] == pytest.approx(np.average(loss, weights=weight), rel=1e-5)


def negative_log_likelihood(objective, score, y):
    if objective == "normal":
        return 0.5 * np.log(2 * np.pi) + score[:, 1] + 0.5 * ((y - score[:, 0]) / np.exp(score[:, 1])) ** 2
    if objective == "bernoulli":
        return np.log1p(np.exp(-np.where(y > 0, score[:, 0], -score[:, 0])))
    return np.log(np.exp(score).sum(axis=1)) - score[np.arange(len(y)), y.astype(int)]


def test_patience_keeps_a_chain_as_it_was_at_its_best(core):
    sample, counts = small_table("normal", "one", missing=False)
    evaluation, _ = small_table("normal", "one", missing=False, n=70, seed=1)
    recipe = recipe_of("normal", trees=300, noise=0.3)
    *_, count, losses = train(core, sample, counts, recipe, evaluation=evaluation, patience=10)
    assert 0 < count[0] < 300
    assert losses[0, : count[0] + 10].argmin() == count[0] - 1


def test_members_of_a_huge_table_are_trained_one_after_the_other_and_are_the_same(core):
    rng = np.random.default_rng(0)
    n = (1 << 22) + 100
    codes = rng.integers(0, 16, size=(n, 1)).astype(np.uint8)
    y = (codes[:, 0] > 5).astype(np.float32) + rng.normal(size=n).astype(np.float32)
    sample = (codes, y, np.ones(n, dtype=np.float32), np.arange(n, dtype=np.uint32))
    counts = np.array([17], dtype=np.int32)
    recipe = recipe_of("normal", trees=2, depth=1, noise=0.5, structure_rows=1000.0)
    one, two = (train(core, sample, counts, recipe, seeds=(1, 2), threads=threads) for threads in (1, 2))
    for arrays in zip(one, two, strict=True):
        np.testing.assert_array_equal(*arrays)
    assert not np.array_equal(one[2][0], one[2][1])
