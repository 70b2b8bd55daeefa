"""Acquisition: rows are chosen by the uncertainty that remains after the labels chosen before."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from epiboost import Posterior
from epiboost.decisions import acquire
from epiboost.decisions.acquisition import choose


def choose_by_covariance(posterior, n):
    """Choose with the covariance matrix of all samples: the slow reference."""
    mean, noise = posterior.parameters[:, :, 0], posterior.parameters[:, :, 1].mean(axis=0)
    covariance = np.cov(mean.T, bias=True)
    chosen = []
    for _ in range(n):
        variance = np.diag(covariance).copy()
        variance[chosen] = -np.inf
        row = int(variance.argmax())
        chosen.append(row)
        column = covariance[:, row]
        covariance = covariance - np.outer(column, column) / (covariance[row, row] + noise[row])
    return chosen


def test_rows_are_chosen_by_the_variance_that_remains_after_earlier_labels():
    rng = np.random.default_rng(0)
    for _ in range(5):
        parameters = np.stack([rng.normal(size=(6, 40)), rng.gamma(1.0, size=(6, 40))], axis=2)
        posterior = Posterior(parameters, "normal")
        assert choose(posterior, 10).tolist() == choose_by_covariance(posterior, 10)


def test_members_without_a_variance_are_chosen_from_as_if_labels_had_no_noise():
    means = np.random.default_rng(0).normal(3.0, size=(6, 40, 1))
    exact = Posterior(np.concatenate([means, np.zeros_like(means)], axis=2), "normal")
    assert choose(Posterior(means, "mean"), 4).tolist() == choose(exact, 4).tolist()


def test_a_posterior_is_left_as_it_was():
    parameters = np.stack([np.random.default_rng(0).normal(size=(4, 9)), np.ones((4, 9))], axis=2)
    posterior = Posterior(parameters.copy(), "normal")
    choose(posterior, 5)
    np.testing.assert_array_equal(posterior.parameters, parameters)


def test_the_first_choice_is_the_row_of_largest_uncertainty(models):
    pool = np.random.default_rng(1).uniform(-2, 2, size=(200, 2))
    for model in models.values():
        uncertainty = model.predict_uncertainty(pool)
        assert acquire(model, pool, 1)[0] == uncertainty.knowledge.argmax()
        assert acquire(model, pool, 1, "total")[0] == uncertainty.total.argmax()


@pytest.mark.parametrize("family", ["normal", "categorical"])
def test_duplicates_are_not_chosen_while_other_rows_are_more_informative(family):
    rng = np.random.default_rng(0)
    if family == "normal":
        distinct = np.stack([rng.normal(size=(8, 6)), np.full((8, 6), 0.01)], axis=2)
    else:
        distinct = rng.dirichlet([0.3, 0.3, 0.3], size=(8, 6))
    pool = Posterior(np.concatenate([distinct] * 5, axis=1), family)
    assert len({row % 6 for row in choose(pool, 6).tolist()}) >= 4
    most_uncertain = np.argsort(-pool.uncertainty().knowledge)[:6]
    assert len({row % 6 for row in most_uncertain.tolist()}) == 2


@pytest.mark.parametrize("strategy", ["knowledge", "total", "random"])
def test_each_row_is_chosen_once_and_the_same_seed_repeats_the_choice(models, strategy):
    pool = np.random.default_rng(1).uniform(-2, 2, size=(60, 2))
    for model in models.values():
        chosen = acquire(model, pool, 60, strategy, random_state=3)
        assert sorted(chosen.tolist()) == list(range(60))
        assert (chosen == acquire(model, pool, 60, strategy, random_state=3)).all()


@pytest.mark.parametrize("n", [0, 61, 2.5, True])
def test_a_number_of_rows_outside_the_pool_is_refused(models, n):
    pool = np.zeros((60, 2))
    for strategy in ("knowledge", "random"):
        with pytest.raises(ValueError, match=rf"n must be an integer from 1 to 60, .* got {n}"):
            acquire(models["regressor"], pool, n, strategy)


def test_members_that_agree_are_refused_for_knowledge():
    single = Posterior(np.array([[[0.0, 1.0], [1.0, 2.0]]]), "normal")
    with pytest.raises(ValueError, match="all members agree"):
        choose(single, 1)
    assert choose(single, 2, with_data=True).tolist() == [1, 0]


def test_an_unknown_strategy_is_refused():
    with pytest.raises(ValueError, match="strategy must be one of"):
        acquire(None, np.zeros((2, 1)), 1, "best")


@pytest.mark.slow
def test_active_learning_reaches_the_error_of_random_choice_with_fewer_labels():
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "active_learning.py"))
    by_knowledge, at_random = (
        np.mean([example["errors"](strategy, seed) for seed in range(5)], axis=0)
        for strategy in ("knowledge", "random")
    )
    assert (by_knowledge[3:] < at_random[3:]).all()
    assert by_knowledge[-3] < at_random[-1]
