"""Intervals, quantiles and sets of a model with out-of-fold chains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from epiboost._estimators.conformal import conformal_quantile
from epiboost._estimators.out_of_fold.residual_shape import ResidualShape, weighted_order
from epiboost.metrics import interval_coverage_score
from tests.support.calibration import LABELS, TARGETS, TEST, TRAIN, X, Y
from tests.support.out_of_fold import model_of

RATIOS = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=60)
LEVELS = st.floats(1e-12, 1 - 1e-12)
SIZE = {"n_members": 5, "n_estimators": 40, "learning_rate": 0.1}


@pytest.fixture(scope="module")
def regressor():
    return model_of("regression", **SIZE, keep_folds=True).fit(X[TRAIN], TARGETS["regressor"][TRAIN])


@pytest.fixture(scope="module")
def classifier():
    return model_of("multiclass", **SIZE, keep_folds=True).fit(X[TRAIN], LABELS[TRAIN])


# Quantiles of residuals


@given(RATIOS, st.lists(LEVELS, min_size=2, max_size=20))
def test_quantiles_of_residuals_ascend(ratios, levels):
    found = ResidualShape.of(np.array(ratios)).quantile(np.sort(levels))
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0.0).all()


@given(RATIOS, st.floats(0.01, 0.99))
def test_an_interval_holds_at_least_its_share_of_the_residuals_with_one_more(ratios, coverage):
    shape = ResidualShape.of(np.array(ratios))
    low, high = shape.quantile(np.array([(1 - coverage) / 2, (1 + coverage) / 2]))
    inside = ((shape.ratios >= low) & (shape.ratios <= high)).sum()
    assert inside + 1 >= coverage * (len(ratios) + 1) - 1e-6


@given(RATIOS, LEVELS)
def test_mirrored_residuals_have_mirrored_quantiles(ratios, level):
    shape, mirrored = ResidualShape.of(np.array(ratios)), ResidualShape.of(-np.array(ratios))
    if abs(level - 0.5) > 1e-9:
        assert shape.quantile(np.array(level)) == pytest.approx(-mirrored.quantile(np.array(1 - level)), rel=1e-4)


@pytest.mark.parametrize("n", [5, 40, 500])
def test_quantiles_are_ranks_among_the_residuals_and_one_more(n):
    shape = ResidualShape.of(np.random.default_rng(0).permutation(np.arange(1.0, n + 1)))
    ranks = np.arange(1, n + 1)
    np.testing.assert_array_equal(shape.quantile(ranks / (n + 1)), ranks)


@pytest.mark.parametrize("extreme", [0.2, 3.0])
def test_tails_go_on_in_proportion_to_those_of_a_normal(extreme):
    shape = ResidualShape.of(np.linspace(-extreme, extreme, 99))
    levels = np.array([0.995, 0.9999, 1 - 1e-9])
    expected = max(extreme, 1.0) * ndtri(levels) / ndtri(0.99)
    np.testing.assert_allclose(shape.quantile(levels), expected)
    np.testing.assert_allclose(shape.quantile(1 - levels), -expected)


def test_tails_of_residuals_on_one_side_of_zero_go_outwards():
    shape = ResidualShape.of(np.linspace(5.0, 6.0, 99))
    assert shape.quantile(np.array(1e-6)) < -1.0
    assert shape.quantile(np.array(1 - 1e-6)) > 6.0


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.integers(1, 5)), min_size=1, max_size=60))
def test_a_weight_is_the_number_of_copies_of_a_residual(weighted):
    values, weight = np.array(weighted).T
    np.testing.assert_array_equal(weighted_order(values, weight), np.sort(np.repeat(values, weight.astype(int))))


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(1e-3, 1e6)), min_size=2, max_size=60))
def test_any_weights_keep_residuals_in_order_and_at_least_as_many(weighted):
    values, weight = np.array(weighted).T
    kept = weighted_order(values, weight)
    assert min(len(values), 2000) <= len(kept) <= 2000
    assert np.isin(kept, values).all()
    assert (np.diff(kept) >= 0.0).all()


def test_many_residuals_are_kept_as_evenly_spaced_quantiles():
    ratios = np.random.default_rng(0).standard_t(4, size=50_000)
    shape = ResidualShape.of(ratios)
    assert len(shape.ratios) == 2000
    levels = np.array([0.01, 0.05, 0.3, 0.5, 0.8, 0.99])
    np.testing.assert_allclose(shape.quantile(levels), np.quantile(ratios, levels), atol=0.02)


# Intervals of a regressor


@pytest.mark.parametrize("guarantee", [False, True])
def test_intervals_cover_new_rows_as_often_as_they_say(regressor, guarantee):
    coverages = np.array([0.5, 0.8, 0.9])
    found = interval_coverage_score(Y[TEST], regressor.predict_interval(X[TEST], coverages, guarantee=guarantee))
    assert 0.85 <= found[2] <= 0.96
    assert found == pytest.approx(coverages, abs=0.08)


@pytest.mark.parametrize("guarantee", [False, True])
def test_intervals_are_wider_where_the_noise_is_larger(regressor, guarantee):
    noisy = X[TEST][:, 0] > 0.0
    width = np.diff(regressor.predict_interval(X[TEST], guarantee=guarantee), axis=1)[:, 0]
    assert width[noisy].mean() > 2.5 * width[~noisy].mean()
    inside = regressor.predict_interval(X[TEST], 0.9, guarantee=guarantee)
    covered = (inside[:, 0] <= Y[TEST]) & (Y[TEST] <= inside[:, 1])
    assert min(covered[noisy].mean(), covered[~noisy].mean()) > 0.8


@pytest.mark.parametrize("guarantee", [False, True])
def test_ends_never_cross_and_a_larger_coverage_contains_a_smaller_one(regressor, guarantee):
    coverages = [0.001, 0.01, 0.05, 0.2, 0.4, 0.5, 0.6, 0.9, 0.99]
    intervals = regressor.predict_interval(X[TEST], coverages, guarantee=guarantee)
    assert intervals.shape == (len(X[TEST]), len(coverages), 2)
    assert (intervals[..., 0] <= intervals[..., 1]).all()
    assert (np.diff(intervals[..., 0], axis=1) <= 0.0).all()
    assert (np.diff(intervals[..., 1], axis=1) >= 0.0).all()


@pytest.mark.parametrize("guarantee", [False, True])
def test_several_coverages_are_the_intervals_of_each(regressor, guarantee):
    both = regressor.predict_interval(X[TEST], [0.5, 0.9], guarantee=guarantee)
    for place, coverage in enumerate([0.5, 0.9]):
        alone = regressor.predict_interval(X[TEST], coverage, guarantee=guarantee)
        assert alone.shape == (len(X[TEST]), 2)
        np.testing.assert_array_equal(both[:, place], alone)


def test_quantiles_are_the_mean_and_the_standardised_residuals_times_the_deviation(regressor):
    mean, std = regressor.predict(X[TEST], return_std=True)
    levels = np.array([0.02, 0.5, 0.7])
    ratios = ResidualShape(regressor.out_of_fold_.scores).quantile(levels)
    np.testing.assert_allclose(regressor.predict_quantile(X[TEST], levels), mean[:, None] + std[:, None] * ratios)
    np.testing.assert_allclose(regressor.predict_quantile(X[TEST], 0.7), mean + std * ratios[2])


def test_skewed_noise_gives_skewed_intervals():
    random = np.random.default_rng(0)
    y = X[:, 0] + random.exponential(size=len(X))
    model = model_of("regression", **SIZE).fit(X[TRAIN], y[TRAIN])
    low, high = model.predict_quantile(X[TEST], [0.05, 0.95]).T
    below, above = (y[TEST] < low).mean(), (y[TEST] > high).mean()
    assert below == pytest.approx(0.05, abs=0.03)
    assert above == pytest.approx(0.05, abs=0.03)
    mean = model.predict(X[TEST])
    assert (high - mean).mean() > 1.5 * (mean - low).mean()


def test_without_chains_quantiles_are_those_of_the_mixture():
    model = model_of("regression", **SIZE, out_of_fold=0).fit(X[TRAIN], Y[TRAIN])
    posterior = model.predict_posterior(X[TEST])
    np.testing.assert_array_equal(model.predict_quantile(X[TEST], [0.1, 0.9]), posterior.quantile([0.1, 0.9]))
    np.testing.assert_array_equal(model.predict_interval(X[TEST], 0.9), posterior.interval(0.9))


# Sets of a classifier


def holds_label(classifier, sets):
    return sets[np.arange(len(sets)), np.searchsorted(classifier.classes_, LABELS[TEST])]


@pytest.mark.parametrize("guarantee", [False, True])
def test_sets_hold_the_class_of_new_rows_as_often_as_they_say(classifier, guarantee):
    for coverage in (0.8, 0.9):
        found = holds_label(classifier, classifier.predict_set(X[TEST], coverage, guarantee=guarantee)).mean()
        assert coverage - 0.05 <= found <= coverage + 0.06


@pytest.mark.parametrize("guarantee", [False, True])
def test_sets_of_a_larger_coverage_contain_those_of_a_smaller_one(classifier, guarantee):
    coverages = [0.05, 0.3, 0.6, 0.9, 0.99]
    sets = classifier.predict_set(X[TEST], coverages, guarantee=guarantee)
    assert sets.shape == (len(X[TEST]), 5, 3)
    assert sets.dtype == bool
    assert (sets[:, 1:] >= sets[:, :-1]).all()
    np.testing.assert_array_equal(sets[:, 2], classifier.predict_set(X[TEST], 0.6, guarantee=guarantee))
    assert classifier.predict_set(X[TEST], 0.6, guarantee=guarantee).shape == (len(X[TEST]), 3)


@pytest.mark.parametrize("guarantee", [False, True])
def test_the_most_probable_class_is_in_every_set(classifier, guarantee):
    sets = classifier.predict_set(X[TEST], 0.01, guarantee=guarantee)
    most_probable = np.searchsorted(classifier.classes_, classifier.predict(X[TEST]))
    assert sets[np.arange(len(sets)), most_probable].all()
    assert (sets.sum(axis=1) == 1).all()


def test_a_class_is_in_the_set_if_its_probability_is_that_of_enough_true_classes(classifier):
    probability = classifier.predict_proba(X[TEST])
    limit = 1.0 - conformal_quantile(classifier.out_of_fold_.scores, 0.9)
    expected = (probability >= limit) | (probability == probability.max(axis=1, keepdims=True))
    np.testing.assert_array_equal(classifier.predict_set(X[TEST], 0.9), expected)


# Errors


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.1, 1.5, np.nan, [], [[0.5]], [0.5, 1.0]], ids=str)
@pytest.mark.parametrize("guarantee", [False, True])
def test_a_coverage_outside_zero_and_one_is_refused(regressor, classifier, coverage, guarantee):
    for predict in (regressor.predict_interval, classifier.predict_set):
        with pytest.raises(ValueError, match="coverage must be a number, or a sequence of them, strictly between"):
            predict(X[TEST], coverage, guarantee=guarantee)


def test_a_coverage_that_the_rows_cannot_give_is_refused_with_its_own_digits(regressor, classifier):
    with pytest.raises(ValueError, match=r"a coverage of 0\.999 cannot be guaranteed by 600 rows$"):
        regressor.predict_interval(X[TEST], 0.999, guarantee=True)
    with pytest.raises(ValueError, match=r"a coverage of 0\.999 cannot be guaranteed by 600 rows; at least 999 are"):
        classifier.predict_set(X[TEST], 0.999)
    assert classifier.predict_set(X[TEST], 0.999, guarantee=True).all()
    assert np.isfinite(regressor.predict_interval(X[TEST], 0.999)).all()


def test_a_guarantee_needs_kept_chains():
    regressor = model_of("regression").fit(X[TRAIN], Y[TRAIN])
    classifier = model_of("multiclass").fit(X[TRAIN], LABELS[TRAIN])
    for predict in (regressor.predict_interval, classifier.predict_set):
        with pytest.raises(ValueError, match="guarantee=True needs the chains of the folds; fit with keep_folds=True"):
            predict(X[TEST], guarantee=True)
