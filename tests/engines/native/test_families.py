"""The native core grows the trees of every family of distributions as the reference trainer does."""

import numpy as np
import pytest
from scipy.special import digamma, polygamma

from epiboost._binning.bins import Bins
from epiboost._boosting.objectives import distribution_named
from tests.support import reference
from tests.support.families import FAMILIES, LEARNED, objective_of, parameters_of
from tests.support.native_core import train

ENSEMBLES = {
    "single": {},
    "sglb": {"noise": 0.3, "shrink": 0.05},
    "guarded": {"noise": 0.1, "variance_guard": 1.6, "subsample": 0.7},
    "random structures": {"noise": 0.3, "shrink": 0.05, "random_strength": 1.0, "structure_rows": 100.0},
    "leaf-wise": {"depth": 255, "leaves": 7, "variance_guard": 1.6},
}

TRAINED_AS = {0: "normal", 2: "categorical"}
"""Objectives of the core that families share: a Normal of the logarithm, and classes for bins of a histogram."""


def family_table(name, *, n=160, spread=1.0, seed=0):
    """Return (bins, targets, weights, keys), the bins per column and the objective, for draws of the first example.

    Columns follow the rank of the target.
    """
    rng = np.random.default_rng(seed)
    example = FAMILIES[name]
    parameters = np.broadcast_to(parameters_of(name)[0], (n, len(example.parameters[0])))
    y = distribution_named(name, example.settings).sample(parameters, rng)
    X = (np.argsort(np.argsort(y))[:, np.newaxis] / n + spread * rng.normal(size=(n, 3))).round(1)
    weight = rng.integers(1, 4, n).astype(np.float64)
    bins = Bins.fit(X, weight, 16)
    objective = objective_of(name, y, weight)
    encoded = objective.encode(y).astype(np.float32)
    sample = (bins.transform(X), encoded, weight.astype(np.float32), np.arange(n, dtype=np.uint32))
    return sample, bins.counts, objective


def family_recipe(objective, moved=0.0, **options):
    """Return a recipe of the reference trainer; NumPy starts from the same single-precision numbers as the core."""
    start = tuple(float(value) for value in np.asarray(objective.start + moved, dtype=np.float32))
    constants = tuple(float(value) for value in objective.constants)
    return reference.Recipe(
        objective=TRAINED_AS.get(objective.code, objective.name),
        outputs=len(start),
        start=start,
        constants=constants,
        family=None if objective.code in TRAINED_AS else objective,
        **options,
    )


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("name", LEARNED)
def test_trees_of_a_family_equal_those_of_the_reference(core, name, ensemble):
    sample, counts, objective = family_table(name)
    assert_trees_equal(core, sample, counts, family_recipe(objective, **{"trees": 6, **ENSEMBLES[ensemble]}))


@pytest.mark.parametrize("moved", [-2.0, 2.0])
@pytest.mark.parametrize("name", LEARNED)
def test_long_steps_from_a_far_start_equal_those_of_the_reference(core, name, moved):
    sample, counts, objective = family_table(name)
    shift = np.zeros(len(objective.start))
    shift[:2] = [0.25 * moved, moved][-len(shift) :][:2]
    assert_trees_equal(core, sample, counts, family_recipe(objective, shift, trees=1, depth=2, learning_rate=0.6))


def assert_trees_equal(core, sample, counts, recipe):
    feature, threshold, parent, leaf, *_ = train(core, sample, counts, recipe)
    expected = reference.trained_once(sample, recipe)
    np.testing.assert_array_equal(feature[0], expected.feature)
    np.testing.assert_array_equal(threshold[0], expected.threshold)
    np.testing.assert_array_equal(parent[0], expected.parent)
    np.testing.assert_allclose(leaf[0], expected.leaf, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("name", LEARNED)
def test_one_leaf_steps_down_the_mean_gradient(core, name):
    sample, counts, objective = family_table(name, spread=0.0)
    recipe = family_recipe(objective, trees=1, depth=1, learning_rate=0.01, l2=0.0)
    feature, threshold, _, leaf, *_ = train(core, sample, counts, recipe)
    codes, y, weight, _ = sample
    side = codes[:, feature[0, 0, 0]] > threshold[0, 0, 0]
    gradient = objective.gradient(np.tile(recipe.start, (len(y), 1)), y.astype(float))
    means = [np.average(gradient[side == one], axis=0, weights=weight[side == one]) for one in (False, True)]
    np.testing.assert_allclose(leaf[0, 0], -0.01 * np.array(means), rtol=1e-4, atol=1e-7)


POSITIVE = np.concatenate([np.logspace(-10, 4, 3000), np.linspace(0.5, 6.0, 2000)]).astype(np.float32)


def test_special_functions_are_those_of_scipy(core):
    x = POSITIVE.astype(np.float64)
    found = core.special_functions(POSITIVE).astype(np.float64)
    np.testing.assert_allclose(found[:, 0], digamma(x), rtol=2e-6, atol=5e-7)
    np.testing.assert_allclose(found[:, 1], polygamma(1, x), rtol=1e-6)
    np.testing.assert_allclose(found[:, 2], np.log(x) - digamma(x), rtol=3e-6)
    np.testing.assert_allclose(found[:, 3], polygamma(1, x) - 1.0 / x, rtol=3e-6)


def test_special_functions_of_large_numbers_are_their_series(core):
    x = np.logspace(4, 9, 500).astype(np.float32)
    found = core.special_functions(x).astype(np.float64)
    x = x.astype(np.float64)
    np.testing.assert_allclose(found[:, 2], 0.5 / x + 1.0 / (12.0 * x**2), rtol=1e-6)
    np.testing.assert_allclose(found[:, 3], 0.5 / x**2 + 1.0 / (6.0 * x**3), rtol=1e-6)


def test_the_excess_of_the_exponential_keeps_its_digits_near_zero(core):
    x = np.concatenate([-np.logspace(-8, 1, 500), np.logspace(-8, 1, 500)]).astype(np.float32)
    found = core.special_functions(x)[:, 4]
    x = x.astype(np.float64)
    expected = np.where(np.abs(x) < 1e-3, x**2 * (0.5 + x * (1 / 6 + x / 24)), np.expm1(x) - x)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_formulas_of_no_family_are_refused(core):
    numbers = np.zeros((1, 2), dtype=np.float32), np.zeros(1, dtype=np.float32), np.zeros(1, dtype=np.float32)
    for code, constants in (
        (0, []),
        (len(core.family_names()) + core.FIRST_FAMILY, []),
        (core.FIRST_FAMILY, [1.0, 2.0]),
    ):
        with pytest.raises(ValueError, match="must have the sizes of a family"):
            core.family_gradients(code, constants, *numbers)
