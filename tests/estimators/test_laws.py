"""Laws that hold for every table, and for every kind of ensemble."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.objectives import Normal
from epiboost._boosting.recipe import Recipe
from epiboost._boosting.step_sizes import steps_of
from epiboost._native import native
from epiboost.engines.native.recipe import ChainRecipe

KINDS = ["single", "sgb", "sglb", "virtual"]
TASKS = ["regression", "binary", "multiclass"]

law = settings(deadline=None, derandomize=True, max_examples=25, database=None)
every_kind = pytest.mark.parametrize("kind", KINDS)
every_task = pytest.mark.parametrize("task", TASKS)


@st.composite
def tables(draw, most_rows=120):
    """Draw a table and a target with a spread: with holes or without, with many or few distinct values."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(20, most_rows))
    X = random.normal(size=(n, draw(st.integers(1, 4))))
    if draw(st.booleans()):
        X = X.round(1)
    y = X[:, 0] ** 2 - X[:, -1] + random.normal(scale=0.3, size=n)
    if draw(st.booleans()):
        X[random.uniform(size=X.shape) < 0.1] = np.nan
    return X, y


def target_for(task, y):
    """Turn numbers into labels where labels are asked for; every class is there."""
    if task == "regression":
        return y
    shares = [0.5] if task == "binary" else [0.3, 0.6]
    return np.digitize(y, np.quantile(y, shares))


def small(task, kind="sglb", **parameters):
    estimator = EpiBoostRegressor if task == "regression" else EpiBoostClassifier
    defaults = {"n_members": 3, "n_estimators": 10, "max_depth": 3, "learning_rate": 0.3, "random_state": 5}
    return estimator(ensemble=kind, n_jobs=1, **{**defaults, **parameters})


def parameters_of(model, X):
    return model.predict_posterior(X).parameters


def trees_of(model):
    forest = model.forest_
    return {"feature": forest.feature, "threshold": forest.threshold, "leaf": forest.leaf, "count": forest.count}


def assert_same_trees(one, other):
    for name, array in trees_of(one).items():
        np.testing.assert_array_equal(array, trees_of(other)[name], err_msg=name)


# Units of the target


@every_kind
@law
@given(tables(), st.integers(-40, 40))
def test_a_target_scaled_by_a_power_of_two_scales_means_and_variances_exactly(kind, rows, exponent):
    X, y = rows
    c = 2.0**exponent
    plain = parameters_of(small("regression", kind).fit(X, y), X)
    scaled = parameters_of(small("regression", kind).fit(X, c * y), X)
    np.testing.assert_array_equal(scaled[..., 0], c * plain[..., 0])
    np.testing.assert_array_equal(scaled[..., 1], c**2 * plain[..., 1])


@every_kind
@law
@given(tables(), st.floats(1e-6, 1e6))
def test_a_scaled_target_scales_means_and_variances(kind, rows, c):
    X, y = rows
    plain = parameters_of(small("regression", kind).fit(X, y), X)
    scaled = parameters_of(small("regression", kind).fit(X, c * y), X)
    np.testing.assert_allclose(scaled[..., 0] / c, plain[..., 0], atol=1e-4 * y.std())
    np.testing.assert_allclose(scaled[..., 1] / c**2, plain[..., 1], rtol=1e-4)


@every_kind
@law
@given(tables(), st.floats(-100.0, 100.0))
def test_a_shifted_target_shifts_the_means_and_leaves_the_variances(kind, rows, shift):
    X, y = rows
    plain = parameters_of(small("regression", kind).fit(X, y), X)
    shifted = parameters_of(small("regression", kind).fit(X, y + shift), X)
    np.testing.assert_allclose(shifted[..., 0] - shift, plain[..., 0], atol=1e-4 * y.std())
    np.testing.assert_allclose(shifted[..., 1], plain[..., 1], rtol=1e-4)


# Order and repetition of rows


@every_task
@every_kind
@law
@given(rows=tables(), seed=st.integers(0, 1000), weighted=st.booleans())
def test_the_order_of_rows_does_not_matter(task, kind, rows, seed, weighted):
    X, y = rows[0], target_for(task, rows[1])
    random = np.random.default_rng(seed)
    weight = random.uniform(0.1, 3.0, size=len(y)) if weighted else np.ones(len(y))
    order = random.permutation(len(y))
    model = small(task, kind).fit(X, y, sample_weight=weight)
    other = small(task, kind).fit(X[order], y[order], sample_weight=weight[order])
    assert_same_trees(model, other)
    np.testing.assert_array_equal(parameters_of(other, X), parameters_of(model, X))


