"""Chains that begin with given trees: the state of the chain is recovered from them."""

from dataclasses import replace

import numpy as np
import pytest

from tests.support import reference
from tests.support.native_core import OBJECTIVES, recipe_of, small_table, train

ENSEMBLES = {
    "sglb": {"noise": 0.3, "shrink": 0.05, "random_strength": 1.0, "variance_guard": 1.6},
    "sgb": {"subsample": 0.5, "structure_rows": 100.0, "variance_guard": 1.6},
    "strong shrinkage": {"noise": 0.3, "shrink": 9.0, "variance_guard": 1.6},  # scores are rescaled on the way
}
TREES = {"symmetric": {"depth": 3}, "leaf-wise": {"depth": 255, "leaves": 6}}


@pytest.mark.parametrize("shape", TREES)
@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_continued_chain_has_the_bits_of_a_chain_of_all_trees(core, objective, ensemble, shape):
    sample, counts = small_table(objective, "real", missing=True)
    others, _ = small_table(objective, "real", missing=True, seed=1)
    evaluation = (np.minimum(others[0], counts - 1).astype(np.uint8), *others[1:])
    recipe = recipe_of(objective, trees=30, **ENSEMBLES[ensemble], **TREES[shape])
    at_once = train(core, sample, counts, recipe, seeds=(5, 6, 7), evaluation=evaluation)
    for threads, n_given in ((1, 11), (3, 29)):
        given = tuple(array[:, :n_given].copy() for array in at_once[:4])
        continued = train(
            core, sample, counts, recipe, seeds=(5, 6, 7), evaluation=evaluation, given=given, threads=threads
        )
        for found, expected in zip(continued, at_once, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", TREES)
@pytest.mark.parametrize("ensemble", ["sglb", "sgb"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_chain_continued_on_other_rows_equals_the_reference(core, objective, ensemble, shape):
    sample, counts = small_table(objective, "one", missing=False)
    recipe = recipe_of(objective, trees=3, **ENSEMBLES[ensemble], **TREES[shape])
    given = train(core, sample, counts, recipe)[:4]
    codes, y, weight, keys = sample
    others = (codes[::2], np.roll(y, 3)[::2].copy(), weight[::2], keys[::2])
    recipe = replace(recipe, trees=5)
    feature, threshold, parent, leaf, *_ = train(core, others, counts, recipe, given=given)
    chain = reference.Chain(*(array[0] for array in given))
    expected = reference.train(others[0], *(part.astype(float) for part in others[1:3]), others[3], recipe, 99, chain)
    np.testing.assert_array_equal(feature[0], expected.feature)
    np.testing.assert_array_equal(threshold[0], expected.threshold)
    np.testing.assert_array_equal(parent[0], expected.parent)
    np.testing.assert_allclose(leaf[0], expected.leaf, rtol=2e-6, atol=1e-7)


def test_given_trees_of_another_shape_are_refused(core):
    sample, counts = small_table("normal", "one", missing=False)
    recipe = recipe_of("normal", trees=3)
    given = train(core, sample, counts, recipe)[:4]
    feature, threshold, parent, leaf = given
    too_wide = feature.copy()
    too_wide[0, 0, 0] = 4
    for wrong, fault in (
        ((feature[:, :, :2].copy(), threshold, parent, leaf), "must have the shape of those that are trained"),
        ((feature, threshold, parent, leaf[:, :2].copy()), "must have the shape of those that are trained"),
        ((too_wide, threshold, parent, leaf), "features must be columns"),
    ):
        with pytest.raises(ValueError, match=fault):
            train(core, sample, counts, recipe, given=wrong)
    with pytest.raises(ValueError, match="and not be more"):
        train(core, sample, counts, replace(recipe, trees=2), given=given)
