"""The verdicts of a report: none from too few rows, and none that chance explains."""

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.metrics import ReliabilityCurve

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.report import report, verdicts
from epiboost.report.cards import make_cards
from epiboost.report.significance import calibration_error_by_chance
from tests.support.report_cards import GRADE, SMALL, A, Y, calibration, cards


@pytest.mark.parametrize("n_rows", [1, 2, 19])
def test_few_rows_get_no_verdict(regressor, classifier, n_rows):
    for model, y in ((regressor, Y), (classifier, GRADE)):
        page = report(model, A[500:][:n_rows], y[500:][:n_rows], explain=False)
        assert [card.verdict for card in make_cards(page.facts)] == [("none", "too few rows to judge")] * 4
        assert "∞" not in page.html
        assert "∞" not in report(model, A[500:][:n_rows], explain=False).html


def test_models_of_pure_noise_get_no_ticks():
    """At most three of sixty verdicts on models that have learned nothing may be good."""
    ticks = 0
    for seed in range(15):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(400, 3)), random.normal(size=400)
        options = {**SMALL, "n_estimators": 10, "n_members": 2, "random_state": seed}
        for model, target in ((EpiBoostRegressor(**options), y), (EpiBoostClassifier(**options), y > 0)):
            found = cards(model.fit(X[:100], target[:100]), X[100:], target[100:])
            ticks += (found["accuracy"].verdict.level == "good") + (found["abstention"].verdict.level == "good")
    assert ticks <= 3


def test_good_models_get_ticks(regressor, classifier):
    for model, y in ((regressor, Y), (classifier, GRADE)):
        found = cards(model, A[500:], y[500:])
        assert found["accuracy"].verdict == verdicts.BETTER == ("good", "better than the baseline")
    assert found["abstention"].verdict == verdicts.DETECTS_ERRORS == ("good", "uncertainty detects errors")


def test_with_few_errors_there_is_no_verdict_on_abstention(classifier):
    right = np.flatnonzero(classifier.predict(A[500:]) == GRADE[500:])[:30] + 500
    y = GRADE[right].copy()
    y[0] = "low" if y[0] == "high" else "high"
    card = cards(classifier, A[right], y)["abstention"]
    assert card.verdict == verdicts.TOO_FEW_ERRORS == ("none", "too few errors to judge")


def test_a_model_worse_than_the_baseline_calls_for_care(regressor, classifier):
    card = cards(regressor, A[500:], Y[500:] + 100)["accuracy"]
    assert card.verdict == verdicts.WORSE == ("care", "worse than the baseline")
    card = cards(regressor, A[500:], np.zeros(400))["accuracy"]
    assert card.verdict == verdicts.CONSTANT_TARGET == ("none", "constant target")
    assert "always predicting the mean would have 0." in card.sentence
    card = cards(classifier, A[500:], np.full(400, "low"))["accuracy"]
    assert "All targets of this table are equal (low)" in card.sentence
    assert "would be wrong for 0\u00a0%" in card.sentence


def test_a_rare_class_is_judged_by_its_probabilities():
    random = np.random.default_rng(3)
    X = random.normal(size=(4000, 3))
    fraud = random.random(4000) < 0.3 / (1 + np.exp(3 - 2 * X[:, 0]))
    model = EpiBoostClassifier(**SMALL).fit(X[:2000], fraud[:2000])
    page = report(model, X[2000:], fraud[2000:], explain=False)
    predicted = model.predict(X[2000:])
    rare = page.facts.classes[1]
    assert (rare.n_rows, rare.n_predicted) == (fraud[2000:].sum(), predicted.sum())
    assert rare.n_correct == (predicted & fraud[2000:]).sum()
    assert rare.auc > 0.6
    assert page.facts.quality.losses[0][1] < page.facts.quality.baseline_losses[0]
    card = make_cards(page.facts)[0]
    assert card.verdict == verdicts.BETTER_PROBABILITIES == ("good", "better probabilities than the baseline")
    assert "better than the class frequencies" in card.sentence
    assert (
        f"baseline {page.facts.quality.baseline_losses[0]:.4g}" in dict(card.details)["negative log-likelihood (nats)"]
    )
    assert "<h2>Classes</h2>" in page.html


def test_errors_that_cancel_are_not_calibrated():
    curve = ReliabilityCurve(np.array([0.62, 1.0]), np.array([0.9, 0.72]), np.array([0.5, 0.5]))
    chance = calibration_error_by_chance(curve, 1000, binned=True)
    cancelling = calibration(error=curve.error, error_by_chance=chance)
    assert verdicts.calibration_verdict(cancelling, 1000) == ("care", "calibrated on average only")


@pytest.mark.parametrize("binned", [True, False])
def test_a_calibrated_model_stays_below_the_error_by_chance(binned):
    """Counted over 400 tables of 150 rows whose probabilities are true."""
    random = np.random.default_rng(4)
    beyond = 0
    for _ in range(400):
        if binned:
            claimed = np.sort(random.uniform(0.5, 1.0, size=150)).reshape(15, 10)
            right = random.random((15, 10)) < claimed
            curve = ReliabilityCurve(claimed.mean(axis=1), right.mean(axis=1), np.full(15, 1 / 15))
        else:
            levels = np.arange(1, 16) / 16
            needed = random.random(150)
            curve = ReliabilityCurve(levels, (needed[:, None] <= levels).mean(axis=0), np.full(15, 1 / 15))
        beyond += curve.error > calibration_error_by_chance(curve, 150, binned=binned)
    assert 1 <= beyond <= 24
