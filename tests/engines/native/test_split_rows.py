"""Number of rows on which a tree chooses its splits."""

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.capacity import Capacity
from epiboost._boosting.objectives import Bernoulli, Categorical, Normal
from epiboost._boosting.recipe import Recipe
from epiboost._boosting.step_sizes import step_sizes
from epiboost.engines.native import split_rows as rule
from epiboost.engines.native.chain_recipe import ChainRecipe
from epiboost.engines.native.split_rows import USUAL_ROWS, split_rows
from tests.support.compare import assert_same_trees

OBJECTIVES = {1: Bernoulli(0.0), 2: Normal(0.0, 1.0), 3: Categorical((-0.7, -1.4, -1.4))}


def spec_of(leaves, **options):
    return Recipe(**options).with_capacity(Capacity(3, 0.1, 6, leaves)).specs(0)[0]


@pytest.mark.parametrize("outputs", [1, 2, 3, 7, 40])
def test_symmetric_trees_have_the_usual_number(outputs):
    assert split_rows(spec_of(None), outputs) == USUAL_ROWS


@pytest.mark.parametrize(("leaves", "expected"), [(2, 62_000), (64, 62_000), (128, 102_400), (255, 204_000)])
def test_leafwise_trees_of_classes_have_rows_in_proportion_to_their_leaves(leaves, expected):
    for outputs in (1, 3, 7):
        assert split_rows(spec_of(leaves), outputs) == expected


@pytest.mark.parametrize("leaves", [None, 2, 255])
def test_the_rows_of_a_regression_fit_packed_histograms(leaves):
    rows = split_rows(spec_of(leaves), 2)
    assert rows + 12 * rows**0.5 + 64 < 2**16  # the bound of training/context.hpp


@pytest.mark.parametrize("given", [1, 62_000, 500_000, None])
def test_a_number_that_is_given_is_used(given):
    for outputs, objective in OBJECTIVES.items():
        spec = spec_of(255, structure_rows=given)
        assert split_rows(spec, outputs) == given
        assert ChainRecipe.of(spec, objective, step_sizes(spec, objective, 100.0)).structure_rows == float(given or 0)


def test_a_chain_has_the_rows_of_its_task():
    spec = spec_of(255)
    found = {
        outputs: ChainRecipe.of(spec, objective, step_sizes(spec, objective, 100.0)).structure_rows
        for outputs, objective in OBJECTIVES.items()
    }
    assert found == {1: 204_000.0, 2: 62_000.0, 3: 204_000.0}


@pytest.mark.parametrize(("estimator", "per_tree"), [(EpiBoostRegressor, 100), (EpiBoostClassifier, 120)])
def test_by_default_a_larger_table_chooses_its_splits_on_a_sample(monkeypatch, estimator, per_tree):
    monkeypatch.setattr(rule, "USUAL_ROWS", 100)
    monkeypatch.setattr(rule, "_ROWS_PER_LEAF", 20)
    X = np.random.default_rng(0).normal(size=(600, 3))
    y = np.digitize(X[:, 0] + X[:, 1], [-1.0, 0.0, 1.0])
    options = {"n_members": 2, "n_estimators": 5, "max_leaves": 6, "random_state": 0}
    default, given, whole = (
        estimator(**options, **rows).fit(X, y) for rows in ({}, {"structure_rows": per_tree}, {"structure_rows": None})
    )
    assert_same_trees(default, given)
    assert (default.forest_.threshold != whole.forest_.threshold).any()
