"""On tables of known distributions, fitted ones converge, are calibrated, and the right family wins."""

import functools

import numpy as np
import pytest
from scipy import stats

from epiboost import EpiBoostRegressor, Posterior
from epiboost._boosting.objectives import number_families
from epiboost.datasets import make_family
from epiboost.metrics import interval_coverage_score, probability_integral_transform

FAMILIES = [name for name in number_families() if name != "histogram"]
CONTINUOUS = [name for name in number_families() if name not in {"poisson", "negative_binomial"}]
FEW, MANY, TEST = 400, 4000, 10_000
SMALL = {"n_members": 5, "random_state": 0}

pytestmark = pytest.mark.slow


@functools.cache
def fitted(family, n=MANY):
    table = make_family(n, distribution=family, random_state=0)
    return EpiBoostRegressor(distribution=family, **SMALL).fit(table.X, table.y)


def rows_of(family):
    return make_family(TEST, distribution=family, random_state=1)


def excess(model, family):
    """Return by how much the likelihood falls short of that of the truth."""
    table = rows_of(family)
    truth = Posterior(table.parameters[np.newaxis], family)
    return np.mean(truth.logpdf(table.y) - model.predict_posterior(table.X).logpdf(table.y))


@pytest.mark.parametrize("family", FAMILIES)
def test_more_rows_come_closer_to_the_true_likelihood(family):
    few, many = (excess(fitted(family, n), family) for n in (FEW, MANY))
    assert 0.0 < many < 0.5 * few
    assert many < 0.06


@pytest.mark.parametrize("family", FAMILIES)
def test_means_and_spreads_of_rows_converge_to_the_true_ones(family):
    table, model = rows_of(family), fitted(family)
    truth, posterior = Posterior(table.parameters[np.newaxis], family), model.predict_posterior(table.X)
    assert np.corrcoef(posterior.mean, truth.mean)[0, 1] > 0.92
    assert np.corrcoef(np.log(posterior.std), np.log(truth.std))[0, 1] > 0.8
    assert np.median(posterior.std / truth.std) == pytest.approx(1.0, abs=0.12)


@pytest.mark.parametrize("family", number_families())
def test_intervals_cover_what_they_say(family):
    table, model = rows_of(family), fitted(family)
    coverage = interval_coverage_score(table.y, model.predict_interval(table.X, 0.9))
    nominal = 0.9
    if family not in CONTINUOUS:  # intervals of counts cover more
        truth = Posterior(table.parameters[np.newaxis], family)
        nominal = max(nominal, interval_coverage_score(table.y, truth.interval(0.9)))
    assert coverage == pytest.approx(nominal, abs=0.025)


@pytest.mark.parametrize("family", CONTINUOUS)
def test_levels_of_targets_are_uniform(family):
    table = rows_of(family)
    levels = probability_integral_transform(table.y, fitted(family).predict_posterior(table.X))
    assert stats.kstest(levels, "uniform").statistic < 0.06  # weibull: its scale is a little too small on new rows


@pytest.mark.parametrize("family", FAMILIES)
def test_the_true_family_has_the_best_out_of_fold_likelihood(family):
    table = make_family(MANY, distribution=family, random_state=0)
    model = EpiBoostRegressor(distribution="auto", **SMALL, n_estimators=20).fit(table.X, table.y)
    choice = model.family_choice_
    assert choice.losses[family] <= min(choice.losses.values()) + 2.0 * choice.errors[family]
