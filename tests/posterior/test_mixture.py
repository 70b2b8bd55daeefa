"""Quantiles of mixtures of Normals are exact, do not cross, and treat point masses as jumps."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.optimize import brentq
from scipy.stats import norm

from epiboost._posterior import mixture as mixture_module
from tests.support.posteriors import (
    law,
    means,
    mixtures,
    normal_posterior,
    one_sample,
    probabilities,
    standard_deviations,
)


@law
@given(mixtures(), probabilities)
def test_the_distribution_function_inverts_the_quantile(mixture, q):
    posterior = normal_posterior(*mixture)
    np.testing.assert_allclose(posterior.cdf(posterior.quantile(q)), q, rtol=0, atol=1e-9)


@law
@given(mixtures(), arrays(np.float64, st.integers(2, 8), elements=probabilities))
def test_quantiles_never_cross(mixture, q):
    quantiles = normal_posterior(*mixture).quantile(q)
    assert (np.diff(quantiles[:, np.argsort(q)], axis=1) >= 0.0).all()


def test_quantiles_of_neighbouring_probabilities_never_cross():
    generator = np.random.default_rng(0)
    posterior = normal_posterior(
        generator.normal(scale=10.0, size=(7, 200)), generator.uniform(0.1, 2.0, size=(7, 200))
    )
    q = [0.3]
    for _ in range(40):
        q.append(np.nextafter(q[-1], 1.0))
    assert (np.diff(posterior.quantile(q), axis=1) >= 0.0).all()


@law
@given(means, standard_deviations, st.floats(1e-300, 1.0, exclude_max=True))
def test_one_member_has_the_quantiles_of_a_normal(mean, std, q):
    posterior = one_sample((mean, std**2))
    np.testing.assert_allclose(posterior.quantile(q), norm.ppf(q, mean, np.sqrt(std**2)), rtol=1e-13)


@law
@given(means, standard_deviations, probabilities, st.integers(2, 11))
def test_equal_members_have_the_quantiles_of_one(mean, std, q, n_members):
    one, many = one_sample((mean, std**2)), one_sample(*[(mean, std**2)] * n_members)
    np.testing.assert_array_equal(many.quantile(q), one.quantile(q))


@law
@given(mixtures(), probabilities, st.floats(0.1, 10.0), st.floats(-100.0, 100.0))
def test_quantiles_follow_scale_and_shift(mixture, q, scale, shift):
    mean, std = mixture
    before = normal_posterior(mean, std)
    after = normal_posterior(scale * mean + shift, scale * std)
    # Between modes the distribution function is flat and its inverse ill-conditioned, so probabilities are compared.
    np.testing.assert_allclose(before.cdf((after.quantile(q) - shift) / scale), q, rtol=0, atol=1e-9)


@law
@given(mixtures(), st.floats(1e-6, 0.499))
def test_quantiles_of_the_mirrored_mixture_are_mirrored(mixture, q):
    mean, std = mixture
    np.testing.assert_array_equal(
        normal_posterior(-mean, std).quantile(1.0 - (1.0 - q)), -normal_posterior(mean, std).quantile(1.0 - q)
    )


@law
@given(mixtures(), probabilities, st.data())
def test_the_order_of_members_is_irrelevant(mixture, q, data):
    mean, std = mixture
    order = data.draw(st.permutations(range(len(mean))))
    posterior = normal_posterior(mean, std)
    np.testing.assert_allclose(
        posterior.cdf(normal_posterior(mean[order], std[order]).quantile(q)), q, rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("q", [1e-9, 0.05, 0.5, 0.77, 0.999])
def test_quantiles_equal_the_roots_that_scipy_finds(q):
    generator = np.random.default_rng(0)
    mean, std = generator.normal(scale=2.0, size=(5, 30)), generator.uniform(0.5, 3.0, size=(5, 30))
    expected = [
        brentq(lambda x, m=m, s=s: norm.cdf(x, m, s).mean() - q, -100.0, 100.0, xtol=1e-14, rtol=1e-14)
        for m, s in zip(mean.T, std.T, strict=True)
    ]
    np.testing.assert_allclose(normal_posterior(mean, std).quantile(q), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("q", [1e-300, 1e-30, 1e-12])
def test_the_far_tail_is_not_lost_to_rounding(q):
    posterior = normal_posterior(np.array([[0.0], [5.0], [-3.0]]), np.array([[1.0], [2.0], [0.1]]))
    np.testing.assert_allclose(posterior.cdf(posterior.quantile(q)), q, rtol=1e-9)


def test_quantiles_resolve_distant_narrow_members():
    posterior = one_sample((0.0, 1e-16), (1e6, 1e-4), (-1e6, 1.0), (2e6, 25.0))
    q = [0.125, 0.375, 0.625, 0.875]
    np.testing.assert_allclose(posterior.quantile(q), [[-1e6, 0.0, 1e6, 2e6]], rtol=1e-12, atol=1e-12)


def test_extreme_magnitudes_do_not_overflow():
    posterior = one_sample((1e308, 1e300), (-1e308, 1e-300), (1e308, 1.0))
    quantiles = posterior.quantile([0.1, 0.5, 0.9])
    assert np.isfinite(quantiles).all()
    np.testing.assert_allclose(quantiles[0, [0, 2]], [-1e308, 1e308], rtol=1e-12)


def test_a_quantile_does_not_depend_on_the_length_of_the_table():
    generator = np.random.default_rng(0)
    mean, std = generator.normal(size=(3, 9_000)), generator.uniform(0.1, 2.0, size=(3, 9_000))
    rows = [0, 4_095, 4_096, 8_191, 8_192, 8_999]
    all_rows, few = normal_posterior(mean, std), normal_posterior(mean[:, rows], std[:, rows])
    np.testing.assert_array_equal(all_rows.quantile([0.1, 0.8])[rows], few.quantile([0.1, 0.8]))


@pytest.mark.parametrize("point_masses", [0, 1], ids=["normals", "a point mass"])
def test_a_quantile_takes_few_evaluations(monkeypatch, point_masses):
    evaluations = []
    probit = mixture_module._probit

    def counting_probit(x, mean, std):
        evaluations.append(x.size)
        return probit(x, mean, std)

    monkeypatch.setattr(mixture_module, "_probit", counting_probit)
    generator = np.random.default_rng(0)
    mean, std = generator.normal(size=(10, 4_000)), generator.gamma(1.0, size=(10, 4_000))
    std[:point_masses] = 0.0
    normal_posterior(mean, std).quantile(0.95)
    assert sum(evaluations) < 8 * 4_000
    assert len(evaluations) < 40


def test_quantiles_have_the_order_of_the_probabilities():
    posterior = one_sample((0.0, 1.0), (1.0, 1.0))
    low, high = posterior.quantile(0.1), posterior.quantile(0.9)
    np.testing.assert_array_equal(posterior.quantile([0.9, 0.1, 0.9]), np.stack([high, low, high], axis=1))


@pytest.mark.parametrize(("q", "shape"), [(0.5, (4,)), ([0.5], (4, 1)), ([0.1, 0.5, 0.9], (4, 3)), ([], (4, 0))])
def test_quantiles_have_one_column_per_probability(q, shape):
    assert normal_posterior(np.zeros((2, 4)), np.ones((2, 4))).quantile(q).shape == shape


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, np.nan, [0.5, 1.0]])
def test_a_probability_outside_zero_and_one_is_refused(q):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        one_sample((0.0, 1.0)).quantile(q)


def test_a_table_of_probabilities_is_refused():
    with pytest.raises(ValueError, match=r"one-dimensional, got the shape \(1, 1\)"):
        one_sample((0.0, 1.0)).quantile([[0.5]])


@law
@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=10), elements=st.integers(-3, 3)), st.data())
def test_point_masses_have_the_quantiles_of_a_sample(points, data):
    n_members = len(points)
    rank = data.draw(st.integers(1, n_members))
    q = data.draw(st.sampled_from([rank / n_members, (rank - 0.5) / n_members]))
    assume(q < 1.0)
    posterior = normal_posterior(points, np.zeros_like(points))
    np.testing.assert_array_equal(posterior.quantile(q), np.sort(points, axis=0)[rank - 1])


def test_a_point_mass_in_a_normal_is_a_jump_of_the_distribution():
    posterior = one_sample((0.0, 0.0), (0.0, 1.0))
    quantiles = posterior.quantile([0.2, 0.25, 0.5, 0.75, 0.8])
    np.testing.assert_allclose(quantiles, [[norm.ppf(0.4), 0.0, 0.0, 0.0, norm.ppf(0.6)]], rtol=1e-12, atol=1e-14)


@law
@given(mixtures(), probabilities, st.data())
def test_the_quantile_is_the_smallest_value_of_sufficient_probability(mixture, q, data):
    mean, std = mixture
    std = np.where(data.draw(arrays(np.bool_, std.shape)), 0.0, std)
    posterior = normal_posterior(mean, std)
    quantile = posterior.quantile(q)
    just_before = quantile - 1e-9 * (1.0 + np.abs(quantile))
    assert (posterior.cdf(quantile) >= q - 1e-9).all()
    assert (posterior.cdf(just_before) <= q).all()


def test_a_normal_narrower_than_rounding_still_reaches_its_probability():
    posterior = one_sample((1.0, 1e-60), (2.0, 1e-60))
    quantile = posterior.quantile(0.3)
    assert posterior.cdf(quantile) >= 0.3
    np.testing.assert_allclose(quantile, 1.0, rtol=1e-15)


def test_samples_with_and_without_point_masses_can_be_mixed():
    mean = np.array([[0.0, 0.0], [2.0, 2.0]])
    points, normals, both = np.zeros((2, 2)), np.ones((2, 2)), np.array([[0.0, 1.0], [0.0, 1.0]])
    expected = [normal_posterior(mean, points).quantile(0.9)[0], normal_posterior(mean, normals).quantile(0.9)[1]]
    np.testing.assert_array_equal(normal_posterior(mean, both).quantile(0.9), expected)