@every_task
@every_kind
@law
@given(rows=tables(), seed=st.integers(0, 1000), base=st.sampled_from([1.0, 0.25, 1.5]))
def test_a_row_of_k_times_the_weight_is_the_row_k_times(task, kind, rows, seed, base):
    X, y = rows[0], target_for(task, rows[1])
    random = np.random.default_rng(seed)
    times, weight = random.integers(1, 4, size=len(y)), base * random.integers(1, 3, size=len(y))
    weighted = small(task, kind).fit(X, y, sample_weight=times * weight)
    repeated = small(task, kind).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times), sample_weight=np.repeat(weight, times)
    )
    assert_same_trees(repeated, weighted)
    np.testing.assert_array_equal(parameters_of(repeated, X), parameters_of(weighted, X))


@every_task
@every_kind
def test_every_row_twice_is_weight_two_for_all(task, kind):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    y = target_for(task, X[:, 0] + random.normal(size=400))
    weighted = small(task, kind).fit(X, y, sample_weight=np.full(400, 2.0))
    repeated = small(task, kind).fit(np.concatenate([X, X]), np.concatenate([y, y]))
    np.testing.assert_array_equal(parameters_of(repeated, X), parameters_of(weighted, X))
    assert not np.array_equal(parameters_of(repeated, X), parameters_of(small(task, kind).fit(X, y), X))


