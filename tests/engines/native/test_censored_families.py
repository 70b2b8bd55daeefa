"""The native core grows the trees of censored durations as the reference does, with the same bits everywhere."""

import numpy as np
import pytest

from epiboost._binning.bins import Bins
from epiboost._boosting.objectives import CENSORED, OBJECTIVES
from epiboost._native import available_instruction_sets, native
from tests.engines.native.test_families import ENSEMBLES, family_recipe
from tests.support import reference
from tests.support.native_core import train


def censored_table(family, n=160, seed=0):
    """Return (bins, bounds, weights, keys), the bins per column and the objective, for bounds of all kinds."""
    rng = np.random.default_rng(seed)
    duration = np.exp(rng.normal(size=n))
    kind = np.arange(n) % 4
    lower = np.where(kind == 2, 0.0, np.where(kind == 3, 0.7 * duration, duration))
    upper = np.where(kind == 1, np.inf, np.where(kind == 3, 1.5 * duration, duration))
    X = (np.argsort(np.argsort(duration))[:, np.newaxis] / n + rng.normal(size=(n, 3))).round(1)
    weight = rng.integers(1, 4, n).astype(np.float64)
    bounds = np.stack([lower, upper], axis=1)
    objective = OBJECTIVES[CENSORED[family]].of(bounds, weight)
    bins = Bins.fit(X, weight, 16)
    encoded = objective.encode(bounds).astype(np.float32)
    sample = (bins.transform(X), encoded, weight.astype(np.float32), np.arange(n, dtype=np.uint32))
    return sample, bins.counts, objective


def by_column(y):
    """Return bounds as the native core takes them: all lower ones, then all upper ones."""
    return np.clip(y, -1e18, 1e18).T.ravel().astype(np.float32)


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("family", sorted(CENSORED))
def test_trees_of_censored_durations_equal_those_of_the_reference(core, family, ensemble):
    (codes, y, weight, keys), counts, objective = censored_table(family)
    recipe = family_recipe(objective, **{"trees": 6, **ENSEMBLES[ensemble]})
    feature, threshold, parent, leaf, *_ = train(core, (codes, by_column(y), weight, keys), counts, recipe)
    expected = reference.trained_once((codes, y, weight, keys), recipe)
    np.testing.assert_array_equal(feature[0], expected.feature)
    np.testing.assert_array_equal(threshold[0], expected.threshold)
    np.testing.assert_array_equal(parent[0], expected.parent)
    np.testing.assert_allclose(leaf[0], expected.leaf, rtol=1e-4, atol=5e-6)


@pytest.mark.parametrize("family", sorted(CENSORED))
def test_instruction_sets_compute_the_same_bits(family, use_instructions):
    (_, y, _, _), _, objective = censored_table(family, n=2000)
    scores = np.random.default_rng(1).normal(size=(2000, 2)).astype(np.float32)
    constants = np.array(objective.constants)
    found = []
    for name in available_instruction_sets():
        use_instructions(name)
        parts = native().family_gradients(objective.code, constants, scores, by_column(y), scores[:, 0] + 0.25)
        found.append([part.tobytes() for part in parts])
    assert all(one == found[0] for one in found)
