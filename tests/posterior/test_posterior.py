"""Intervals, densities, moments and class probabilities of a posterior, and the parameters that it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from epiboost import Posterior
from tests.support.posteriors import law, means, mixtures, normal_posterior, one_sample


@pytest.fixture
def classes():
    return Posterior(np.array([[[0.9, 0.1, 0.0], [0.2, 0.2, 0.6]], [[0.5, 0.5, 0.0], [0.2, 0.4, 0.4]]]), "categorical")


@law
@given(mixtures(), st.floats(0.01, 0.99))
def test_an_interval_has_its_coverage(mixture, coverage):
    posterior = normal_posterior(*mixture)
    interval = posterior.interval(coverage)
    tails = posterior.cdf(interval)
    np.testing.assert_allclose(tails[:, 1] - tails[:, 0], coverage, rtol=0, atol=1e-9)
    np.testing.assert_allclose(tails[:, 0], (1.0 - coverage) / 2, rtol=0, atol=1e-9)


def test_an_interval_contains_its_share_of_random_draws():
    generator = np.random.default_rng(0)
    mean, std = np.array([[0.0], [4.0], [5.0]]), np.array([[1.0], [0.5], [3.0]])
    draws = generator.normal(mean, std, size=(100_000, 3, 1)).ravel()
    ((low, high),) = normal_posterior(mean, std).interval()
    assert np.mean((low <= draws) & (draws <= high)) == pytest.approx(0.9, abs=0.005)


def test_the_largest_coverage_below_one_has_an_interval():
    assert np.isfinite(one_sample((0.0, 1.0), (1.0, 1.0)).interval(np.nextafter(1.0, 0.0))).all()


def test_intervals_of_many_coverages_equal_single_ones_and_are_nested():
    posterior = Posterior(np.array([[[0.0, 1.0], [3.0, 0.5]], [[4.0, 1.0], [3.0, 2.0]]]), "normal")
    coverages = [0.9, 0.2, 0.5]
    many = posterior.interval(coverages)
    assert many.shape == (2, 3, 2)
    for place, coverage in enumerate(coverages):
        np.testing.assert_array_equal(many[:, place], posterior.interval(coverage))
    ordered = many[:, np.argsort(coverages)]
    assert (np.diff(ordered[..., 0], axis=1) <= 0.0).all()
    assert (np.diff(ordered[..., 1], axis=1) >= 0.0).all()


@pytest.mark.parametrize("coverage", [0.0, 1.0, 1.5, np.nan, [], [[0.5]], [0.5, 1.0]])
def test_a_coverage_outside_zero_and_one_is_refused(coverage):
    with pytest.raises(ValueError, match="coverage must be a number, or a sequence of them, strictly between 0 and 1"):
        one_sample((0.0, 1.0)).interval(coverage)


@law
@given(mixtures(), means)
def test_distribution_and_density_are_averages_of_the_members(mixture, y):
    mean, std = mixture
    std = np.sqrt(np.square(std))
    posterior = normal_posterior(mean, std)
    np.testing.assert_allclose(posterior.cdf(y), norm.cdf(y, mean, std).mean(axis=0), rtol=1e-9, atol=1e-15)
    expected = np.logaddexp.reduce(norm.logpdf(y, mean, std), axis=0) - np.log(len(mean))
    np.testing.assert_allclose(posterior.logpdf(y), expected, rtol=1e-9, atol=1e-9)


def test_a_target_far_from_all_members_has_a_finite_log_density():
    assert one_sample((0.0, 1.0), (1.0, 1.0)).logpdf(1e3) == pytest.approx(-0.5 * 999**2 - 0.5 * np.log(8 * np.pi))


def test_a_point_mass_has_infinite_density_at_its_mean_only():
    points = one_sample((1.0, 0.0), (1.0, 0.0))
    np.testing.assert_array_equal(points.logpdf([[1.0, 2.0]]), [[np.inf, -np.inf]])
    np.testing.assert_array_equal(points.cdf([[0.0, 1.0, 2.0]]), [[0.0, 1.0, 1.0]])
    mixed = one_sample((1.0, 0.0), (0.0, 1.0))
    assert mixed.logpdf(0.0) == pytest.approx(norm.logpdf(0.0) - np.log(2))


def test_the_density_of_nan_is_nan():
    for posterior in (one_sample((1.0, 0.0)), one_sample((0.0, 1.0)), one_sample((1.0, 0.0), (0.0, 1.0))):
        assert np.isnan(posterior.cdf(np.nan)).all()
        assert np.isnan(posterior.logpdf(np.nan)).all()


@pytest.mark.parametrize(("y", "shape"), [(0.0, (3,)), (np.zeros(3), (3,)), (np.zeros((3, 2)), (3, 2))])
def test_y_is_one_value_one_per_sample_or_several_per_sample(y, shape):
    posterior = normal_posterior(np.zeros((2, 3)), np.ones((2, 3)))
    assert posterior.cdf(y).shape == posterior.logpdf(y).shape == shape


@pytest.mark.parametrize("y", [np.zeros(2), np.zeros((2, 3)), np.zeros((3, 1, 1))])
@pytest.mark.parametrize("method", ["cdf", "logpdf"])
def test_a_y_of_the_wrong_shape_is_refused(method, y):
    posterior = normal_posterior(np.zeros((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"of shape \(3,\) or \(3, k\), got"):
        getattr(posterior, method)(y)


def test_the_moments_of_a_normal_are_those_of_the_mixture():
    posterior = normal_posterior(np.array([[0.0, 1.0], [4.0, 1.0]]), np.array([[1.0, 2.0], [3.0, 2.0]]))
    np.testing.assert_allclose(posterior.mean, [2.0, 1.0])
    np.testing.assert_allclose(posterior.std, [3.0, 2.0])
    np.testing.assert_allclose(posterior.uncertainty().knowledge, [4.0, 0.0])
    assert (posterior.n_members, posterior.n_samples) == (2, 2)


def test_the_mean_of_classes_is_the_average_probability(classes):
    np.testing.assert_allclose(classes.mean, [[0.7, 0.3, 0.0], [0.2, 0.3, 0.5]])
    assert classes.uncertainty().unit == "nats"


def test_the_log_probability_of_a_class_is_that_of_the_average(classes):
    np.testing.assert_allclose(classes.log_probability([1, 2]), np.log([0.3, 0.5]))


def test_a_class_of_probability_zero_has_log_probability_minus_infinity(classes):
    np.testing.assert_allclose(classes.log_probability([2, 0]), [-np.inf, np.log(0.2)])


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, 3], "from 0 to 2, got values from 0 to 3"),
        ([-1, 0], "from 0 to 2, got values from -1 to 0"),
        ([0.0, 1.0], r"integers of shape \(2,\), got float64"),
        ([True, False], r"integers of shape \(2,\), got bool"),
        ([0], r"got int64 of shape \(1,\)"),
    ],
)
def test_codes_that_are_not_positions_of_classes_are_refused(classes, codes, message):
    with pytest.raises(ValueError, match=message):
        classes.log_probability(codes)


@pytest.mark.parametrize(
    "method",
    [
        lambda posterior: posterior.std,
        lambda posterior: posterior.quantile(0.5),
        lambda posterior: posterior.interval(),
        lambda posterior: posterior.cdf(0.0),
        lambda posterior: posterior.logpdf(0.0),
    ],
    ids=["std", "quantile", "interval", "cdf", "logpdf"],
)
def test_methods_of_a_normal_are_refused_for_classes(classes, method, request):
    with pytest.raises(
        ValueError, match=f"{request.node.callspec.id} needs a posterior of numbers, got a categorical one"
    ):
        method(classes)


def test_methods_of_classes_are_refused_for_a_normal():
    with pytest.raises(ValueError, match="log_probability needs a categorical posterior, got a normal one"):
        one_sample((0.0, 1.0)).log_probability([0])


@pytest.mark.parametrize(
    ("parameters", "family", "message"),
    [
        (np.zeros((2, 2)), "normal", r"\(members, samples, outputs\), got \(2, 2\)"),
        (np.zeros((0, 2, 2)), "normal", "at least one member"),
        (np.zeros((1, 2, 3)), "normal", "two outputs"),
        (np.full((1, 1, 2), -1.0), "normal", r"variances must not be negative, got -1\.0"),
        (np.full((1, 1, 2), np.nan), "normal", "must be finite, got 2 values"),
        (np.full((1, 1, 2), np.inf), "normal", "must be finite, got 2 values"),
        (np.ones((1, 1, 1)), "categorical", "two or more outputs"),
        (np.array([[[1.5, -0.5]]]), "categorical", r"probabilities must not be negative, got -0\.5"),
        (np.full((1, 1, 3), 0.5), "categorical", r"add up to 1, got a sum of 1\.5"),
        (np.zeros((1, 1, 2)), "gamma", "got 'gamma'"),
    ],
)
def test_parameters_that_are_not_a_distribution_are_refused(parameters, family, message):
    with pytest.raises(ValueError, match=message):
        Posterior(parameters, family)


def test_probabilities_of_single_precision_are_accepted():
    logits = np.random.default_rng(0).normal(size=(2, 5, 1000)).astype(np.float32)
    exponentials = np.exp(logits)
    posterior = Posterior(exponentials / exponentials.sum(axis=2, keepdims=True), "categorical")
    assert posterior.parameters.dtype == np.float64


@pytest.mark.parametrize("family", ["normal", "categorical"])
def test_a_posterior_of_zero_samples_works(family):
    posterior = Posterior(np.empty((3, 0, 2)), family)
    assert len(posterior.uncertainty()) == 0
    assert posterior.mean.shape == ((0,) if family == "normal" else (0, 2))
    if family == "normal":
        assert posterior.interval().shape == (0, 2)
        assert posterior.logpdf(1.0).shape == (0,)
    else:
        assert posterior.log_probability(np.empty(0, dtype=int)).shape == (0,)


def test_a_posterior_is_immutable():
    with pytest.raises(AttributeError):
        one_sample((0.0, 1.0)).family = "categorical"
