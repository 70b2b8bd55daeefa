"""Recalibration by out-of-fold chains: the size of data and knowledge uncertainty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from epiboost._boosting.out_of_fold import OutOfFoldPlan
from epiboost._estimators.out_of_fold.categorical import (
    CategoricalRecalibration,
    fit_temperature_above_one,
    information_distance,
    knowledge_factor,
)
from epiboost._estimators.out_of_fold.disagreement import Disagreement, measure_disagreement
from epiboost._estimators.out_of_fold.normal import NormalRecalibration, fit_normal
from epiboost._posterior.posterior import Posterior
from tests.support.compare import parameters_of
from tests.support.models import every_task
from tests.support.out_of_fold import X, Y, fitted, model_of
from tests.support.tables import target_for

AGREEMENT = Disagreement(rows=0.0, seeds=0.0)


def squares(one, other):
    return np.square(one - other)


# The Normal

NORMALS = hnp.arrays(
    np.float64, st.tuples(st.integers(2, 6), st.integers(1, 5), st.just(2)), elements=st.floats(0.01, 100.0)
)


@given(NORMALS, *[st.floats(0.1, 10.0)] * 3, st.floats(0.0, 2.0), st.sampled_from([0.1, 10.0, 1e300]))
def test_knowledge_is_multiplied_up_to_a_limit_and_the_mean_stays(members, knowledge, factor, reference, power, limit):
    before = Posterior(members, "normal")
    after = Posterior(NormalRecalibration(factor, reference, power, knowledge, limit).apply(members), "normal")
    np.testing.assert_allclose(after.mean, before.mean, rtol=1e-12)
    expected = knowledge * before.uncertainty().knowledge
    expected = expected if limit == 1e300 else 1.0 / (1.0 / np.maximum(expected, 1e-300) + 1.0 / limit)
    np.testing.assert_allclose(after.uncertainty().knowledge, expected, rtol=1e-9, atol=1e-9)
    assert (after.uncertainty().knowledge <= limit * (1 + 1e-9)).all()
    variance = factor * reference * (members[:, :, 1] / reference) ** power
    np.testing.assert_allclose(after.parameters[:, :, 1], variance, rtol=1e-9)


def test_the_members_of_a_model_are_recalibrated_by_its_own_factors():
    model = fitted("regression")
    found = model.out_of_fold_.recalibration
    raw = Posterior(model.forest_.predict(X), "normal")
    np.testing.assert_allclose(model.predict(X), raw.mean, rtol=1e-12)
    known = model.predict_uncertainty(X)
    factor = known.knowledge / raw.uncertainty().knowledge
    assert (factor < found.knowledge).all()
    np.testing.assert_allclose(factor, found.knowledge * (1 - known.knowledge / found.limit), rtol=1e-9)
    assert found.limit == pytest.approx(Y.var())
    assert found.knowledge != 1.0
    np.testing.assert_array_equal(parameters_of(model, X), found.apply(raw.parameters))


@every_task
def test_the_uncertainty_of_a_model_is_that_of_its_posterior(task):
    model = fitted(task)
    known, expected = model.predict_uncertainty(X), model.predict_posterior(X).uncertainty()
    for part, values in expected.columns().items():
        np.testing.assert_array_equal(known.columns()[part], values)


@pytest.mark.parametrize(("factor", "power"), [(1.0, 1.0), (4.0, 1.0), (0.2, 1.0), (1.0, 0.5), (2.0, 1.5), (1.0, 0.0)])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_factor_and_power_are_recovered_from_residuals(factor, power, scale):
    random = np.random.default_rng(0)
    variance = scale**2 * np.exp(random.normal(scale=1.0, size=20_000))
    mean = scale * random.normal(size=20_000)
    reference = np.exp(np.log(variance).mean())
    truth = factor * reference * (variance / reference) ** power
    y = mean + np.sqrt(truth) * random.normal(size=20_000)
    found, of_residuals = fit_normal(y, np.stack([mean, variance], axis=1), np.ones(20_000), 0.75, AGREEMENT)
    assert found.reference == pytest.approx(reference)
    assert found.factor == pytest.approx(factor, rel=0.05)
    assert found.power == pytest.approx(power, abs=0.03)
    np.testing.assert_allclose(of_residuals, truth, rtol=0.15)


def test_few_residuals_leave_the_power_near_one():
    random = np.random.default_rng(0)
    variance = np.exp(random.normal(size=8))
    predicted = np.stack([np.zeros(8), variance], axis=1)
    powers = [fit_normal(random.normal(size=8), predicted, np.ones(8), 0.75, AGREEMENT)[0].power for _ in range(50)]
    assert np.mean(powers) == pytest.approx(1.0, abs=0.5)
    assert np.std(powers) < 0.5


def test_a_weight_of_two_is_the_residual_twice():
    random = np.random.default_rng(0)
    y, weight = random.normal(size=300), random.integers(1, 4, size=300)
    predicted = np.stack([np.zeros(300), np.exp(random.normal(size=300))], axis=1)
    disagreement = Disagreement(rows=0.1, seeds=0.05)
    one, _ = fit_normal(y, predicted, weight.astype(float), 0.75, disagreement)
    copies = np.repeat(np.arange(300), weight)
    other, _ = fit_normal(y[copies], predicted[copies], np.ones(len(copies)), 0.75, disagreement)
    assert one.to_header() == pytest.approx(other.to_header(), rel=1e-4)


def test_the_excess_error_of_one_chain_is_taken_off_the_data_uncertainty():
    random = np.random.default_rng(0)
    y = random.normal(size=5000)
    predicted = np.tile([0.0, 1.0], (5000, 1))
    found, _ = fit_normal(y, predicted, np.ones(5000), 0.75, Disagreement(rows=0.06, seeds=0.1))
    excess, knowledge = 0.06 * (1 / 0.75 - 1) + 0.9 * 0.1, (0.1 + 0.6) * 0.1
    assert found.knowledge == pytest.approx(0.7)
    assert found.factor == pytest.approx(y.var() - excess - 0.75 * knowledge, rel=0.01)


@given(st.floats(0.0, 1e6), st.floats(0.0, 1e6))
def test_data_uncertainty_stays_positive_and_knowledge_below_half(rows, seeds):
    y = np.random.default_rng(0).normal(size=100)
    found, _ = fit_normal(y, np.tile([0.0, 1.0], (100, 1)), np.ones(100), 0.75, Disagreement(rows, seeds))
    assert found.factor > 0.2
    assert np.isfinite(found.knowledge)
    assert found.knowledge * seeds < 0.6


# Classes


def probabilities_of(scores):
    """Return probabilities of scores."""
    exponential = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponential / exponential.sum(axis=-1, keepdims=True)


SHAPES = st.tuples(st.integers(2, 6), st.integers(1, 5), st.integers(2, 4))
MEMBERS = hnp.arrays(np.float64, SHAPES, elements=st.floats(-8.0, 8.0)).map(probabilities_of)
SURE_MEMBERS = hnp.arrays(np.float64, SHAPES, elements=st.floats(-800.0, 800.0)).map(probabilities_of)


@given(st.one_of(MEMBERS, SURE_MEMBERS), st.floats(0.05, 20.0))
def test_the_spread_of_members_keeps_mean_probabilities(members, factor):
    changed = CategoricalRecalibration(1.0, factor**2).apply(members)
    assert (changed >= 0.0).all()
    np.testing.assert_allclose(changed.sum(axis=2), 1.0, rtol=1e-9)
    np.testing.assert_allclose(changed.mean(axis=0), members.mean(axis=0), atol=1e-2)


@pytest.mark.parametrize("knowledge", [0.25, 1.0, 4.0])
def test_small_knowledge_is_multiplied_by_the_factor(knowledge):
    random = np.random.default_rng(0)
    members = probabilities_of(random.normal(size=(1, 50, 3)) + 0.05 * random.normal(size=(10, 50, 3)))
    before = Posterior(members, "categorical").uncertainty()
    after = Posterior(CategoricalRecalibration(1.0, knowledge).apply(members), "categorical").uncertainty()
    np.testing.assert_allclose(after.knowledge, knowledge * before.knowledge, rtol=0.05)
    np.testing.assert_allclose(after.total, before.total, atol=1e-3)


@given(MEMBERS, st.floats(1.0, 20.0))
def test_a_temperature_above_one_softens_and_keeps_the_order_of_classes(members, temperature):
    softer = CategoricalRecalibration(temperature, 1.0).apply(members)
    assert (softer.max(axis=2) <= members.max(axis=2) + 1e-12).all()
    order = np.argsort(members, axis=2)
    assert (np.diff(np.take_along_axis(softer, order, axis=2), axis=2) >= -1e-12).all()


def test_one_member_has_no_spread_to_change():
    members = np.array([[[0.9, 0.1]]])
    np.testing.assert_array_equal(CategoricalRecalibration(1.0, 9.0).apply(members), members)


@given(st.integers(0, 1000), st.floats(0.2, 5.0))
def test_the_temperature_is_never_below_one_and_never_worse_than_one(seed, sharpness):
    random = np.random.default_rng(seed)
    scores = random.normal(size=(60, 3))
    codes = np.array([random.choice(3, p=row) for row in probabilities_of(scores)])
    predicted = probabilities_of(sharpness * scores)
    temperature, loss = fit_temperature_above_one(predicted, codes, np.ones(60))
    assert temperature >= 1.0
    assert loss <= -np.log(predicted[np.arange(60), codes]).mean() + 1e-12


def test_the_temperature_of_overconfident_probabilities_is_recovered():
    random = np.random.default_rng(0)
    scores = random.normal(size=(5000, 3))
    codes = np.array([random.choice(3, p=row) for row in probabilities_of(scores)])
    assert fit_temperature_above_one(probabilities_of(3 * scores), codes, np.ones(5000))[0] == pytest.approx(3, rel=0.1)
    assert fit_temperature_above_one(probabilities_of(scores / 3), codes, np.ones(5000))[0] == 1.0


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_a_recalibrated_classifier_predicts_about_the_same_probabilities(task):
    model = fitted(task)
    found = model.out_of_fold_.recalibration
    raw = model.forest_.predict(X, prefixes=model.prefixes_)
    tempered = CategoricalRecalibration(found.temperature, 1.0).apply(raw).mean(axis=0)
    np.testing.assert_allclose(model.predict_proba(X), tempered, atol=1e-2)
    assert found.temperature >= 1.0
    assert found.knowledge != 1.0


def test_a_classifier_of_noise_is_made_less_sure():
    y = np.random.default_rng(1).permutation(target_for("binary", Y))
    one, other = (model_of("binary", n_estimators=60, learning_rate=0.5, out_of_fold=k).fit(X, y) for k in (0, 4))
    assert other.out_of_fold_.recalibration.temperature > 1.2
    assert other.predict_proba(X).max(axis=1).mean() < one.predict_proba(X).max(axis=1).mean() - 0.1


# Disagreement


def chains_of_averages(rows_variance, seed_variance, *, n_rows=400, n_targets=1, seed=0):
    """Return a plan and the predictions of chains that are averages over their rows plus noise of their seed.

    The variance of an average of all rows is `rows_variance`.
    """
    random = np.random.default_rng(seed)
    fold = random.permutation(n_rows) % 4
    plan = OutOfFoldPlan.of_folds(fold)
    values = np.sqrt(rows_variance * n_rows) * random.normal(size=(n_rows, n_rows, n_targets))  # at each row to predict
    trains = (plan.trains[0], plan.trains[1], *plan.extra_trains)
    noise = np.sqrt(seed_variance) * random.normal(size=(4, n_rows, n_targets))
    return plan, [values[:, train].mean(axis=1) + own for train, own in zip(trains, noise, strict=True)]


@pytest.mark.parametrize(("rows", "seeds"), [(1.0, 1.0), (4.0, 0.5), (0.0, 2.0), (0.3, 3.0)])
def test_variances_over_rows_and_seeds_are_recovered_from_averages(rows, seeds):
    found = []
    for seed in range(8):
        plan, predictions = chains_of_averages(rows, seeds, seed=seed)
        found.append(measure_disagreement(plan, predictions, np.ones(400), lambda a, b: squares(a, b)[:, 0]))
    assert np.mean([one.seeds for one in found]) == pytest.approx(seeds, rel=0.15)
    assert np.mean([one.rows for one in found]) == pytest.approx(rows, rel=0.25, abs=0.25 * seeds)


def test_only_rows_that_both_chains_have_not_seen_are_compared():
    plan, predictions = chains_of_averages(1.0, 1.0)
    expected = measure_disagreement(plan, predictions, np.ones(400), lambda a, b: squares(a, b)[:, 0])
    seen = [plan.trains[0], plan.trains[1], *plan.extra_trains]
    for prediction, train in zip(predictions, seen, strict=True):
        prediction[train] = np.nan
    assert measure_disagreement(plan, predictions, np.ones(400), lambda a, b: squares(a, b)[:, 0]) == expected


def test_chains_that_differ_by_rounding_have_a_finite_knowledge_factor():
    assert Disagreement(rows=1.0, seeds=5e-324).knowledge_factor <= 1e6 + 1


def test_chains_that_are_the_same_do_not_disagree():
    plan = OutOfFoldPlan.of_folds(np.arange(40) % 4)
    assert measure_disagreement(plan, [np.ones(40)] * 4, np.ones(40), squares) == AGREEMENT


def test_the_variance_over_rows_is_never_negative():
    plan, predictions = chains_of_averages(0.0, 5.0)
    predictions[3] = predictions[0]  # less different than two seeds
    found = measure_disagreement(plan, predictions, np.ones(400), lambda a, b: squares(a, b)[:, 0])
    assert found.rows >= 0.0


def test_knowledge_becomes_the_variance_between_ensembles_of_ten_on_other_rows():
    assert Disagreement(rows=2.0, seeds=4.0).knowledge_factor == pytest.approx(0.6)
    assert Disagreement(rows=2.0, seeds=4.0).excess(0.75) == pytest.approx(2.0 / 3.0 + 3.6)
    assert Disagreement(rows=2.0, seeds=0.0).knowledge_factor == pytest.approx(0.1)


@given(st.floats(0.0, 1e3), st.floats(0.0, 1e3), st.floats(0.0, 3.0))
def test_knowledge_of_classes_is_not_raised_above_half_of_the_entropy(rows, seeds, total):
    factor = knowledge_factor(Disagreement(rows, seeds), total)
    assert factor <= 1.0 or factor * seeds <= 0.5 * total * (1 + 1e-12)


@given(MEMBERS)
def test_the_distance_of_two_predictions_is_four_times_their_mutual_information(members):
    pair = members[:2]
    knowledge = Posterior(pair, "categorical").uncertainty().knowledge
    np.testing.assert_allclose(information_distance(*pair), 4.0 * knowledge, rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(information_distance(*pair), information_distance(*pair[::-1]))


# What it is for


@every_task
def test_knowledge_has_the_size_of_the_difference_between_models_of_other_rows(task):
    random = np.random.default_rng(3)
    models, known = [], []
    for _ in range(6):
        X_new = random.normal(size=(300, 3))
        y_new = X_new[:, 0] + 0.5 * random.normal(size=300)
        y_new = y_new if task == "regression" else np.digitize(y_new, [0.0] if task == "binary" else [-0.5, 0.5])
        model = model_of(task, n_members=10, n_estimators=40, learning_rate=0.1).fit(X_new, y_new)
        models.append(model.predict_posterior(X).mean)
        known.append(model.predict_uncertainty(X).knowledge.mean())
    family = "mean" if task == "regression" else "categorical"
    models = np.stack(models)[..., np.newaxis] if task == "regression" else np.stack(models)
    truth = Posterior(models, family).uncertainty().knowledge.mean() * 6 / 5
    assert truth / 2.5 < np.mean(known) < 2.5 * truth
