"""On tables drawn from a family, its members find the parameters, and their likelihood is near the true one."""

import numpy as np
import pytest

from epiboost import EpiBoostRegressor
from epiboost._boosting.objectives import distribution_named

FROM_LINK = {
    "lognormal": lambda location, spread: (location, spread**2),
    "student": lambda location, spread: (location, spread, np.full(len(location), 5.0)),
    "laplace": lambda location, spread: (location, spread),
    "gamma": lambda location, spread: (np.exp(3.0 + location), spread**-2),
    "weibull": lambda location, spread: (np.exp(location), 1.0 / spread),
}


def drawn(name, n, seed):
    """Return a table, the true parameters and draws; location and dispersion depend on different columns."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 5))
    location = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1]
    spread = np.exp(-0.6 + 0.5 * X[:, 2] - 0.3 * (X[:, 0] > 0.0))
    parameters = np.stack(FROM_LINK[name](location, spread), axis=1)
    return X, parameters, distribution_named(name).sample(parameters, rng)


@pytest.mark.parametrize("name", FROM_LINK)
def test_fitted_parameters_are_near_the_true_ones(name):
    X, _, y = drawn(name, 4000, 0)
    X_test, parameters, y_test = drawn(name, 4000, 1)
    distribution = distribution_named(name)
    model = EpiBoostRegressor(distribution=name, random_state=0).fit(X, y)
    members = model.predict_posterior(X_test).parameters
    link, true_link = np.mean([distribution.link(one) for one in members], axis=0), distribution.link(parameters)
    noise = np.exp(true_link[:, 1])
    assert np.sqrt(np.mean(np.square((link - true_link)[:, 0] / noise))) < 0.35  # location, in units of the noise
    assert np.sqrt(np.mean(np.square((link - true_link)[:, 1]))) < 0.22  # log dispersion
    mixture = np.logaddexp.reduce([distribution.logpdf(one, y_test) for one in members]) - np.log(len(members))
    excess = distribution.logpdf(parameters, y_test).mean() - mixture.mean()
    assert -0.01 < excess < 0.08
    levels = np.mean([distribution.cdf(one, y_test) for one in members], axis=0)
    assert abs(((levels > 0.05) & (levels < 0.95)).mean() - 0.9) < 0.025
