"""Every family of distributions agrees with scipy.stats and with itself."""

import numpy as np
import pytest
from scipy import stats

from epiboost._boosting.objectives import DISTRIBUTIONS, distribution_named
from tests.support.families import FAMILIES, frozen_of, parameters_of

WITH_SCIPY = [name for name in FAMILIES if FAMILIES[name].frozen is not None]
LEVELS = np.array([1e-6, 0.01, 0.2, 0.5, 0.8, 0.99, 1.0 - 1e-6])


def test_every_family_has_an_example():
    assert set(FAMILIES) == {"normal", *DISTRIBUTIONS} - {"poisson"}


@pytest.fixture(params=FAMILIES)
def name(request):
    """The name of a family."""
    return request.param


@pytest.fixture
def distribution(name):
    """The distribution of that name."""
    return distribution_named(name, FAMILIES[name].settings)


@pytest.fixture
def parameters(name):
    """Parameters of several distributions, shape (n, outputs)."""
    return parameters_of(name)


@pytest.fixture
def values(distribution, parameters):
    """Possible values of each distribution, in the middle and in the tails: shape (n, levels)."""
    return distribution.quantile(parameters[:, np.newaxis], LEVELS)


@pytest.mark.parametrize("name", WITH_SCIPY)
class TestAgainstScipy:
    """What scipy.stats computes, too."""

    def test_densities_and_tails(self, name, distribution, parameters, values):
        beside = parameters[:, np.newaxis]
        frozen = frozen_of(name, beside)
        expected = frozen.logpmf(values) if distribution.is_discrete else frozen.logpdf(values)
        np.testing.assert_allclose(distribution.logpdf(beside, values), expected, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(distribution.cdf(beside, values), frozen.cdf(values), rtol=1e-6)
        np.testing.assert_allclose(distribution.sf(beside, values), frozen.sf(values), rtol=1e-6)

    def test_quantiles(self, name, parameters, values):
        np.testing.assert_allclose(values, frozen_of(name, parameters[:, np.newaxis]).ppf(LEVELS), rtol=1e-9)

    def test_moments_and_entropy(self, name, distribution, parameters):
        frozen = frozen_of(name, parameters)
        np.testing.assert_allclose(distribution.mean(parameters), frozen.mean(), rtol=1e-12)
        np.testing.assert_allclose(distribution.variance(parameters), frozen.var(), rtol=1e-6)
        np.testing.assert_allclose(distribution.entropy(parameters), frozen.entropy(), rtol=1e-6, atol=1e-6)


def test_the_tails_of_a_value_add_up_to_one(distribution, parameters, values):
    beside = parameters[:, np.newaxis]
    np.testing.assert_allclose(distribution.cdf(beside, values) + distribution.sf(beside, values), 1.0, rtol=1e-12)


def test_the_quantile_is_the_smallest_value_that_reaches_its_level(distribution, parameters, values):
    beside = parameters[:, np.newaxis]
    assert (np.diff(values, axis=1) >= 0.0).all()
    if distribution.is_discrete:
        assert (distribution.cdf(beside, values) >= LEVELS).all()
        assert (distribution.cdf(beside, values - 1.0) < LEVELS).all()
    else:
        np.testing.assert_allclose(distribution.cdf(beside, values), np.broadcast_to(LEVELS, values.shape), rtol=1e-5)


def test_draws_have_the_distribution(distribution, parameters):
    rng = np.random.default_rng(0)
    n = 4000
    for one in parameters:
        drawn = distribution.sample(np.broadcast_to(one, (n, len(one))), rng)
        assert drawn.shape == (n,)
        if distribution.is_discrete:  # spread the probability of each whole number over the level
            below = distribution.cdf(one, drawn - 1.0)
            levels = below + rng.random(n) * (distribution.cdf(one, drawn) - below)
        else:
            levels = distribution.cdf(one, drawn)
        assert stats.kstest(levels, "uniform").pvalue > 1e-3
        error = np.sqrt(distribution.variance(one) / n)
        assert abs(drawn.mean() - distribution.mean(one)) < 5.0 * error + 1e-12


def test_a_draw_of_one_distribution_is_one_number(distribution, parameters):
    assert np.shape(distribution.sample(parameters[0], np.random.default_rng(0))) == ()


def test_parameters_are_those_of_their_link(distribution, parameters):
    link = distribution.link(parameters)
    assert link.shape in {(len(parameters), 1), (len(parameters), 2)}
    np.testing.assert_allclose(distribution.from_link(link, parameters), parameters, rtol=1e-9)
    members = np.stack([parameters, parameters])
    assert distribution.from_link(distribution.link(members), members).shape == members.shape


def test_a_larger_dispersion_widens_a_distribution_in_place(distribution, parameters):
    link = distribution.link(parameters)
    if link.shape[1] == 1:
        pytest.skip("the family has no dispersion")
    wider = distribution.from_link(link + np.array([0.0, 0.1]), parameters)
    assert (distribution.variance(wider) > distribution.variance(parameters)).all()
    np.testing.assert_allclose(distribution.link(wider)[:, 0], link[:, 0], rtol=1e-9, atol=1e-12)


def test_possible_parameters_pass_and_others_are_refused(name, distribution, parameters):
    distribution.check(parameters)
    distribution.check(parameters[:0])
    with pytest.raises(ValueError, match="must"):
        distribution.check(np.array([FAMILIES[name].parameters[0], FAMILIES[name].impossible]))


def test_numbers_outside_the_support_have_no_density(name, distribution, parameters):
    for outside in FAMILIES[name].outside:
        assert (distribution.logpdf(parameters, np.full(len(parameters), outside)) == -np.inf).all()


@pytest.mark.parametrize("extreme", [1e-30, 1.0, 1e30])
def test_densities_of_extreme_numbers_are_no_nan(distribution, parameters, extreme):
    with np.errstate(over="ignore"):
        for y in (extreme, -extreme, 0.0):
            beside = np.full(len(parameters), y)
            assert not np.isnan(distribution.logpdf(parameters, beside)).any()
            levels = distribution.cdf(parameters, beside)
            assert ((levels >= 0.0) & (levels <= 1.0)).all()


def test_a_name_of_no_family_is_refused():
    with pytest.raises(ValueError, match="unknown distribution 'cauchy'; known are 'normal', "):
        distribution_named("cauchy")
