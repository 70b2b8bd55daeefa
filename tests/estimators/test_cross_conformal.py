"""CV+ intervals and cross-conformal sets are those of their definitions, and cover as often as these prove."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._estimators.out_of_fold.cross_conformal import FoldChains
from epiboost.metrics import interval_coverage_score
from tests.support.compare import parameters_of
from tests.support.models import every_task
from tests.support.out_of_fold import N, X, Y, fitted, model_of
from tests.support.tables import regression_table, target_for


@dataclass
class TableForest:
    """A forest that predicts what it is told: the table has the number of the row, from which it takes parameters."""

    parameters: np.ndarray  # (rows, outputs)
    family: str

    def predict(self, table, *, prefixes=None):
        assert prefixes is None
        return self.parameters[np.newaxis, table[:, 0].astype(int)]


def rows(n):
    """Return the numbers of rows as a table."""
    return np.arange(n, dtype=float)[:, np.newaxis]


def example(seed, n_chains, n_scores, family, *, n_new=7, disagreement=1.0):
    """Return chains, and their predictions of new rows, of shape (chains, new rows, outputs)."""
    random = np.random.default_rng(seed)
    if family == "normal":
        means = disagreement * random.normal(size=(n_chains, n_new))
        predicted = np.stack([means, random.uniform(0.2, 4.0, size=(n_chains, n_new))], axis=2)
        scores = random.exponential(size=n_scores)
    else:  # rounded, so that scores are equal
        predicted = random.dirichlet(np.ones(3), size=(n_chains, n_new)).round(1)
        scores = 1.0 - random.uniform(size=n_scores).round(1)
    fold = random.permutation(n_scores) % n_chains
    forests = tuple(TableForest(one, family) for one in predicted)
    return FoldChains(forests, tuple(np.sort(scores[fold == k]) for k in range(n_chains)), None), predicted


def cv_plus(chains, predicted, coverage):
    """Return the interval of CV+ by its definition (Barber et al. 2021, section 3)."""
    lower, upper = [], []
    for known, (mean, variance) in zip(chains.scores, np.moveaxis(predicted, 2, 1), strict=True):
        lower.append(mean - np.outer(known, np.sqrt(variance)))
        upper.append(mean + np.outer(known, np.sqrt(variance)))
    lower, upper = np.sort(np.concatenate(lower), axis=0), np.sort(np.concatenate(upper), axis=0)
    n = len(lower)
    rank = int(np.ceil(round(coverage * (n + 1), 9)))  # both are ranks from 1
    return np.stack([lower[n + 1 - rank - 1], upper[rank - 1]], axis=1)


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(10, 60), st.floats(0.5, 0.9))
def test_intervals_are_those_of_cv_plus(seed, n_chains, n_scores, coverage):
    chains, predicted = example(seed, n_chains, n_scores, "normal")
    found = chains.interval(rows(7), coverage)
    np.testing.assert_allclose(found, cv_plus(chains, predicted, coverage), rtol=1e-9, atol=1e-9)


@given(st.integers(0, 10_000), st.integers(2, 5), st.floats(0.01, 0.5))
def test_small_intervals_contain_those_of_cv_plus_and_never_cross(seed, n_chains, coverage):
    chains, predicted = example(seed, n_chains, 40, "normal", disagreement=10.0)
    found, expected = chains.interval(rows(7), coverage), cv_plus(chains, predicted, coverage)
    assert (found[:, 0] <= found[:, 1]).all()
    assert (found[:, 0] <= expected[:, 0] + 1e-9).all()
    assert (found[:, 1] >= expected[:, 1] - 1e-9).all()
    larger = chains.interval(rows(7), coverage + 0.3)
    assert (larger[:, 0] <= found[:, 0] + 1e-9).all()
    assert (larger[:, 1] >= found[:, 1] - 1e-9).all()


def test_ends_of_cv_plus_itself_can_cross():
    chains, predicted = example(0, 4, 40, "normal", disagreement=10.0)
    low, high = cv_plus(chains, predicted, 0.05).T
    assert (low > high).any()


def test_the_interval_of_a_single_chain_is_symmetric():
    scores = np.arange(1.0, 10.0)
    chains = FoldChains((TableForest(np.array([[5.0, 4.0]]), "normal"),), (scores,), None)
    np.testing.assert_allclose(chains.interval(rows(1), 0.9), [[5.0 - 2.0 * 9.0, 5.0 + 2.0 * 9.0]])
    np.testing.assert_allclose(chains.interval(rows(1), 0.5), [[5.0 - 2.0 * 5.0, 5.0 + 2.0 * 5.0]])
    with pytest.raises(ValueError, match=r"a coverage of 0\.95 cannot be guaranteed by 9 rows"):
        chains.interval(rows(1), 0.95)


def test_a_chain_without_scores_does_not_count():
    one = TableForest(np.array([[5.0, 4.0]]), "normal")
    other = TableForest(np.array([[500.0, 4.0]]), "normal")
    scores = np.arange(1.0, 10.0)
    alone, both = FoldChains((one,), (scores,), None), FoldChains((one, other), (scores, np.empty(0)), None)
    np.testing.assert_allclose(both.interval(rows(1), 0.8), alone.interval(rows(1), 0.8))


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_intervals_have_the_unit_of_the_target(unit):
    chains, predicted = example(0, 4, 40, "normal")
    scaled = tuple(TableForest(one * [unit, unit**2], "normal") for one in predicted)
    found = FoldChains(scaled, chains.scores, None).interval(rows(7), 0.8)
    np.testing.assert_allclose(found / unit, chains.interval(rows(7), 0.8), rtol=1e-9, atol=1e-9)


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(10, 60), st.floats(0.01, 0.99))
def test_a_class_is_in_the_set_if_its_p_value_is_above_the_error(seed, n_chains, n_scores, coverage):
    chains, predicted = example(seed, n_chains, n_scores, "categorical")
    at_least = np.zeros((7, 3))
    for known, probability in zip(chains.scores, predicted, strict=True):
        at_least += (known[:, np.newaxis, np.newaxis] >= 1.0 - probability).sum(axis=0)
    p_value = (at_least + 1) / (n_scores + 1)
    np.testing.assert_array_equal(chains.sets(rows(7), coverage), p_value > 1.0 - coverage + 1e-12)


def rows_of(y, weight=None):
    """Return what FoldChains reads of a dataset."""
    return SimpleNamespace(offset=None, y=y, weight=np.ones(len(y)) if weight is None else weight)


def test_scores_are_those_of_the_rows_that_a_chain_has_not_seen():
    random = np.random.default_rng(0)
    plan = OutOfFoldPlan.of_folds(np.arange(12) % 3)
    normal = [TableForest(np.stack([random.normal(size=12), random.uniform(1, 2, 12)], axis=1), "normal")] * 3
    y = random.normal(size=12)
    chains = FoldChains.of(plan, normal, rows_of(y), rows(12), None)
    for known, test, forest in zip(chains.scores, plan.tests, normal, strict=True):
        mean, variance = forest.parameters[test].T
        np.testing.assert_array_equal(known, np.sort(np.abs(y[test] - mean) / np.sqrt(variance)))
    sure = [TableForest(random.dirichlet(np.ones(3), size=12), "categorical")] * 3
    codes = random.integers(3, size=12)
    chains = FoldChains.of(plan, sure, rows_of(codes.astype(float)), rows(12), None)
    for known, test, forest in zip(chains.scores, plan.tests, sure, strict=True):
        np.testing.assert_array_equal(known, np.sort(1.0 - forest.parameters[test, codes[test]]))
    assert chains.n_scores == 12


def test_a_row_of_weight_two_has_its_score_twice():
    plan = OutOfFoldPlan.of_folds(np.arange(6) % 3)
    forests = [TableForest(np.tile([0.0, 1.0], (6, 1)), "normal")] * 3
    chains = FoldChains.of(plan, forests, rows_of(np.arange(6.0), np.array([1, 2, 0.3, 1, 1, 3])), rows(6), None)
    assert [known.tolist() for known in chains.scores] == [[0, 3], [1, 1, 4], [2, 5, 5, 5]]


def test_huge_weights_do_not_make_a_huge_model():
    plan = OutOfFoldPlan.of_folds(np.arange(6) % 3)
    forests = [TableForest(np.tile([0.0, 1.0], (6, 1)), "normal")] * 3
    chains = FoldChains.of(plan, forests, rows_of(np.arange(6.0), np.full(6, 1e15)), rows(6), None)
    assert chains.n_scores == 60_000


# Kept chains of a model


@every_task
def test_chains_are_kept_if_asked_for(task):
    assert fitted(task).out_of_fold_.chains is None
    kept = fitted(task, keep_folds=True, out_of_fold=3).out_of_fold_.chains
    assert len(kept.forests) == len(kept.scores) == 3
    assert kept.n_scores == N


@pytest.mark.parametrize("changes", [{"out_of_fold": 0}, {"n_members": 3}], ids=str)
def test_keeping_chains_that_are_not_trained_is_refused(changes):
    with pytest.raises(ValueError, match="keep_folds=True needs out-of-fold chains; set out_of_fold to a number"):
        fitted("regression", keep_folds=True, **changes)


@every_task
def test_keeping_chains_changes_no_prediction(task):
    one, other = fitted(task), fitted(task, keep_folds=True)
    np.testing.assert_array_equal(parameters_of(one, X), parameters_of(other, X))


@pytest.mark.parametrize("ensemble", ["sglb", "virtual", "single"])
def test_scores_of_a_model_are_those_of_its_kept_chains(ensemble):
    model = fitted("regression", ensemble=ensemble, out_of_fold=4, keep_folds=True)
    chains = model.out_of_fold_.chains
    assert chains.prefixes == model.prefixes_
    raw = np.concatenate([forest.predict(X, prefixes=chains.prefixes).mean(axis=0) for forest in chains.forests])
    means, variances = raw.reshape(4, N, 2)[:, :, 0], raw.reshape(4, N, 2)[:, :, 1]
    own = (means == model.oof_prediction_).argmax(axis=0)
    assert np.array_equal(means[own, np.arange(N)], model.oof_prediction_)
    scores = np.abs(Y - model.oof_prediction_) / np.sqrt(variances[own, np.arange(N)])
    np.testing.assert_array_equal(np.sort(np.concatenate(chains.scores)), np.sort(scores))
    found = model.predict_interval(X, 0.8, guarantee=True)
    np.testing.assert_allclose(found, cv_plus(chains, raw.reshape(4, N, 2), 0.8), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ensemble", ["sglb", "virtual", "single"])
def test_kept_chains_of_a_classifier_use_the_trees_of_its_members(ensemble):
    model = fitted("multiclass", ensemble=ensemble, out_of_fold=4, keep_folds=True)
    assert model.out_of_fold_.chains.prefixes == model.prefixes_
    assert parameters_of(model, X).shape[0] == {"sglb": 5, "virtual": 5, "single": 1}[ensemble]
    sets = model.predict_set(X, 0.9, guarantee=True)
    labels = np.searchsorted(model.classes_, target_for("multiclass", Y))
    assert sets[np.arange(N), labels].mean() > 0.9


@pytest.mark.slow
def test_the_guarantee_holds_on_average_over_tables():
    found = []
    for seed in range(40):
        X_all, y_all = regression_table(460, noise=0.5, seed=seed)
        model = model_of("regression", keep_folds=True, random_state=seed).fit(X_all[:60], y_all[:60])
        interval = model.predict_interval(X_all[60:], 0.8, guarantee=True)
        found.append(interval_coverage_score(y_all[60:], interval))
    assert np.mean(found) >= 0.8 - 0.03
