"""Metrics of censored durations, beside written-out definitions and scikit-survival where it is installed."""

import numpy as np
import pytest

from epiboost._survival.kaplan_meier import KaplanMeier
from epiboost.metrics import concordance_score, integrated_brier_loss, survival_brier_loss, uno_concordance_score
from tests.support.durations import events

REASON = "scikit-survival is not installed, with which these metrics are compared"


def rows(n, seed=0, whole=True):
    """Return a target with ties between times, and predictions with ties."""
    rng = np.random.default_rng(seed)
    time = rng.integers(1, 20, size=n).astype(float) if whole else rng.exponential(5.0, size=n)
    return events(time, rng.random(n) < 0.6), rng.integers(0, 15, size=n).astype(float)


@pytest.mark.parametrize("seed", range(8))
def test_concordance_is_the_share_of_ordered_pairs_of_any_bounds(seed):
    rng = np.random.default_rng(seed)
    n = 40
    lower = rng.integers(1, 8, size=n).astype(float)
    upper = np.select([rng.random(n) < 0.4, rng.random(n) < 0.5], [lower, np.inf], lower + rng.integers(1, 4, size=n))
    lower[:3] = 0.0
    upper[:3] = 4.0
    predicted, weight = rng.integers(0, 6, size=n).astype(float), rng.integers(1, 4, size=n).astype(float)
    total = right = 0.0
    for i in range(n):
        for j in range(n):
            if upper[i] < lower[j] or (upper[i] == lower[j] and upper[j] > lower[j]):
                total += weight[i] * weight[j]
                right += weight[i] * weight[j] * ((predicted[i] < predicted[j]) + 0.5 * (predicted[i] == predicted[j]))
    found = concordance_score(np.stack([lower, upper], axis=1), predicted, sample_weight=weight)
    assert found == pytest.approx(right / total, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_metrics_are_those_of_scikit_survival(seed):
    metrics = pytest.importorskip("sksurv.metrics", reason=REASON)
    train, _ = rows(150, seed=100 + seed)
    y, predicted = rows(120, seed=seed)
    y["time"] = np.minimum(y["time"], 17.0)
    harrell = metrics.concordance_index_censored(y["event"], y["time"], -predicted)[0]
    assert concordance_score(y, predicted) == pytest.approx(harrell, rel=1e-12)
    for tau in (None, 10.0):
        uno = metrics.concordance_index_ipcw(train, y, -predicted, tau=tau)[0]
        assert uno_concordance_score(y, predicted, y_train=train, tau=tau) == pytest.approx(uno, rel=1e-12)
    times = np.array([2.0, 3.5, 7.0, 12.0])
    survival = np.exp(-times * np.random.default_rng(seed).uniform(0.05, 0.3, size=(len(y), 1)))
    brier = metrics.brier_score(train, y, survival, times)[1]
    np.testing.assert_allclose(survival_brier_loss(y, survival, times, y_train=train), brier, rtol=1e-12)
    integrated = metrics.integrated_brier_score(train, y, survival, times)
    assert integrated_brier_loss(y, survival, times, y_train=train) == pytest.approx(integrated, rel=1e-12)


def test_kaplan_meier_is_that_of_scikit_survival():
    estimators = pytest.importorskip("sksurv.nonparametric", reason=REASON)
    y, _ = rows(200)
    weight = np.ones(len(y))
    for curve, reverse in ((KaplanMeier.of, False), (KaplanMeier.of_censoring, True)):
        times, survival = estimators.kaplan_meier_estimator(y["event"], y["time"], reverse=reverse)
        np.testing.assert_allclose(curve(y["time"], y["event"], weight)(times), survival, rtol=1e-12)


def test_without_censoring_the_brier_loss_is_the_mean_squared_error():
    time = np.arange(1.0, 11.0)
    survival = np.linspace(0.0, 1.0, 10)[:, np.newaxis]
    found = survival_brier_loss(time, survival, [4.5], y_train=time)
    assert found == pytest.approx([np.mean(np.square(survival[:, 0] - (time > 4.5)))])


def test_predictions_in_the_right_order_have_concordance_one_even_if_censored():
    y, _ = rows(300, whole=False)
    assert concordance_score(y, y["time"]) == uno_concordance_score(y, y["time"], y_train=y, tau=8.0) == 1.0
    assert concordance_score(y, -y["time"]) == 0.0
    assert concordance_score(y, np.zeros(300)) == 0.5


def test_no_pair_that_can_be_compared_gives_one_half():
    assert concordance_score(events(np.ones(4), np.zeros(4, dtype=bool)), np.arange(4.0)) == 0.5


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda y: concordance_score(y, np.ones(3)), "shape"),
        (lambda y: concordance_score(y, np.full(10, np.nan)), "finite"),
        (lambda y: uno_concordance_score(np.array([[1.0, 2.0]]), [1.0], y_train=y), "known to be between 1 and 2"),
        (lambda y: survival_brier_loss(y, np.full((10, 1), 2.0), [1.0], y_train=y), "probabilities"),
        (lambda y: survival_brier_loss(y, np.ones((10, 2)), [2.0, 1.0], y_train=y), "ascend"),
        (lambda y: survival_brier_loss(y, np.ones((10, 1)), [50.0], y_train=y), "censored by time 50"),
        (lambda y: integrated_brier_loss(y, np.ones((10, 1)), [2.0], y_train=y), "at least 2 times"),
    ],
)
def test_what_cannot_be_measured_is_refused(call, fault):
    y = events(np.arange(1.0, 11.0), np.arange(10) % 2 == 0)
    with pytest.raises(ValueError, match=fault):
        call(y)


def test_events_after_the_last_of_the_times_need_no_weight():
    y_train = np.array([(True, 1.0), (True, 2.0), (False, 3.0)], dtype=[("event", bool), ("time", float)])
    y_true = np.array([(True, 1.5), (True, 5.0)], dtype=[("event", bool), ("time", float)])
    losses = survival_brier_loss(y_true, [[0.5, 0.2], [1.0, 0.8]], [1.0, 2.0], y_train=y_train)
    assert np.isfinite(losses).all()
