"""What out-of-fold chains say of censored durations: levels of quantiles, losses and averaging."""

import numpy as np
import pytest

from epiboost._boosting.objectives import CENSORED, distribution_of, log_likelihood
from epiboost._estimators.out_of_fold.censored import average, averaging_gain, censored_mixture, least_loss
from epiboost._estimators.out_of_fold.disagreement import Disagreement
from epiboost._estimators.out_of_fold.number_fit import UnseenTargets, fit_numbers
from epiboost._estimators.out_of_fold.probability_levels import ProbabilityLevels

Q = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
N = 4000


def censored(family, shift, seed=0):
    """Return bounds whose log dispersion is off by a shift, and the parameters that a chain predicts for them."""
    rng = np.random.default_rng(seed)
    distribution = distribution_of(CENSORED[family])
    link = np.stack([rng.normal(size=N), 0.3 * rng.normal(size=N) - 0.5], axis=1)
    predicted = distribution.from_link(link, link)
    true = distribution.from_link(link + np.array([0.0, shift]), predicted)
    duration, end = distribution.sample(true, rng), rng.exponential(2.0, size=N)
    bounds = np.stack([np.minimum(duration, end), np.where(duration <= end, duration, np.inf)], axis=1)
    return bounds, predicted


def test_levels_of_observed_rows_are_their_quantiles():
    found = np.random.default_rng(0).beta(2.0, 3.0, size=N)
    levels = ProbabilityLevels.of_bounds(found, found, np.ones(N))
    np.testing.assert_allclose(levels.at(Q), np.quantile(found, Q), atol=2e-3)


@pytest.mark.parametrize("kind", ["right", "left", "interval"])
def test_levels_of_censored_rows_are_those_of_the_complete_ones(kind):
    rng = np.random.default_rng(0)
    level, other = rng.beta(2.0, 3.0, size=N), rng.uniform(size=(2, N))
    if kind == "interval":
        low, high = np.sort(other, axis=0)
        lower = np.select([level < low, level < high], [np.zeros(N), low], high)
        upper = np.select([level < low, level < high], [low, high], np.ones(N))
    else:
        end, is_known = other[0], other[0] > level if kind == "right" else other[0] < level
        lower = np.where(is_known, level, end if kind == "right" else 0.0)
        upper = np.where(is_known, level, 1.0 if kind == "right" else end)
    levels = ProbabilityLevels.of_bounds(lower, upper, np.ones(N))
    np.testing.assert_allclose(levels.at(Q), np.quantile(level, Q), atol=0.03)


def test_levels_stay_uniform_where_nothing_is_known():
    level = np.linspace(0.0, 1.0, N)
    lower, upper = np.minimum(level, 0.4), np.where(level < 0.4, level, 1.0)
    levels = ProbabilityLevels.of_bounds(lower, upper, np.ones(N))
    np.testing.assert_allclose(levels.at(Q), Q, atol=0.01)


@pytest.mark.parametrize("shift", [-0.5, 0.0, 0.7])
@pytest.mark.parametrize("family", sorted(CENSORED))
def test_recalibration_finds_the_dispersion_behind_the_censoring(family, shift):
    bounds, predicted = censored(family, shift)
    assert 0.2 < np.isinf(bounds[:, 1]).mean() < 0.7
    unseen = UnseenTargets(CENSORED[family], (), bounds, np.ones(N), predicted)
    recalibration, changed = fit_numbers(unseen, 0.75, Disagreement(0.0, 0.0))
    assert recalibration.shift == pytest.approx(shift, abs=0.06)
    before, after = (log_likelihood(CENSORED[family], unseen.distribution, one, bounds) for one in (predicted, changed))
    assert after.mean() >= before.mean()


@pytest.mark.parametrize("family", sorted(CENSORED))
def test_the_least_loss_is_that_of_the_right_dispersion(family):
    bounds, predicted = censored(family, 0.75)
    distribution = distribution_of(CENSORED[family])
    right = distribution.from_link(distribution.link(predicted) + np.array([0.0, 0.75]), predicted)
    expected = -log_likelihood(CENSORED[family], distribution, right, bounds).mean()
    assert least_loss(CENSORED[family], predicted, bounds, np.ones(N)) == pytest.approx(expected, abs=2e-3)


def test_the_gain_of_averaging_is_what_chains_lose_by_their_differences():
    bounds, predicted = censored("lognormal", 0.0)
    bounds[:, 1] = bounds[:, 0] = np.random.default_rng(3).lognormal(predicted[:, 0], np.sqrt(predicted[:, 1]))
    noise = 0.3 * np.sqrt(predicted[:, 1]) * np.random.default_rng(1).normal(size=(40, N))
    chains = np.stack([predicted + np.stack([one, np.zeros(N)], axis=1) for one in noise])
    distribution = distribution_of("censored_lognormal")
    alone, together = (
        -log_likelihood("censored_lognormal", distribution, one, bounds).mean()
        for one in (chains, average("censored_lognormal", chains))
    )
    gain = averaging_gain("censored_lognormal", chains[0], chains[1], bounds, np.ones(N))
    assert gain == pytest.approx(alone - together, rel=0.15)


def test_the_mixture_of_equal_members_is_one_of_them():
    bounds, predicted = censored("weibull", 0.0)
    found = censored_mixture("censored_weibull", np.stack([predicted] * 3), bounds)
    distribution = distribution_of("censored_weibull")
    np.testing.assert_allclose(found, log_likelihood("censored_weibull", distribution, predicted, bounds), atol=1e-12)