@every_task
@every_kind
@law
@given(rows=tables(), seed=st.integers(0, 1000))
def test_a_row_of_weight_zero_is_not_there(task, kind, rows, seed):
    X, y = rows[0], target_for(task, rows[1])
    weight = np.random.default_rng(seed).integers(0, 3, size=len(y))
    for label in np.unique(y) if task != "regression" else []:
        weight[np.flatnonzero(y == label)[0]] = 1  # no class may vanish
    weight[:2] = 1
    kept = weight > 0
    with_zeros = small(task, kind).fit(X, y, sample_weight=weight)
    without = small(task, kind).fit(X[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(parameters_of(with_zeros, X), parameters_of(without, X))


@law
@given(
    seed=st.integers(0, 1000),
    subsample=st.sampled_from([0.5, 1.0]),
    guard=st.sampled_from([0.0, 1.0]),
    structure_rows=st.sampled_from([0.0, 60.0]),
)
def test_rows_in_any_order_grow_the_same_trees_when_their_noise_goes_with_them(seed, subsample, guard, structure_rows):
    random = np.random.default_rng(seed)
    n, columns, bins = 150, 3, 16
    codes = random.integers(0, bins, size=(n, columns)).astype(np.uint8)
    y = random.normal(size=n).astype(np.float32)
    weight = random.integers(1, 4, size=n).astype(np.float32)
    keys = random.permutation(10 * n)[:n].astype(np.uint32)
    recipe = Recipe(n_estimators=12, max_depth=4, temperature=3.0, subsample=subsample, variance_guard=guard)
    spec = replace(recipe.specs(0)[0], structure_rows=structure_rows)
    steps = steps_of(spec, Normal(0.0, 1.0), float(weight.sum()))
    chain_recipe = ChainRecipe.of(spec, Normal(0.0, 1.0), steps).to_native()

    def grow(rows, names):
        counts = np.full(columns, bins, dtype=np.int32)
        sample = native().Sample(np.ascontiguousarray(codes[rows]), y[rows], weight[rows], names, counts)
        return native().train([sample], None, np.array([7, 8], dtype=np.uint64), chain_recipe, 1, lambda _done: None)

    order = random.permutation(n)
    grown = grow(np.arange(n), keys)
    for one, other in zip(grown, grow(order, keys[order]), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(grown[2], grow(order, keys)[2]), "the noise must belong to the rows"


# Features


@every_task
@every_kind
@pytest.mark.parametrize(
    "transform", [np.exp, lambda x: x**3, lambda x: 1e6 * x - 3.0, lambda x: np.sign(x) * np.sqrt(np.abs(x))]
)
def test_a_strictly_increasing_transform_of_a_feature_changes_no_prediction_for_training_rows(task, kind, transform):
    random = np.random.default_rng(3)
    X = random.normal(size=(600, 3))  # more values than bins
    X[random.uniform(size=X.shape) < 0.05] = np.nan
    y = target_for(task, np.where(np.isnan(X[:, 0]), 0.0, X[:, 0]) + random.normal(scale=0.2, size=600))
    other = X.copy()
    other[:, 0] = transform(X[:, 0])
    model, twin = small(task, kind).fit(X, y), small(task, kind).fit(other, y)
    np.testing.assert_array_equal(parameters_of(twin, other), parameters_of(model, X))


@every_task
def test_the_prediction_for_a_row_does_not_depend_on_the_rows_beside_it(task):
    random = np.random.default_rng(4)
    X = random.normal(size=(2500, 3))
    model = small(task, "virtual").fit(X[:200], target_for(task, X[:200, 0]))
    whole = parameters_of(model, X)
    for part in (slice(0, 1), slice(1, 64), slice(63, 130), slice(1000, 2500)):
        np.testing.assert_array_equal(parameters_of(model, X[part]), whole[:, part])


@pytest.mark.parametrize("kind", ["sglb", "virtual"])
def test_labels_are_only_names(kind):
    random = np.random.default_rng(5)
    X = random.normal(size=(100, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    numbers = small("multiclass", kind).fit(X, y)
    words = small("multiclass", kind).fit(X, np.array(["a", "b", "c"])[y])
    np.testing.assert_array_equal(numbers.predict_proba(X), words.predict_proba(X))
    np.testing.assert_array_equal(words.predict(X), words.classes_[numbers.predict(X)])


# Uncertainty


@every_task
@every_kind
@law
@given(rows=tables())
def test_total_uncertainty_is_data_plus_knowledge_and_no_part_is_negative(task, kind, rows):
    X, y = rows[0], target_for(task, rows[1])
    model = small(task, kind).fit(X, y)
    uncertainty = model.predict_uncertainty(np.concatenate([X, 3.0 * X]))
    np.testing.assert_allclose(uncertainty.total, uncertainty.data + uncertainty.knowledge, rtol=1e-12, atol=1e-12)
    assert uncertainty.knowledge.min() >= -1e-12
    assert uncertainty.data.min() >= 0.0
    if kind == "single":
        assert not uncertainty.knowledge.any()
    else:
        assert uncertainty.knowledge.max() > 0.0


@every_task
def test_a_single_model_has_one_member_whatever_is_asked(task):
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = small(task, "single", n_members=7).fit(X, target_for(task, X[:, 0]))
    assert model.predict_posterior(X).n_members == 1


# Members


@every_task
@pytest.mark.parametrize("kind", ["sgb", "sglb"])
@law
@given(rows=tables(), few=st.integers(1, 3), more=st.integers(1, 3))
def test_the_first_members_are_the_same_whatever_their_number(task, kind, rows, few, more):
    X, y = rows[0], target_for(task, rows[1])
    smaller = parameters_of(small(task, kind, n_members=few).fit(X, y), X)
    larger = parameters_of(small(task, kind, n_members=few + more).fit(X, y), X)
    assert len(larger) == few + more
    np.testing.assert_array_equal(larger[:few], smaller)


@every_task
@pytest.mark.parametrize("kind", ["sgb", "sglb"])
def test_no_two_members_are_the_same(task, kind):
    X = np.random.default_rng(0).normal(size=(80, 3))
    members = parameters_of(small(task, kind, n_members=6).fit(X, target_for(task, X[:, 0])), X)
    assert len({member.tobytes() for member in members}) == 6


def scores_by_definition(forest, X, trees, member=0):
    """Evaluate F(t) = sum over i <= t of (1 - gamma * rate)^(t - i) leaf_i, tree by tree and in double precision."""
    offsets, borders = forest.bins.offsets, forest.bins.borders
    bins = np.empty(X.shape, dtype=int)
    for column in range(X.shape[1]):
        own = borders[offsets[column] : offsets[column + 1]]
        bins[:, column] = np.where(np.isnan(X[:, column]), 0, np.searchsorted(own, X[:, column], side="left") + 1)
    score = np.zeros((len(X), forest.leaf.shape[3]))
    for tree in range(trees):
        leaf = np.zeros(len(X), dtype=int)
        for level in range(forest.feature.shape[2]):
            above = bins[:, forest.feature[member, tree, level]] > forest.threshold[member, tree, level]
            leaf += above * 2**level
        score = forest.decay * score + forest.leaf[member, tree, leaf].astype(np.float64)
    return score


def parameters_by_definition(task, forest, score):
    objective = forest.objective
    if task == "regression":
        std = objective.scale * np.exp(np.clip(score[:, 1], -10.0, 5.0))
        return np.stack([objective.location + objective.scale * score[:, 0], std**2], axis=1)
    if task == "binary":
        probability = expit(objective.log_odds + score[:, 0])
        return np.stack([1.0 - probability, probability], axis=1)
    return softmax(np.array(objective.log_shares) + score, axis=1)


@pytest.fixture
def chain_table():
    """Return few rows, so that the shrinkage of a chain is strong enough to be seen, with some holes."""
    random = np.random.default_rng(6)
    X = random.normal(size=(40, 3)).round(2)
    y = X[:, 0] + random.normal(scale=0.3, size=40)
    X[random.uniform(size=X.shape) < 0.1] = np.nan
    return X, y


def decay_by_definition(task, y, rate, rows):
    """Evaluate 1 - gamma * step, where a step is the learning rate measured by the curvature of the loss."""
    shares = np.bincount(y) / len(y) if task != "regression" else None
    curvature = {
        "regression": lambda: 1.0,
        "binary": lambda: shares[0] * shares[1],
        "multiclass": lambda: (shares * (1.0 - shares)).sum() / (len(shares) - 1),
    }[task]()
    return 1.0 - rate / curvature / (2 * rows)


@every_task
def test_virtual_members_are_the_truncations_of_the_chain(task, chain_table):
    X, y = chain_table[0], target_for(task, chain_table[1])
    model = small(task, "virtual", n_members=5, n_estimators=60).fit(X, y)
    chain = small(task, "virtual", n_members=1, n_estimators=60).fit(X, y).forest_
    assert model.prefixes_ == (36, 42, 48, 54, 60)
    assert chain.decay == pytest.approx(decay_by_definition(task, y, 0.3, 40), rel=1e-12)
    for member, trees in zip(parameters_of(model, X), model.prefixes_, strict=True):
        np.testing.assert_allclose(member, chain.predict(X, prefixes=[trees])[0], rtol=1e-5, atol=1e-7)
        defined = parameters_by_definition(task, chain, scores_by_definition(chain, X, trees))
        np.testing.assert_allclose(member, defined, rtol=1e-5, atol=1e-7)


@every_task
def test_a_virtual_member_is_the_chain_that_stopped_there(task, chain_table):
    X, y = chain_table[0], target_for(task, chain_table[1])
    model = small(task, "virtual", n_members=3, n_estimators=30).fit(X, y)
    for member, trees in zip(parameters_of(model, X), model.prefixes_, strict=True):
        stopped = small(task, "sglb", n_members=1, n_estimators=trees).fit(X, y)
        np.testing.assert_allclose(member, parameters_of(stopped, X)[0], rtol=1e-5, atol=1e-7)


@every_task
@every_kind
def test_every_member_is_the_sum_of_its_shrunken_trees(task, kind, chain_table):
    X, y = chain_table[0], target_for(task, chain_table[1])
    model = small(task, kind, n_members=4, n_estimators=40).fit(X, y)
    forest = model.forest_
    noisy = kind in {"sglb", "virtual"}
    assert forest.decay == pytest.approx(decay_by_definition(task, y, 0.3, 40) if noisy else 1.0, rel=1e-12)
    for number, member in enumerate(parameters_of(model, X)):
        chain, trees = (0, model.prefixes_[number]) if kind == "virtual" else (number, 40)
        defined = parameters_by_definition(task, forest, scores_by_definition(forest, X, trees, chain))
        np.testing.assert_allclose(member, defined, rtol=1e-5, atol=1e-7)


@every_task
@pytest.mark.parametrize("trees", [1, 2, 11, 20])
def test_every_tree_of_the_second_half_can_be_a_virtual_member_and_no_more(task, trees):
    X = np.random.default_rng(0).normal(size=(50, 2))
    y = target_for(task, X[:, 0])
    second_half = trees - trees // 2
    model = small(task, "virtual", n_estimators=trees, n_members=second_half).fit(X, y)
    assert model.prefixes_ == tuple(range(trees // 2 + 1, trees + 1))
    assert model.predict_posterior(X).n_members == second_half
    with pytest.raises(ValueError, match=f"{second_half} trees; n_members={second_half + 1} is more"):
        small(task, "virtual", n_estimators=trees, n_members=second_half + 1).fit(X, y)


@every_task
def test_a_virtual_ensemble_with_early_stopping_is_an_error_that_says_why(task):
    X = np.random.default_rng(0).normal(size=(50, 2))
    y = target_for(task, X[:, 0])
    with pytest.raises(ValueError, match=r"second half of one whole chain.* leave early_stopping_rounds.*'sglb'"):
        small(task, "virtual", early_stopping_rounds=3).fit(X, y, eval_set=(X, y))
