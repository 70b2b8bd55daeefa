"""Order, repetition and weights of the training rows: what changes a model, and what does not."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from epiboost._boosting.objectives import Normal
from epiboost._boosting.recipe import Recipe
from epiboost._boosting.step_sizes import step_sizes
from epiboost._native import native
from epiboost.engines.native.chain_recipe import ChainRecipe
from tests.support.compare import assert_same_trees, parameters_of
from tests.support.laws import law, law_model, tables
from tests.support.models import every_ensemble, every_task
from tests.support.tables import target_for


@every_task
@every_ensemble
@law
@given(rows=tables(), seed=st.integers(0, 1000), weighted=st.booleans())
def test_the_order_of_rows_does_not_change_the_model(task, ensemble, rows, seed, weighted):
    X, y = rows[0], target_for(task, rows[1])
    random = np.random.default_rng(seed)
    weight = random.uniform(0.1, 3.0, size=len(y)) if weighted else np.ones(len(y))
    order = random.permutation(len(y))
    model = law_model(task, ensemble).fit(X, y, sample_weight=weight)
    other = law_model(task, ensemble).fit(X[order], y[order], sample_weight=weight[order])
    assert_same_trees(model, other)
    np.testing.assert_array_equal(parameters_of(other, X), parameters_of(model, X))


@every_task
@every_ensemble
@law
@given(rows=tables(), seed=st.integers(0, 1000), base=st.sampled_from([1.0, 0.25, 1.5]))
def test_integer_weights_are_equivalent_to_repeated_rows(task, ensemble, rows, seed, base):
    X, y = rows[0], target_for(task, rows[1])
    random = np.random.default_rng(seed)
    times, weight = random.integers(1, 4, size=len(y)), base * random.integers(1, 3, size=len(y))
    weighted = law_model(task, ensemble).fit(X, y, sample_weight=times * weight)
    repeated = law_model(task, ensemble).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times), sample_weight=np.repeat(weight, times)
    )
    assert_same_trees(repeated, weighted)
    np.testing.assert_array_equal(parameters_of(repeated, X), parameters_of(weighted, X))


@every_task
@every_ensemble
def test_every_row_twice_is_equivalent_to_weight_two(task, ensemble):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    y = target_for(task, X[:, 0] + random.normal(size=400))
    weighted = law_model(task, ensemble).fit(X, y, sample_weight=np.full(400, 2.0))
    repeated = law_model(task, ensemble).fit(np.concatenate([X, X]), np.concatenate([y, y]))
    np.testing.assert_array_equal(parameters_of(repeated, X), parameters_of(weighted, X))
    assert not np.array_equal(parameters_of(repeated, X), parameters_of(law_model(task, ensemble).fit(X, y), X))


@every_task
@every_ensemble
@law
@given(rows=tables(), seed=st.integers(0, 1000))
def test_rows_of_weight_zero_do_not_change_the_model(task, ensemble, rows, seed):
    X, y = rows[0], target_for(task, rows[1])
    weight = np.random.default_rng(seed).integers(0, 3, size=len(y))
    for label in np.unique(y) if task != "regression" else []:
        weight[np.flatnonzero(y == label)[0]] = 1  # every class keeps a row
    weight[:2] = 1
    is_positive = weight > 0
    with_zeros = law_model(task, ensemble).fit(X, y, sample_weight=weight)
    without = law_model(task, ensemble).fit(X[is_positive], y[is_positive], sample_weight=weight[is_positive])
    np.testing.assert_array_equal(parameters_of(with_zeros, X), parameters_of(without, X))


@law
@given(
    seed=st.integers(0, 1000),
    subsample=st.sampled_from([0.5, 1.0]),
    guard=st.sampled_from([0.0, 1.0]),
    structure_rows=st.sampled_from([0.0, 60.0]),
)
def test_the_native_core_grows_the_same_trees_when_rows_keep_their_keys(seed, subsample, guard, structure_rows):
    random = np.random.default_rng(seed)
    n, columns, bins = 150, 3, 16
    distinct = random.choice(bins**columns, size=n, replace=False)  # equal rows would have to follow each other
    codes = np.stack(np.unravel_index(distinct, (bins,) * columns), axis=1).astype(np.uint8)
    y = random.normal(size=n).astype(np.float32)
    weight = random.integers(1, 4, size=n).astype(np.float32)
    keys = random.permutation(10 * n)[:n].astype(np.uint32)
    recipe = Recipe(
        n_estimators=12, learning_rate=0.1, max_depth=4, temperature=3.0, subsample=subsample, variance_guard=guard
    )
    spec = replace(recipe.specs(0)[0], structure_rows=structure_rows)
    steps = step_sizes(spec, Normal(0.0, 1.0), float(weight.sum()))
    chain_recipe = ChainRecipe.of(spec, Normal(0.0, 1.0), steps).to_native()

    def grow(rows, names):
        counts = np.full(columns, bins, dtype=np.int32)
        sample = native().Sample(np.ascontiguousarray(codes[rows]), y[rows], weight[rows], names, counts)
        return native().train(
            [[sample]], [[]], [chain_recipe], [np.array([7, 8], dtype=np.uint64)], 1, lambda _done: None
        )

    order = random.permutation(n)
    trees = grow(np.arange(n), keys)
    for one, other in zip(trees, grow(order, keys[order]), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(trees[3], grow(order, keys)[3]), "the noise must belong to the rows"


@every_task
def test_the_prediction_for_a_row_does_not_depend_on_other_rows(task):
    random = np.random.default_rng(4)
    X = random.normal(size=(2500, 3))
    model = law_model(task, "virtual").fit(X[:200], target_for(task, X[:200, 0]))
    expected = parameters_of(model, X)
    for part in (slice(0, 1), slice(1, 64), slice(63, 130), slice(1000, 2500)):
        np.testing.assert_array_equal(parameters_of(model, X[part]), expected[:, part])
