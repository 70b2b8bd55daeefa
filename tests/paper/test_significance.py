"""The paper's test of significance."""

import numpy as np
from scipy.stats import ttest_rel

from epiboost.paper.tables.significance import not_worse_than_best


def test_methods_are_compared_by_a_paired_test():
    rng = np.random.default_rng(0)
    fold = 10 * rng.normal(size=20)
    samples = {
        "best": fold,
        "worse": fold + 0.5 + 0.1 * rng.normal(size=20),
        "similar": fold + rng.normal(size=20) + 0.05,
    }
    assert not_worse_than_best(samples, smaller_is_better=True) == {"best", "similar"}
    assert ttest_rel(samples["best"], samples["worse"]).pvalue < 0.05


def test_larger_values_can_be_better():
    samples = {"a": np.array([1.0, 2.0, 3.1]), "b": np.array([11.0, 12.0, 13.0])}
    assert not_worse_than_best(samples, smaller_is_better=False) == {"b"}


def test_equal_methods_are_all_best():
    assert not_worse_than_best({"a": np.arange(4.0), "same": np.arange(4.0)}, smaller_is_better=True) == {"a", "same"}


class TestFewerFolds:
    def test_methods_are_compared_on_the_folds_that_both_have(self):
        rng = np.random.default_rng(0)
        full = np.arange(10.0)
        similar, worse = full[:5] + 0.1 * rng.normal(size=5), full[:5] + 1 + 0.1 * rng.normal(size=5)
        assert not_worse_than_best({"full": full, "similar": similar}, smaller_is_better=True) == {"full", "similar"}
        # Although its mean is smaller, 3 against 4.5.
        assert not_worse_than_best({"full": full, "worse": worse}, smaller_is_better=True) == {"full"}

    def test_a_few_folds_of_one_method_do_not_affect_the_others(self):
        rng = np.random.default_rng(0)
        best = 90 + rng.normal(size=20)
        samples = {
            "best": best,
            "similar": best + rng.normal(size=20),
            "worse": best - 40 + 3 * rng.normal(size=20),
            "few": best[:3] + np.array([5.0, 30.0, -9.0]),  # the largest mean of the common folds, widely spread
            "one": best[:1] + 50,
        }
        assert not_worse_than_best(samples, smaller_is_better=False) == {"best", "similar", "few"}

    def test_a_method_that_is_better_on_its_folds_is_marked_beside_the_best(self):
        full = np.arange(20.0)
        few = full[:4] - np.array([1.0, 1.1, 0.9, 1.0])
        assert not_worse_than_best({"full": full, "few": few}, smaller_is_better=True) == {"full", "few"}
