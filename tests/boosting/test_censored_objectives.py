"""Censored durations: gradients, likelihood, the Normal's hazard, and the native core against NumPy."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import erfcx

from epiboost._boosting.objectives import CENSORED, OBJECTIVES, objective_from_header
from epiboost._boosting.objectives.censored import censored_log_likelihood
from epiboost._native import native

KINDS = ("observed", "right", "left", "interval")
FAMILIES = sorted(CENSORED)
LARGEST_DEVIATION = {"lognormal": np.inf, "weibull": 2.5}


def cases(family, kind, n=2000, width=0.5):
    """Return an objective, scores and encoded bounds of one kind, all exact in single precision."""
    rng = np.random.default_rng(KINDS.index(kind))
    objective = OBJECTIVES[CENSORED[family]](0.3, 1.7)
    scores = rng.normal(size=(n, 2)) * [1.0, 0.5]
    lower = 1.5 * rng.normal(size=n)
    bounds = {
        "observed": (lower, lower),
        "right": (lower, np.full(n, np.inf)),
        "left": (np.full(n, -np.inf), lower),
        "interval": (lower, lower + width + rng.exponential(width, size=n)),
    }[kind]
    y = np.stack(bounds, axis=1)
    return objective, *(part.astype(np.float32).astype(np.float64) for part in (scores, y))


def deviations(objective, scores, y):
    """Return the largest finite deviation of each row."""
    found = (y - scores[:, :1]) * np.exp(-scores[:, 1:]) + objective.shift
    return np.where(np.isfinite(found), found, -np.inf).max(axis=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_gradient_is_the_slope_of_the_censored_loss_in_the_metric(family, kind):
    objective, scores, y = cases(family, kind)
    step = 1e-5
    slopes = [
        (objective.row_losses(scores + move, y) - objective.row_losses(scores - move, y)) / (2.0 * step)
        for move in np.eye(2) * step
    ]
    bounded = deviations(objective, scores, y) < LARGEST_DEVIATION[family]
    expected = np.stack(slopes, axis=1) * np.square(objective.noise_scale(scores))
    np.testing.assert_allclose(objective.gradient(scores, y)[bounded], expected[bounded], rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_native_core_has_the_same_gradients_and_losses(family, kind):
    objective, scores, y = cases(family, kind)
    correction = np.linspace(-0.5, 0.5, len(y)).astype(np.float32).astype(np.float64)
    location = (scores[:, 0] - correction).astype(np.float32)
    bounds = np.clip(y, -1e18, 1e18).T.astype(np.float32).ravel()
    gradient, noise_scale, losses = native().family_gradients(
        objective.code, np.array(objective.constants), scores.astype(np.float32), bounds, location
    )
    expected = objective.gradient(scores, y, scores[:, 0] - location)
    np.testing.assert_allclose(gradient, expected, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(noise_scale, objective.noise_scale(scores), rtol=1e-6)
    np.testing.assert_allclose(losses, objective.row_losses(scores, y), rtol=1e-5, atol=1e-5)


def test_losses_of_the_native_core_keep_their_digits_in_both_tails():
    z = np.concatenate([np.linspace(-30.0, 30.0, 2001), np.geomspace(30.0, 1e9, 100)]).astype(np.float32)
    no_bound, zeros = np.full_like(z, 1e18), np.zeros_like(z)
    scores, code = np.zeros((len(z), 2), dtype=np.float32), OBJECTIVES["censored_lognormal"](0.0, 1.0).code
    *_, of_right = native().family_gradients(code, [0.0, 1.0], scores, np.concatenate([z, no_bound]), zeros)
    *_, of_left = native().family_gradients(code, [0.0, 1.0], scores, np.concatenate([-no_bound, z]), zeros)
    np.testing.assert_allclose(of_right, -stats.norm.logsf(z.astype(np.float64)), rtol=1e-12)
    np.testing.assert_allclose(of_left, -stats.norm.logcdf(z.astype(np.float64)), rtol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_narrow_interval_is_learned_like_the_duration_in_it(family):
    objective, scores, y = cases(family, "observed")
    wide = y + np.array([-1e-4, 1e-4])
    np.testing.assert_allclose(objective.gradient(scores, wide), objective.gradient(scores, y), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("family", FAMILIES)
def test_extreme_rows_have_finite_gradients(family):
    objective = OBJECTIVES[CENSORED[family]](0.0, 1.0)
    extremes = np.array([1e-300, 1e-30, 1.0, 1e30, 1e300])
    lower, upper, first, second = (part.ravel() for part in np.meshgrid(extremes, extremes, [-50, 0, 50], [-20, 0, 20]))
    kept = lower <= upper
    bounds = objective.encode(np.stack([lower, upper], axis=1)[kept])
    scores = np.stack([first, second], axis=1)[kept].astype(float)
    for y in (bounds, np.where([True, False], bounds, np.inf), np.where([False, True], bounds, -np.inf)):
        assert np.isfinite(objective.gradient(scores, y)).all()
        found = native().family_gradients(
            objective.code,
            np.array(objective.constants),
            scores.astype(np.float32),
            np.clip(y, -1e18, 1e18).T.astype(np.float32).ravel(),
            scores[:, 0].astype(np.float32),
        )
        assert all(np.isfinite(part).all() for part in found[:2])


def test_the_hazard_of_a_normal_is_right_to_six_digits_in_both_tails():
    x = np.concatenate([np.linspace(-12.5, 12.5, 20_001), np.geomspace(10.0, 1e9, 500)]).astype(np.float32)
    exact = 1.0 / (np.sqrt(0.5 * np.pi) * erfcx(x.astype(np.float64) / np.sqrt(2.0)))
    np.testing.assert_allclose(native().normal_hazards(x), exact, rtol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_likelihood_of_bounds_is_that_of_scipy(family):
    parameters = np.array([0.4, 0.49]) if family == "lognormal" else np.array([2.0, 1.5])
    frozen = stats.lognorm(0.7, scale=np.exp(0.4)) if family == "lognormal" else stats.weibull_min(1.5, scale=2.0)
    distribution = OBJECTIVES[CENSORED[family]].distribution_type()
    bounds = np.array([[1.3, 1.3], [1.3, np.inf], [0.0, 1.3], [1.3, 2.0]])
    expected = [frozen.logpdf(1.3), frozen.logsf(1.3), frozen.logcdf(1.3), np.log(frozen.cdf(2.0) - frozen.cdf(1.3))]
    np.testing.assert_allclose(censored_log_likelihood(distribution, parameters, bounds), expected, rtol=1e-12)


def test_an_interval_far_in_a_tail_keeps_its_likelihood():
    distribution = OBJECTIVES["censored_lognormal"].distribution_type()
    far = np.exp(np.array([[40.0, 41.0], [-41.0, -40.0]]))
    found = censored_log_likelihood(distribution, np.array([0.0, 1.0]), far)
    np.testing.assert_allclose(found, np.full(2, stats.norm.logsf(40.0)), rtol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_start_values_come_from_the_censored_likelihood(family):
    rng = np.random.default_rng(0)
    deviation = rng.normal(size=20_000) if family == "lognormal" else np.log(rng.exponential(size=20_000))
    duration, censoring = np.exp(2.0 + 0.5 * deviation), rng.exponential(9.0, size=20_000)
    y = np.stack([np.minimum(duration, censoring), np.where(duration <= censoring, duration, np.inf)], axis=1)
    objective = OBJECTIVES[CENSORED[family]].of(y, np.ones(len(y)))
    assert 0.3 < np.mean(duration <= censoring) < 0.7
    assert objective.location == pytest.approx(2.0 + objective.shift * 0.5, abs=0.03)
    assert objective.scale == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("family", FAMILIES)
def test_start_values_are_finite_without_a_single_observed_row(family):
    y = np.stack([np.arange(1.0, 30.0), np.full(29, np.inf)], axis=1)
    objective = OBJECTIVES[CENSORED[family]].of(y, np.ones(29))
    assert np.isfinite(objective.constants).all()
    assert objective_from_header(objective.to_header()) == objective


def test_what_is_expected_of_a_censored_row_is_the_mean_beyond_its_bound():
    objective = OBJECTIVES["censored_lognormal"](0.0, 1.0)
    y = np.exp(np.array([[0.3, 0.3], [0.3, np.inf], [-np.inf, 0.3]]))
    expected = [0.3, stats.truncnorm(0.3, np.inf).mean(), stats.truncnorm(-np.inf, 0.3).mean()]
    np.testing.assert_allclose(objective.expected(y), expected, rtol=1e-6)
