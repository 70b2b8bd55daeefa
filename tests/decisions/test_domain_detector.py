"""Out-of-domain detection: false alarms are bounded, and the detector follows scikit-learn's outlier detectors."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from epiboost import EpiBoostRegressor
from epiboost.decisions import DomainDetector
from tests.support.stub_estimators import StubRegressor, domain_rows


def test_the_false_alarm_rate_holds_on_average_over_tables():
    X_new = domain_rows(20_000, 1)
    detectors = [DomainDetector(StubRegressor()).fit(domain_rows(59, seed + 2)) for seed in range(300)]
    rates = [np.mean(detector.predict(X_new) == -1) for detector in detectors]
    assert np.mean(rates) == pytest.approx(0.05, abs=0.006)


def test_scores_follow_the_conventions_of_outlier_detectors():
    X, X_ood = domain_rows(200, 0), domain_rows(50, 1, shift=5.0)
    detector = DomainDetector(StubRegressor(), false_alarm_rate=0.1).fit(X)
    assert detector.score_samples(X) == pytest.approx(-X[:, 2])
    assert detector.decision_function(X) == pytest.approx(detector.score_samples(X) - detector.offset_)
    assert set(detector.predict(X_ood)) == {-1}
    assert np.mean(detector.predict(X) == -1) <= 0.1
    assert (detector.fit_predict(X) == detector.predict(X)).all()


def test_rows_at_the_threshold_are_in_the_domain():
    X = np.ones((40, 3))
    assert (DomainDetector(StubRegressor()).fit(X).predict(X) == 1).all()


def test_gaps_of_the_training_table_are_detected():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(3000, 2))
    X = X[~((X[:, 0] >= 2) & (X[:, 0] < 4) & (X[:, 1] >= 2) & (X[:, 1] < 4))]
    y = rng.normal(size=36)[X[:, 0] * 6 + X[:, 1]] + 0.1 * rng.normal(size=len(X))
    model = EpiBoostRegressor(n_members=5, n_estimators=150, learning_rate=0.3, n_jobs=1, random_state=0)
    detector = DomainDetector(model.fit(X[:2000], y[:2000])).fit(X[2000:])
    assert detector.n_features_in_ == 2
    assert (detector.predict([[2, 2], [2, 3], [3, 2], [3, 3]]) == -1).mean() >= 0.75
    assert (detector.predict(X[2000:]) == 1).mean() >= 0.94


def test_a_clone_keeps_the_fitted_estimator(models):
    detector = DomainDetector(models["classifier"])
    copy = clone(detector)
    assert copy.estimator is detector.estimator
    assert copy.get_params() == detector.get_params()


@pytest.mark.parametrize(
    ("parameters", "rows", "words"),
    [
        ({}, domain_rows(18, 0), r"a false alarm rate of 0\.05 needs at least 19 rows, got 18"),
        ({"false_alarm_rate": 0.0}, domain_rows(18, 0), "strictly between 0 and 1, got 0.0"),
        ({"measure": "doubt"}, domain_rows(18, 0), "measure must be one of"),
        ({}, np.zeros((30, 3)), "the estimator has no knowledge uncertainty"),
    ],
)
def test_parameters_and_rows_that_are_not_allowed_are_refused(parameters, rows, words):
    with pytest.raises(ValueError, match=words):
        DomainDetector(StubRegressor(), **parameters).fit(rows)


@pytest.mark.parametrize(
    ("rows", "words"), [(np.array([[0.0, np.nan, 0.0]]), "must not be NaN, got 1"), (np.empty((0, 3)), "no rows")]
)
def test_nan_uncertainty_and_empty_tables_are_refused(rows, words):
    detector = DomainDetector(StubRegressor(), measure="total")
    with pytest.raises(ValueError, match=words):
        detector.fit(rows)
    detector.fit(domain_rows(100, 0))
    for method in ("predict", "score_samples", "decision_function", "drift"):
        with pytest.raises(ValueError, match=words):
            getattr(detector, method)(rows)


@pytest.mark.parametrize("method", ["predict", "score_samples", "decision_function", "drift"])
def test_a_detector_that_is_not_fitted_says_so(method):
    with pytest.raises(NotFittedError):
        getattr(DomainDetector(StubRegressor()), method)(domain_rows(5, 0))
