"""An SGLB chain has the stationary distribution of the theory (section 3 of the paper).

With one feature of two values, trees of one level always have the same two leaves. The mean score of a leaf with n of
the N rows (mean target m) then obeys F' = (c - e) F + e m - e v with e the learning rate, c = 1 - e / (2 N), and v the
mean of the rows' noise, of variance s2 = temperature * 2 / (N e) / n. Its stationary distribution is the Normal with

    mean      e m / (1 - c + e)
    variance  e^2 s2 / (1 - (c - e)^2)
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
    y = rng.normal(size=n) + 2 * X[:, 0]
    y = (y - y.mean()) / y.std()  # the target in its own units: what the closed form speaks of
    model = EpiBoostRegressor(
        n_members=MEMBERS,
        n_estimators=200,
        learning_rate=rate,
        max_depth=1,
        l2=0,
        variance_guard=0,
        temperature=n if hot else 1,
        random_state=0,
    ).fit(X, y)
    samples = model.predict_posterior([[0.0], [1.0]]).parameters[:, :, 0]
    decay = 1 - rate / (2 * n)
    leaf_noise = (n if hot else 1) * 2 / (n * rate) / sizes
    mean = rate * np.array([y[X[:, 0] == value].mean() for value in (0, 1)]) / (1 - decay + rate)
    variance = rate**2 * leaf_noise / (1 - (decay - rate) ** 2)
    mean_error = STANDARD_ERRORS * np.sqrt(variance / MEMBERS)
    variance_error = STANDARD_ERRORS * variance * np.sqrt(2 / (MEMBERS - 1))
    assert (np.abs(samples.mean(axis=0) - mean) < mean_error).all()
    assert (np.abs(samples.var(axis=0, ddof=1) - variance) < variance_error).all()
    correlation = np.corrcoef(samples.T)[0, 1]
    assert abs(correlation) < STANDARD_ERRORS / np.sqrt(MEMBERS)


def test_at_temperature_n_the_chain_samples_the_posterior_of_the_leaf_values():
    # unit noise and a flat prior: the posterior of a leaf's mean has variance 1 / n, up to the step's discretisation
    n = 40
    X = np.repeat([0.0, 1.0], n // 2)[:, np.newaxis]
    y = np.random.default_rng(1).normal(size=n)
    y = (y - y.mean()) / y.std()
    model = EpiBoostRegressor(
        n_members=MEMBERS,
        n_estimators=600,
        learning_rate=0.02,
        max_depth=1,
        l2=0,
        variance_guard=0,
        temperature=n,
        random_state=0,
    ).fit(X, y)
    samples = model.predict_posterior([[0.0], [1.0]]).parameters[:, :, 0]
    np.testing.assert_allclose(
        samples.var(axis=0, ddof=1), 1 / (n // 2), rtol=0.02 + STANDARD_ERRORS * np.sqrt(2 / MEMBERS)
    )
