"""An SGLB chain has the stationary distribution of the theory (section 3 of the paper).

With one feature of two values, trees of one level always have the same two leaves. The mean score of a leaf with n of
the N rows (mean target m) then obeys F' = (c - e) F + e m - e v with e the learning rate, c = 1 - e / (2 N), and v the
mean of the rows' noise, of variance s2 = std^2 * temperature * 2 / (N e) / n, with the leaf's own std. Its stationary
distribution has

    mean      e m / (1 - c + e)
    variance  e^2 E[s2] / (1 - (c - e)^2)

At temperature N and small e these are the posterior variances of a Normal's parameters, the inverse of n times the
Fisher information diag(1 / std^2, 2): std^2 / n of the mean and 1 / (2 n) of the log std.
"""

import numpy as np
import pytest

from epiboost import EpiBoostRegressor

MEMBERS = 4000
STANDARD_ERRORS = 5


@pytest.mark.parametrize("hot", [False, True], ids=["temperature 1", "temperature N"])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_the_stationary_mean_and_variance_match_their_closed_form(hot, rate):
    rng = np.random.default_rng(0)
    sizes = np.array([30, 10])
    n = int(sizes.sum())
    X = np.repeat([0.0, 1.0], sizes)[:, np.newaxis]
    y = rng.normal(size=n) * np.repeat([0.5, 2.0], sizes) + 2 * X[:, 0]
    y = (y - y.mean()) / y.std()  # the target in its own units: what the closed form speaks of
    model = EpiBoostRegressor(
        n_members=MEMBERS,
        n_estimators=100,
        learning_rate=rate,
        max_depth=1,
        l2=0,
        variance_guard=0,
        out_of_fold=0,
        temperature=n if hot else 1,
        random_state=0,
    ).fit(X, y)
    samples, std2 = np.moveaxis(model.predict_posterior([[0.0], [1.0]]).parameters, 2, 0)
    decay = 1 - rate / (2 * n)
    leaf_noise = std2.mean(axis=0) * (n if hot else 1) * 2 / (n * rate) / sizes
    mean = rate * np.array([y[X[:, 0] == value].mean() for value in (0, 1)]) / (1 - decay + rate)
    variance = rate**2 * leaf_noise / (1 - (decay - rate) ** 2)
    mean_error = STANDARD_ERRORS * np.sqrt(variance / MEMBERS)
    variance_error = STANDARD_ERRORS * variance * np.sqrt(2 / (MEMBERS - 1))
    assert (np.abs(samples.mean(axis=0) - mean) < mean_error).all()
    assert (np.abs(samples.var(axis=0, ddof=1) - variance) < variance_error).all()
    correlation = np.corrcoef(samples.T)[0, 1]
    assert abs(correlation) < STANDARD_ERRORS / np.sqrt(MEMBERS)


def test_at_temperature_n_the_chain_samples_the_posterior_of_mean_and_deviation():
    n, deviations = 200, np.array([0.3, 1.2])
    X = np.repeat([0.0, 1.0], n // 2)[:, np.newaxis]
    y = np.random.default_rng(1).normal(size=n) * np.repeat(deviations, n // 2)
    model = EpiBoostRegressor(
        n_members=MEMBERS,
        n_estimators=400,
        learning_rate=0.02,
        max_depth=1,
        l2=0,
        variance_guard=0,
        out_of_fold=0,
        temperature=n,
        random_state=0,
    ).fit(X, y)
    mean, variance = np.moveaxis(model.predict_posterior([[0.0], [1.0]]).parameters, 2, 0)
    leaf_variance = np.array([y[X[:, 0] == value].var() for value in (0, 1)])
    tolerance = 0.04 + STANDARD_ERRORS * np.sqrt(2 / MEMBERS)  # the step's discretisation, and the law of large n
    np.testing.assert_allclose(mean.var(axis=0, ddof=1), leaf_variance / (n // 2), rtol=tolerance)
    np.testing.assert_allclose(np.log(variance).var(axis=0, ddof=1) / 4, 1 / n, rtol=tolerance)
