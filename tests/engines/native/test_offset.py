"""Chains of classes with an offset grow the trees of the reference."""

import numpy as np
import pytest

from tests.support import reference
from tests.support.native_core import native_recipe, recipe_of, small_table


def train(core, sample, counts, recipe, offset, evaluation=()):
    """Train one chain with an offset; return feature, threshold, parent, leaf, count and losses."""
    return core.train(
        [[core.Sample(*sample, counts, offset)]],
        [list(evaluation)],
        [native_recipe(core, recipe)],
        [np.array([99], dtype=np.uint64)],
        threads=2,
        progress=lambda _done: None,
    )


@pytest.mark.parametrize("shape", [{"depth": 3}, {"depth": 255, "leaves": 6}], ids=["symmetric", "leaf-wise"])
@pytest.mark.parametrize("objective", ["bernoulli", "categorical"])
def test_trees_beside_an_offset_equal_those_of_the_reference(core, objective, shape):
    sample, counts = small_table(objective, "real", missing=True)
    recipe = recipe_of(objective, trees=4, noise=0.3, shrink=0.05, random_strength=1.0, **shape)
    offset = np.random.default_rng(5).normal(size=(150, recipe.outputs)).astype(np.float32)
    trained = train(core, sample, counts, recipe, offset, [core.Sample(*sample, counts, offset)])
    expected = reference.trained_once(sample, recipe, offset=offset)
    np.testing.assert_array_equal(trained[0][0], expected.feature)
    np.testing.assert_array_equal(trained[1][0], expected.threshold)
    np.testing.assert_array_equal(trained[2][0], expected.parent)
    np.testing.assert_allclose(trained[3][0], expected.leaf, rtol=1e-5, atol=1e-6)


def test_an_offset_of_another_shape_is_refused(core):
    for objective, columns in (("bernoulli", 2), ("categorical", 2), ("normal", 2)):
        sample, counts = small_table(objective, "one", missing=False)
        with pytest.raises(ValueError, match="offset must have one column per output of a classification"):
            train(core, sample, counts, recipe_of(objective), np.zeros((150, columns), dtype=np.float32))
        with pytest.raises(ValueError, match="offset must have one row per row"):
            core.Sample(*sample, counts, np.zeros((149, columns), dtype=np.float32))
