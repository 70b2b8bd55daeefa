"""Ordinal encodings of columns with few values."""

import numpy as np
import pytest

from tests.support.encodings import fit_and_encode


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_rare_values_of_an_ordinal_column_get_the_prior(scale):
    random = np.random.default_rng(0)
    X = np.minimum(random.geometric(0.3, size=(8000, 1)) - 1, 23).astype(float)
    y = X[:, 0] + random.normal(size=8000)
    number = np.bincount(X[:, 0].astype(int))[X[:, 0].astype(int)]
    weight = np.full(8000, scale)
    _, (table,) = fit_and_encode(X, y, weight, (25,), seed=1, n_orders=1)
    prior = np.average(y)
    assert (number == 1).any()
    np.testing.assert_allclose(table[number < 100, 0], prior)
    common = number >= 100
    assert np.corrcoef(table[common, 0], X[common, 0])[0, 1] > 0.99
    assert len(np.unique(table, axis=0)) == len(np.unique(X))


@pytest.mark.parametrize("n_values", [3, 5, 24])
def test_values_without_effect_are_not_ordered_by_the_target(n_values):
    random = np.random.default_rng(n_values)
    X, y = random.integers(n_values, size=(8000, 1)).astype(float), random.normal(size=8000)
    tables = [fit_and_encode(X, y, np.ones(8000), (n_values + 1,), seed=1, n_orders=1)[1][0]]
    tables.append(fit_and_encode(X, -y, np.ones(8000), (n_values + 1,), seed=1, n_orders=1)[1][0])
    np.testing.assert_array_equal(*tables)
    assert len(np.unique(tables[0][:, 0])) == n_values
