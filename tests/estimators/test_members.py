"""Members of ensembles: their number, their trees and the truncations of virtual ensembles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

from tests.support.compare import parameters_of
from tests.support.laws import law, law_model, tables
from tests.support.models import every_ensemble, every_task
from tests.support.tables import target_for

# Number of members


@every_task
def test_a_single_model_has_one_member_for_any_n_members(task):
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = law_model(task, "single", n_members=7).fit(X, target_for(task, X[:, 0]))
    assert model.predict_posterior(X).n_members == 1


@every_task
@pytest.mark.parametrize("ensemble", ["sgb", "sglb"])
@law
@given(rows=tables(), few=st.integers(1, 3), more=st.integers(1, 3))
def test_more_members_do_not_change_the_first_members(task, ensemble, rows, few, more):
    X, y = rows[0], target_for(task, rows[1])
    smaller = parameters_of(law_model(task, ensemble, n_members=few, out_of_fold=0).fit(X, y), X)
    larger = parameters_of(law_model(task, ensemble, n_members=few + more, out_of_fold=0).fit(X, y), X)
    assert len(larger) == few + more
    np.testing.assert_array_equal(larger[:few], smaller)


@every_task
@pytest.mark.parametrize("ensemble", ["sgb", "sglb"])
def test_no_two_members_are_the_same(task, ensemble):
    X = np.random.default_rng(0).normal(size=(80, 3))
    members = parameters_of(law_model(task, ensemble, n_members=6).fit(X, target_for(task, X[:, 0])), X)
    assert len({member.tobytes() for member in members}) == 6


@every_task
@pytest.mark.parametrize("trees", [1, 2, 11, 20])
def test_virtual_members_are_at_most_the_trees_of_the_second_half(task, trees):
    X = np.random.default_rng(0).normal(size=(50, 2))
    y = target_for(task, X[:, 0])
    second_half = trees - trees // 2
    model = law_model(task, "virtual", n_estimators=trees, n_members=second_half).fit(X, y)
    assert model.prefixes_ == tuple(range(trees // 2 + 1, trees + 1))
    assert model.predict_posterior(X).n_members == second_half
    with pytest.raises(ValueError, match=f"{second_half} trees; n_members={second_half + 1} is more"):
        law_model(task, "virtual", n_estimators=trees, n_members=second_half + 1).fit(X, y)


@every_task
def test_a_virtual_ensemble_with_early_stopping_is_refused_with_the_reason(task):
    X = np.random.default_rng(0).normal(size=(50, 2))
    y = target_for(task, X[:, 0])
    with pytest.raises(ValueError, match=r"second half of one whole chain.* leave early_stopping.*'sglb'"):
        law_model(task, "virtual", early_stopping_rounds=3).fit(X, y, eval_set=(X, y))


# The definition of a member


def scores_by_definition(forest, X, trees, member=0):
    """Evaluate F(t) = sum over i <= t of (1 - gamma * rate)^(t - i) leaf_i, tree by tree and in double precision."""
    offsets, borders = forest.bins.offsets, forest.bins.borders
    bins = np.empty(X.shape, dtype=int)
    for column in range(X.shape[1]):
        column_borders = borders[offsets[column] : offsets[column + 1]]
        bins[:, column] = np.where(
            np.isnan(X[:, column]), 0, np.searchsorted(column_borders, X[:, column], side="left") + 1
        )
    score = np.zeros((len(X), forest.leaf.shape[3]))
    for tree in range(trees):
        leaf = np.zeros(len(X), dtype=int)
        for level in range(forest.feature.shape[2]):
            above = bins[:, forest.feature[member, tree, level]] > forest.threshold[member, tree, level]
            leaf += above * 2**level
        score = forest.decay * score + forest.leaf[member, tree, leaf].astype(np.float64)
    return score


def parameters_by_definition(task, forest, score):
    """Return the parameters of the predicted distribution for raw scores."""
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
    """Return a table with missing values and so few rows that the shrinkage of a chain is noticeable."""
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
def test_virtual_members_are_truncations_of_the_chain(task, chain_table):
    X, y = chain_table[0], target_for(task, chain_table[1])
    model = law_model(task, "virtual", n_members=5, n_estimators=60).fit(X, y)
    chain = law_model(task, "virtual", n_members=1, n_estimators=60).fit(X, y).forest_
    assert model.prefixes_ == (36, 42, 48, 54, 60)
    assert chain.decay == pytest.approx(decay_by_definition(task, y, 0.3, 40), rel=1e-12)
    for member, trees in zip(parameters_of(model, X), model.prefixes_, strict=True):
        np.testing.assert_allclose(member, chain.predict(X, prefixes=[trees])[0], rtol=1e-5, atol=1e-6)
        defined = parameters_by_definition(task, chain, scores_by_definition(chain, X, trees))
        np.testing.assert_allclose(member, defined, rtol=1e-5, atol=1e-6)  # leaf values are in single precision


@every_task
def test_a_virtual_member_equals_a_chain_with_as_many_trees(task, chain_table):
    X, y = chain_table[0], target_for(task, chain_table[1])
    model = law_model(task, "virtual", n_members=3, n_estimators=30).fit(X, y)
    for member, trees in zip(parameters_of(model, X), model.prefixes_, strict=True):
        stopped = law_model(task, "sglb", n_members=1, n_estimators=trees).fit(X, y)
        np.testing.assert_allclose(member, parameters_of(stopped, X)[0], rtol=1e-5, atol=1e-7)


@every_task
@every_ensemble
def test_every_member_is_the_sum_of_its_shrunken_trees(task, ensemble, chain_table):
    X, y = chain_table[0], target_for(task, chain_table[1])
    model = law_model(task, ensemble, n_members=4, n_estimators=40).fit(X, y)
    forest = model.forest_
    has_noise = ensemble in {"sglb", "virtual"}
    assert forest.decay == pytest.approx(decay_by_definition(task, y, 0.3, 40) if has_noise else 1.0, rel=1e-12)
    for number, member in enumerate(parameters_of(model, X)):
        chain, trees = (0, model.prefixes_[number]) if ensemble == "virtual" else (number, 40)
        defined = parameters_by_definition(task, forest, scores_by_definition(forest, X, trees, chain))
        np.testing.assert_allclose(member, defined, rtol=1e-5, atol=1e-6)  # leaf values are in single precision
