"""Numbers of distributions whose density jumps, or whose values are counts."""

import numpy as np
import pytest

from epiboost import EpiBoostRegressor, Posterior
from epiboost._boosting.objectives import distribution_named
from epiboost._estimators.out_of_fold.distributional_ends import distributional_ends
from epiboost._posterior.divergences import mutual_information
from epiboost._posterior.numbers.crps import crps
from epiboost._posterior.numbers.divergences import divergences_of_numbers
from epiboost.engines import unregister_family

SETTINGS = (0.5, 2.0, -1.0, 0.0, 3.0)
MEMBERS = np.array([[[0.2, 0.3, 0.1, 0.4]], [[0.01, 0.01, 0.97, 0.01]]])


@pytest.fixture
def histogram():
    """Return a histogram of four bins."""
    return distribution_named("histogram", SETTINGS)


def integrated(distribution, parameters, y):
    """Return the CRPS by a sum over a fine grid."""
    x = np.linspace(-40.0, 60.0, 2_000_001)[:-1] + 2.5e-5
    below = np.mean([distribution.cdf(member[0], x) for member in parameters], axis=0)
    return np.square(below - (x >= y)).sum() * 5e-5


def test_moments_of_a_histogram_are_exact(histogram):
    posterior = Posterior(MEMBERS, "histogram", distribution=histogram)
    expected = (histogram.variance(MEMBERS) + np.square(histogram.mean(MEMBERS))).mean(axis=0)
    np.testing.assert_allclose(posterior.expected(np.square), expected, rtol=1e-12)


def test_information_of_a_histogram_is_that_of_its_bins(histogram):
    information, _ = divergences_of_numbers(histogram, MEMBERS)
    np.testing.assert_allclose(information, mutual_information(MEMBERS), rtol=1e-12)


@pytest.mark.parametrize("y", [-3.0, -0.4, 0.0, 1.7, 8.0])
def test_crps_of_a_histogram_is_its_integral(histogram, y):
    np.testing.assert_allclose(crps(histogram, MEMBERS, np.array([y])), integrated(histogram, MEMBERS, y), rtol=2e-4)


@pytest.mark.parametrize("y", [-0.5, 0.0, 2.5, 7.25])
def test_crps_of_counts_is_its_integral_between_counts_too(y):
    poisson, members = distribution_named("poisson"), np.array([[[3.0]]])
    np.testing.assert_allclose(crps(poisson, members, np.array([y])), integrated(poisson, members, y), rtol=2e-4)


def test_an_end_that_too_few_scores_reach_is_infinite():
    predicted = np.full((1, 1, 1), 1000.0)
    scores = [np.sort(np.concatenate([np.zeros(50), np.full(50, 40.0)]))]
    ends = distributional_ends(distribution_named("poisson"), predicted, scores, needed=91)
    assert ends.tolist() == [[-np.inf, np.inf]]


def test_a_family_of_the_package_cannot_be_forgotten():
    with pytest.raises(ValueError, match="'poisson' is a family of this package"):
        unregister_family("poisson")
    assert distribution_named("poisson").name == "poisson"


def test_evaluation_losses_of_a_histogram_are_in_the_units_of_the_target():
    random = np.random.default_rng(0)
    X = random.uniform(size=(600, 2))
    y = 100.0 * (X[:, 0] + 0.1 * random.normal(size=600))
    inner = np.flatnonzero((y > np.quantile(y, 0.2)) & (y < np.quantile(y, 0.8)))
    model = EpiBoostRegressor(
        distribution="histogram", ensemble="single", n_estimators=10, early_stopping=False, random_state=0
    ).fit(X, y, eval_set=(X[inner], y[inner]))
    loss = -model.predict_posterior(X[inner]).logpdf(y[inner]).mean()
    np.testing.assert_allclose(model.evaluation_loss_[0, -1], loss, rtol=1e-5)
