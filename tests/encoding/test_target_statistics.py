"""Target statistics use preceding rows only, and never a row's own target."""

import numpy as np
import pytest

from epiboost._encoding.target_statistics import STRENGTH, full_means, ordered_means


def test_ordered_mean_is_the_weighted_mean_of_preceding_rows():
    random = np.random.default_rng(0)
    category, target, weight = random.integers(4, size=60), random.normal(size=60), random.uniform(0.1, 3.0, size=60)
    order = random.permutation(60)
    expected = np.empty(60)
    for position, row in enumerate(order):
        before = [other for other in order[:position] if category[other] == category[row]]
        total = sum(weight[other] * target[other] for other in before)
        expected[row] = (total + STRENGTH * 0.7) / (weight[before].sum() + STRENGTH)
    np.testing.assert_allclose(ordered_means(category, target, weight, order, prior=0.7), expected, rtol=1e-12)


@pytest.mark.parametrize("row", [0, 17, 59])
def test_the_target_of_a_row_changes_the_ordered_means_of_later_rows_only(row):
    random = np.random.default_rng(0)
    category, target, order = random.integers(4, size=60), random.normal(size=60), random.permutation(60)
    changed = target.copy()
    changed[row] += 100.0
    before = ordered_means(category, target, np.ones(60), order, prior=0.0)
    after = ordered_means(category, changed, np.ones(60), order, prior=0.0)
    position = np.argsort(order)
    later = (category == category[row]) & (position > position[row])
    np.testing.assert_allclose(after[~later], before[~later], atol=1e-9)
    assert (after[later] > before[later] + 0.5).all()


def test_the_mean_of_a_category_without_rows_is_the_prior():
    assert full_means(np.array([0, 0]), np.array([1.0, 3.0]), np.ones(2), 2, prior=0.5)[1] == 0.5
