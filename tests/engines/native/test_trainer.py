"""The native trainer: samples, evaluation losses, early stopping and huge tables."""

from dataclasses import replace

import numpy as np
import pytest

from epiboost._boosting.objectives import Normal
from epiboost._boosting.recipe import Recipe
from epiboost._boosting.step_sizes import step_sizes
from epiboost._native import native
from epiboost.engines.native.chain_recipe import ChainRecipe
from tests.support.native_core import OBJECTIVES, recipe_of, small_table, train

LISTS = {"constants", "start", "monotone", "interactions"}


def chain_recipe(n, **options):
    size = {"n_estimators": 10, "learning_rate": 0.1, "max_depth": 6}
    spec = Recipe(**{**size, **options}).specs(0)[0]
    return ChainRecipe.of(spec, Normal(0.0, 1.0), step_sizes(spec, Normal(0.0, 1.0), float(n)))


def test_the_native_recipe_has_the_fields_of_the_python_recipe(core):
    recipe = ChainRecipe(
        objective=2,
        start=(0.5, 0.25, 0.125),
        constants=(1.5, 2.5),
        trees=3,
        depth=4,
        leaves=15,
        learning_rate=0.5,
        l2=6.0,
        shrink=0.7,
        noise=0.8,
        subsample=0.9,
        variance_guard=10.0,
        structure_rows=11.0,
        random_strength=13.0,
        random_decay=14.0,
        monotone=(1, 0, -1),
        interactions=((0, 1), (2,)),
        min_leaf_weight=15.0,
        column_share=0.25,
    )
    made = recipe.to_native()
    assert isinstance(made, core.ChainRecipe)
    for name in ChainRecipe.__dataclass_fields__:
        value = getattr(made, name)
        if name == "interactions":
            value = map(tuple, value)
        assert (tuple(value) if name in LISTS else value) == getattr(recipe, name), name


@pytest.mark.parametrize(
    "fault", [{"depth": 0}, {"depth": 9}, {"leaves": 1}, {"leaves": 256}, {"start": ()}, {"start": (0.0,) * 1025}]
)
def test_a_recipe_that_does_not_fit_the_native_arrays_is_an_error(fault):
    with pytest.raises(ValueError, match=next(iter(fault))):
        replace(chain_recipe(64), **fault).to_native()


def test_members_use_the_samples_in_turn():
    random = np.random.default_rng(0)
    n, counts = 5000, np.array([20, 20], dtype=np.int32)
    y, weight, keys = (
        random.normal(size=n).astype(np.float32),
        np.ones(n, dtype=np.float32),
        np.arange(n, dtype=np.uint32),
    )
    codes = [random.integers(1, 20, size=(n, 2)).astype(np.uint8) for _ in range(2)]
    recipe = chain_recipe(n, n_estimators=5, temperature=3.0).to_native()
    core = native()

    def trained(samples, seeds, threads):
        samples = [core.Sample(table, y, weight, keys, counts) for table in samples]
        return core.train([samples], [[]], [recipe], [np.array(seeds, dtype=np.uint64)], threads, lambda _done: None)

    alone = [trained([codes[member % 2]], [member], 1) for member in range(3)]
    for threads in (1, 2, 4):
        for position, arrays in enumerate(trained(codes, [0, 1, 2], threads)):
            np.testing.assert_array_equal(arrays, np.concatenate([one[position] for one in alone]))


@pytest.mark.parametrize("options", [{}, {"leaves": 9}, {"subsample": 0.5}], ids=str)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_chains_of_one_table_are_trained_together_as_they_are_alone(core, objective, options):
    sample, counts = small_table(objective, "one", missing=True)
    recipe = recipe_of(objective, noise=0.3, **options)
    seeds = range(10)
    alone = [train(core, sample, counts, recipe, seeds=(seed,)) for seed in seeds]
    for chains in (2, 4, 5, 10):  # as many as vectors have lanes, and others
        for threads in (1, 3):
            together = train(core, sample, counts, recipe, seeds=seeds[:chains], threads=threads)
            for position, arrays in enumerate(together):
                expected = [one[position] for one in alone[:chains]]
                np.testing.assert_array_equal(arrays, np.concatenate(expected) if len(arrays) else arrays)


@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_rows_in_no_leaf_do_not_matter_to_chains_trained_together(core, subsample):
    random = np.random.default_rng(0)
    n = 20_000  # rounding takes one in 65,536 gradients of zero to one: of a target of zeros, these choose the splits
    sample = (
        random.integers(0, 15, size=(n, 3)).astype(np.uint8),
        np.zeros(n, dtype=np.float32),
        np.ones(n, dtype=np.float32),
        np.arange(n, dtype=np.uint32),
    )
    recipe = recipe_of("normal", trees=10, depth=3, subsample=subsample)
    counts = np.full(3, 16, dtype=np.int32)
    together = train(core, sample, counts, recipe, seeds=range(4))
    for seed in range(4):
        alone = train(core, sample, counts, recipe, seeds=(seed,))
        for position in (0, 1, 3):
            np.testing.assert_array_equal(together[position][seed], alone[position][0])


def test_problems_are_trained_together_as_they_are_alone():
    random = np.random.default_rng(0)
    counts = np.array([20, 20], dtype=np.int32)
    core, seeds, problems = native(), [], []
    for n, members in ((3000, 3), (500, 1), (2999, 2)):
        table = (random.integers(1, 20, size=(n, 2)).astype(np.uint8), random.normal(size=n).astype(np.float32))
        sample = core.Sample(*table, np.ones(n, dtype=np.float32), np.arange(n, dtype=np.uint32), counts)
        problems.append(([sample], [], chain_recipe(n, n_estimators=5, temperature=3.0).to_native()))
        seeds.append(np.arange(members, dtype=np.uint64) + n)
    parts = list(zip(*problems, strict=True))
    alone = [
        core.train([samples], [evaluation], [recipe], [seed], 1, lambda _done: None)
        for (samples, evaluation, recipe), seed in zip(problems, seeds, strict=True)
    ]
    for threads in (1, 2, 4):
        for position, arrays in enumerate(core.train(*parts, seeds, threads, lambda _done: None)):
            np.testing.assert_array_equal(arrays, np.concatenate([one[position] for one in alone]))


