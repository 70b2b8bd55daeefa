"""Tables of families have the targets and the parameters that they say."""

import numpy as np
import pytest
from scipy import stats

from epiboost import Posterior
from epiboost._boosting.objectives import OBJECTIVES, number_families
from epiboost.datasets import make_family
from epiboost.datasets.families import FAMILY_NAMES


def test_there_is_a_table_of_every_family():
    assert set(FAMILY_NAMES) == set(number_families())


@pytest.mark.parametrize("family", [name for name in FAMILY_NAMES if name != "histogram"])
def test_targets_are_draws_from_the_true_parameters(family):
    table = make_family(5000, distribution=family, random_state=0)
    truth = Posterior(table.parameters[np.newaxis], family)
    levels = truth.cdf(table.y)
    if family in {"poisson", "negative_binomial"}:
        levels -= np.random.default_rng(0).uniform(size=len(levels)) * (levels - truth.cdf(table.y - 1.0))
    assert stats.kstest(levels, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("family", [name for name in FAMILY_NAMES if name != "normal"])
def test_targets_are_possible(family):
    OBJECTIVES[family].check_target(make_family(500, distribution=family, random_state=0).y)


def test_a_histogram_has_two_peaks_with_few_targets_between():
    table = make_family(2000, distribution="histogram", random_state=0)
    lower, upper, _ = table.parameters.T
    assert np.mean(np.abs(table.y - 0.5 * (lower + upper)) < 0.3) < 0.05


def test_an_unknown_family_is_named():
    with pytest.raises(ValueError, match=r"'poisson'.*got 'gauss'"):
        make_family(10, distribution="gauss")
