"""Guaranteed intervals of families beside the Normal: distributional conformal prediction and its CV+."""

import numpy as np
import pytest

import epiboost
from epiboost import EpiBoostRegressor
from epiboost._boosting.objectives import distribution_named
from epiboost._estimators.distributional import ends_of, scores_of
from tests.support.family_models import FAMILIES, SMALL, family_table

every_family = pytest.mark.parametrize("family", FAMILIES)
COVERAGES = np.array([0.5, 0.8, 0.9])


def wrong_model(family, X, y):
    """Return a model of few trees, whose own intervals are too wide or too narrow."""
    return EpiBoostRegressor(distribution=family, **{**SMALL, "n_estimators": 4, "learning_rate": 0.1}).fit(X, y)


@every_family
@pytest.mark.parametrize("symmetric", [True, False])
def test_intervals_have_their_coverage(family, symmetric):
    covered = []
    for seed in range(8):
        X, y = family_table(family, 2500, seed=seed)
        calibrated = wrong_model(family, X[:300], y[:300]).calibrate(X[300:500], y[300:500], symmetric=symmetric)
        interval = calibrated.predict_interval(X[500:], COVERAGES)
        assert (np.diff(interval[..., 0], axis=1) <= 0.0).all()
        assert (np.diff(interval[..., 1], axis=1) >= 0.0).all()
        covered.append(((interval[..., 0] <= y[500:, None]) & (y[500:, None] <= interval[..., 1])).mean(axis=0))
    share = np.mean(covered, axis=0)
    assert (share > COVERAGES - 0.02).all()
    # intervals of counts end at counts, so that they contain more
    assert (share < COVERAGES + (0.04 if family == "student" else 0.2)).all()


@every_family
def test_groups_have_coverage_of_their_own(family):
    X, y = family_table(family, 6000)
    groups = np.where(X[:, 1] > 0, "wide", "narrow")
    if family == "student":
        y = y + np.where(groups == "wide", 2.0, 0.0) * np.random.default_rng(0).normal(size=len(y))
    model = wrong_model(family, X[:300], y[:300])
    calibrated = model.calibrate(X[300:3000], y[300:3000], groups=groups[300:3000])
    interval = calibrated.predict_interval(X[3000:], 0.9, groups=groups[3000:])
    inside = (interval[:, 0] <= y[3000:]) & (y[3000:] <= interval[:, 1])
    for group in ("wide", "narrow"):
        assert 0.88 < inside[groups[3000:] == group].mean() < (0.92 if family == "student" else 0.98)


@every_family
def test_intervals_are_quantiles_of_the_posterior_and_survive_a_file(family, tmp_path):
    X, y = family_table(family)
    model = wrong_model(family, X[:300], y[:300])
    calibrated = model.calibrate(X[300:], y[300:])
    posterior = calibrated.predict_posterior(X[:50])
    np.testing.assert_array_equal(posterior.parameters, model.predict_posterior(X[:50]).parameters)
    interval = calibrated.predict_interval(X[:50], 0.8)
    if family == "student":
        np.testing.assert_allclose(posterior.cdf(interval).sum(axis=1), 1.0, atol=1e-6)
        assert np.ptp(posterior.cdf(interval[:, 0])) < 1e-6
    else:
        assert (interval == np.floor(interval)).all()
        assert interval.min() >= 0.0
    calibrated.save(tmp_path / "model.epib")
    loaded = epiboost.load(tmp_path / "model.epib")
    np.testing.assert_array_equal(loaded.predict_interval(X[:50], 0.8), interval)
    np.testing.assert_array_equal(
        loaded.predict_quantile(X[:50], [0.1, 0.5, 0.9]), calibrated.predict_quantile(X[:50], [0.1, 0.5, 0.9])
    )


@every_family
def test_the_interval_of_a_score_contains_its_target(family):
    law = distribution_named(family)
    rng = np.random.default_rng(0)
    shape = (2, 400, law.n_parameters)
    parameters = np.exp(rng.normal(size=shape)) + (2.1 if family == "student" else 0.0)
    y = np.floor(np.exp(3.0 * rng.normal(size=400)))
    scores = np.abs(scores_of(law, parameters, y))
    ends = ends_of(law, parameters, np.stack([-scores, scores], axis=1))
    assert ((ends[:, 0] <= y) & (y <= ends[:, 1])).all()


@every_family
def test_fold_chains_guarantee_their_intervals(family, tmp_path):
    covered = []
    for seed in range(3):
        X, y = family_table(family, 1200, seed=seed)
        model = EpiBoostRegressor(distribution=family, **SMALL, keep_folds=True, out_of_fold=4).fit(X[:400], y[:400])
        interval = model.predict_interval(X[400:], COVERAGES, guarantee=True)
        covered.append(((interval[..., 0] <= y[400:, None]) & (y[400:, None] <= interval[..., 1])).mean(axis=0))
    share = np.mean(covered, axis=0)
    assert (share > COVERAGES - 0.03).all()
    assert (share < COVERAGES + (0.05 if family == "student" else 0.25)).all()
    model.save(tmp_path / "model.epib")
    loaded = epiboost.load(tmp_path / "model.epib")
    np.testing.assert_array_equal(loaded.predict_interval(X[400:], COVERAGES, guarantee=True), interval)