def test_inconsistent_problems_are_errors():
    core, ones = native(), np.ones(64, dtype=np.float32)
    sample = core.Sample(
        np.ones((64, 1), dtype=np.uint8), ones, ones, np.arange(64, dtype=np.uint32), np.array([2], dtype=np.int32)
    )
    recipe, other = (chain_recipe(64, n_estimators=trees).to_native() for trees in (2, 3))
    seeds = np.array([1], dtype=np.uint64)
    for arguments, message in (
        (([], [], [], []), "one entry per problem"),
        (([[sample]], [[]], [recipe], [seeds, seeds]), "one entry per problem"),
        (([[sample]] * 2, [[]] * 2, [recipe, other], [seeds] * 2), "the same trees, depth, leaves and outputs"),
    ):
        with pytest.raises(ValueError, match=message):
            core.train(*arguments, 1, lambda _done: None)


def test_inconsistent_samples_are_errors():
    core, ones = native(), np.ones(64, dtype=np.float32)
    keys = np.arange(64, dtype=np.uint32)

    def sample(columns, bins=8):
        table = np.ones((64, columns), dtype=np.uint8)
        return core.Sample(table, ones, ones, keys, np.full(columns, bins, dtype=np.int32))

    recipe = chain_recipe(64, n_estimators=2).to_native()
    seeds = np.array([1], dtype=np.uint64)
    for samples in ([], [None], [sample(2), sample(3)], [sample(2), sample(2, 9)]):
        with pytest.raises((ValueError, TypeError)):
            core.train([samples], [[]], [recipe], [seeds], 1, lambda _done: None)
    with pytest.raises(ValueError, match="evaluation"):
        core.train([[sample(2)]], [[sample(1)]], [recipe], [seeds], 1, lambda _done: None)


def test_a_bin_above_the_bin_count_of_its_column_is_an_error(core):
    codes, ones = np.full((10, 1), 3, dtype=np.uint8), np.ones(10, dtype=np.float32)
    with pytest.raises(ValueError, match="bins must be below the bin_counts of their columns"):
        core.Sample(codes, ones, ones, np.arange(10, dtype=np.uint32), np.array([3], dtype=np.int32))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_evaluation_loss_is_the_likelihood_of_the_truncated_chain(core, objective):
    sample, counts = small_table(objective, "real", missing=True)
    recipe = recipe_of(objective, noise=0.3, shrink=0.05)
    evaluation, _ = small_table(objective, "real", missing=True, n=70, seed=1)
    feature, threshold, _, leaf, _, losses = train(core, sample, counts, recipe, evaluation=evaluation)
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


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_rounds_do_not_change_the_trees(core, objective):
    sample, counts = small_table(objective, "one", missing=True)
    evaluation, _ = small_table(objective, "one", missing=True, n=70, seed=1)
    recipe = recipe_of(objective, trees=23, noise=0.3, shrink=0.4, subsample=0.7)
    seeds = (1, 2, 3)
    whole = train(core, sample, counts, recipe, seeds=seeds, evaluation=evaluation)
    pauses = []

    def go_on(trees, evaluated):
        pauses.append((trees, [chain for chain, _ in evaluated]))
        return True

    paused = train(
        core, sample, counts, recipe, seeds=seeds, threads=2, evaluation=evaluation, round_trees=5, round_done=go_on
    )
    for arrays in zip(whole, paused, strict=True):
        np.testing.assert_array_equal(*arrays)
    assert pauses == [(trees, [0, 1, 2]) for trees in (5, 10, 15, 20, 23)]


def test_a_round_reports_the_scores_whose_loss_is_measured(core):
    sample, counts = small_table("normal", "one", missing=False)
    evaluation, _ = small_table("normal", "one", missing=False, n=70, seed=1)
    recipe = recipe_of("normal", trees=6, noise=0.3, shrink=0.4)
    reported = {}
    *_, losses = train(
        core,
        sample,
        counts,
        recipe,
        evaluation=evaluation,
        round_trees=2,
        round_done=lambda *now: reported.update([now]) or True,
    )
    for trees, [(_, score)] in reported.items():
        loss = negative_log_likelihood("normal", score.astype(float), evaluation[1])
        assert losses[0, trees - 1] == pytest.approx(loss.mean(), rel=1e-5)


def test_a_round_that_says_no_ends_the_training(core):
    sample, counts = small_table("normal", "one", missing=False)
    recipe = recipe_of("normal", trees=30)
    whole = train(core, sample, counts, recipe)
    *stopped, count, _ = train(core, sample, counts, recipe, round_trees=4, round_done=lambda trees, _: trees < 12)
    assert count.tolist() == [12]
    np.testing.assert_array_equal(stopped[0][:, :12], whole[0][:, :12])
    np.testing.assert_array_equal(stopped[3][:, 12:], 0.0)


def test_an_error_in_a_round_ends_the_training_with_it(core):
    sample, counts = small_table("normal", "one", missing=False)
    with pytest.raises(ZeroDivisionError):
        train(core, sample, counts, recipe_of("normal", trees=30), round_trees=4, round_done=lambda *_: 1 / 0)


def test_members_of_a_huge_table_do_not_depend_on_the_number_of_threads(core):
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
    assert not np.array_equal(one[3][0], one[3][1])
