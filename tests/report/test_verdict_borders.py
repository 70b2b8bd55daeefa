"""Each verdict on both sides of its border: it follows from the number beside it and from what chance explains."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.decisions import ColumnDrift
from epiboost.report import ood_verdict, verdicts
from epiboost.report.cards import make_cards
from epiboost.report.collect import collect_facts
from epiboost.report.facts import DomainComparison, Drift, NewColumn, NewValues, OutOfDomain, Quality
from epiboost.report.formatting import percent
from epiboost.report.significance import error_by_chance, flagged_by_chance, frequency_by_chance
from tests.support.report_cards import GRADE, A, Y, calibration, cards

NOTHING_NEW = NewValues(True, 0, 0, (), share_by_chance=0.001)  # noqa: FBT003


def new_values(n_rows, share_by_chance=0.001):
    """Return new values in some rows of one column."""
    return NewValues(True, n_rows, 0, (NewColumn("size", 0, n_rows, 0, 0.0, 1.0),), share_by_chance)  # noqa: FBT003


def domain(*, share=0.05, auc=0.5, p_value=0.5, effect=0.2, n_rows=400, new=NOTHING_NEW, measure="combined"):
    """Return a comparison with a table of 400 rows; one column drifts."""
    return DomainComparison(
        n_rows=n_rows,
        measure=measure,
        inside=np.ones(400),
        outside=np.ones(n_rows),
        threshold=1.0,
        false_alarm_rate=0.05,
        share=share,
        auc=auc,
        knowledge_auc=None,
        drift=Drift(p_value, (ColumnDrift("size", effect, p_value, p_value),), ()),
        foreign=(),
        new_values=new,
    )


@pytest.fixture(scope="module")
def facts(regressor):
    """Return the facts of a regressor."""
    return collect_facts(regressor, A[500:], Y[500:], explain=False)


@pytest.mark.parametrize(
    ("gain", "likelihood_gain", "verdict"),
    [
        (2.1, None, verdicts.BETTER),
        (1.9, None, verdicts.NOT_BETTER),
        (-1.9, None, verdicts.NOT_BETTER),
        (-2.1, 9.0, verdicts.WORSE),
        (1.9, 2.1, verdicts.BETTER_PROBABILITIES),
        (1.9, 1.9, verdicts.NOT_BETTER),
        (None, None, verdicts.NOT_BETTER),
    ],
)
def test_accuracy_is_judged_by_two_standard_errors(gain, likelihood_gain, verdict):
    quality = Quality(0.1, 0.2, (), (), gain, likelihood_gain, "")
    assert verdicts.accuracy_verdict(quality, 20) == verdict
    assert verdicts.accuracy_verdict(quality, 19) == verdicts.TOO_FEW_ROWS
    assert verdicts.accuracy_verdict(replace(quality, constant_target="1"), 20) == verdicts.CONSTANT_TARGET


@pytest.mark.parametrize(
    ("observed", "by_chance", "verdict"),
    [
        (0.849, 0.05, verdicts.OVERCONFIDENT),
        (0.851, 0.05, verdicts.CALIBRATED),
        (0.949, 0.05, verdicts.CALIBRATED),
        (0.951, 0.05, verdicts.UNDERCONFIDENT),
        (0.879, 0.01, verdicts.OVERCONFIDENT),
        (0.881, 0.01, verdicts.NEARLY_CALIBRATED),
        (0.891, 0.01, verdicts.CALIBRATED),
        (0.919, 0.01, verdicts.NEARLY_CALIBRATED),
        (0.921, 0.01, verdicts.UNDERCONFIDENT),
    ],
)
def test_coverage_is_judged_by_chance_and_two_points(observed, by_chance, verdict):
    found = calibration(nominal=0.9, observed=observed, gap_by_chance=by_chance)
    assert verdicts.calibration_verdict(found, 500) == verdict


@pytest.mark.parametrize(
    ("error", "by_chance", "verdict"),
    [
        (0.061, 0.06, verdicts.CALIBRATED_ON_AVERAGE),
        (0.059, 0.06, verdicts.CALIBRATED),
        (0.021, 0.01, verdicts.CALIBRATED_ON_AVERAGE),
        (0.019, 0.01, verdicts.NEARLY_CALIBRATED),
        (0.009, 0.01, verdicts.CALIBRATED),
    ],
)
def test_no_tick_stands_over_a_calibration_error_above_chance(error, by_chance, verdict):
    found = calibration(error=error, error_by_chance=by_chance)
    assert verdicts.calibration_verdict(found, 500) == verdict
    assert verdicts.calibration_verdict(found, 19) == verdicts.TOO_FEW_ROWS


class TestAbstention:
    """The verdict on abstention."""

    @pytest.mark.parametrize(
        ("correlation", "error", "n_rows", "verdict"),
        [
            (2.1, 0.079, 400, verdicts.DETECTS_ERRORS),
            (2.1, 0.081, 400, verdicts.NO_CLEAR_GAIN),
            (2.1, 0.11, 400, verdicts.NO_CLEAR_GAIN),
            (1.9, 0.079, 400, verdicts.DOES_NOT_DETECT_ERRORS),
            (1.9, 0.079, 100, verdicts.DOES_NOT_DETECT_ERRORS),
            (1.9, 0.079, 99, verdicts.TOO_FEW_ROWS),
            (None, 0.079, 400, verdicts.TOO_FEW_ERRORS),
            (2.1, None, 400, verdicts.EQUAL_UNCERTAINTY),
        ],
    )
    def test_a_tick_needs_a_correlation_and_an_error_below_chance(self, facts, correlation, error, n_rows, verdict):
        levels = tuple(
            replace(level, error=0.1 if level.target_coverage == 1.0 else error, error_by_chance=0.08)
            for level in facts.abstention
        )
        found = replace(facts, abstention=levels, error_detection=correlation, n_rows=n_rows)
        assert verdicts.abstention_verdict(found) == verdict

    def test_no_errors_get_a_tick(self, facts):
        levels = tuple(replace(level, error=0.0, error_by_chance=0.0) for level in facts.abstention)
        assert verdicts.abstention_verdict(replace(facts, abstention=levels)) == verdicts.NO_ERRORS

    @pytest.mark.parametrize("kind", ["regressor", "classifier"])
    def test_the_error_by_chance_is_that_of_random_rows(self, kind, regressor, classifier):
        model, y = (regressor, Y[500:]) if kind == "regressor" else (classifier, GRADE[500:])
        facts = collect_facts(model, A[500:], y, explain=False)
        level, predicted = verdicts.recommended_level(facts), model.predict(A[500:])
        losses = (predicted - y) ** 2 if kind == "regressor" else (predicted != y).astype(float)
        random = np.random.default_rng(0)
        n_accepted = round(level.coverage * len(losses))
        drawn = np.array([losses[random.permutation(len(losses))[:n_accepted]].mean() for _ in range(2000)])
        by_chance = level.error_by_chance**2 if kind == "regressor" else level.error_by_chance
        assert 0.005 < np.mean(drawn < by_chance) < 0.05
        text = f"{level.error_by_chance:.4g}" if kind == "regressor" else percent(level.error_by_chance)
        assert dict(make_cards(facts)[2].details)["error of as many random rows, at least"] == text

    def test_the_error_of_random_rows_is_rarely_below_that_of_chance(self):
        """Counted over 2,000 tables of 200 rows with squared errors."""
        random = np.random.default_rng(0)
        below = 0
        for _ in range(2000):
            losses = random.normal(size=200) ** 2
            accepted = random.permutation(200) < 180
            below += losses[accepted].mean() < error_by_chance(losses, accepted)
        assert 20 <= below <= 100


class TestOtherTable:
    """The verdict on two tables."""

    @pytest.mark.parametrize(
        ("found", "verdict"),
        [
            (domain(share=0.0825), ood_verdict.HARDLY_DIFFERS),
            (domain(share=0.085), ood_verdict.OUT_OF_DOMAIN),
            (domain(share=0.069, n_rows=100_000), ood_verdict.HARDLY_DIFFERS),
            (domain(share=0.02), ood_verdict.HARDLY_DIFFERS),
            (domain(new=new_values(10)), ood_verdict.HARDLY_DIFFERS),
            (domain(new=new_values(11)), ood_verdict.NEW_VALUES),
            (domain(new=new_values(42, share_by_chance=0.05)), ood_verdict.HARDLY_DIFFERS),
            (domain(new=new_values(43, share_by_chance=0.05)), ood_verdict.NEW_VALUES),
            (domain(p_value=0.01, effect=0.11), ood_verdict.DIFFERS),
            (domain(p_value=0.01, effect=0.09), ood_verdict.DIFFERS_SLIGHTLY),
            (domain(p_value=0.011, effect=0.5), ood_verdict.NOT_CLEAR),
            (domain(p_value=0.024), ood_verdict.NOT_CLEAR),
            (domain(p_value=0.026), ood_verdict.HARDLY_DIFFERS),
            (domain(auc=0.559), ood_verdict.HARDLY_DIFFERS),
            (domain(auc=0.441), ood_verdict.HARDLY_DIFFERS),
            (domain(auc=0.56), ood_verdict.NOT_CLEAR),
            (domain(auc=0.44), ood_verdict.NOT_CLEAR),
            (domain(auc=None), ood_verdict.HARDLY_DIFFERS),
            (domain(measure="novelty", share=0.5), ood_verdict.NOT_CLEAR),
            (domain(measure="novelty", share=0.5, p_value=0.001), ood_verdict.OUT_OF_DOMAIN),
            (domain(n_rows=40, share=0.0), ood_verdict.HARDLY_DIFFERS),
            (domain(n_rows=30, share=0.0), ood_verdict.NOT_CLEAR),
            (domain(n_rows=19, share=1.0), verdicts.TOO_FEW_ROWS),
        ],
    )
    def test_a_verdict_follows_from_its_number(self, found, verdict):
        if found.n_rows == 100_000:
            found = replace(found, inside=np.ones(100_000))
        assert ood_verdict.comparison_verdict(found) == verdict

    def test_rows_of_the_same_kind_rarely_exceed_the_share_of_chance(self):
        """Counted over 2,000 pairs of tables."""
        random = np.random.default_rng(0)
        beyond = 0
        for _ in range(2000):
            inside, outside = random.random(100), random.random(150)
            threshold = np.sort(inside)[int(np.ceil(0.95 * 101)) - 1]
            beyond += (outside > threshold).mean() > flagged_by_chance(100, 150, 0.05)
        assert 20 <= beyond <= 60

    def test_the_card_shows_the_number_that_is_judged(self, regressor):
        usual = A[500:]
        card = cards(regressor, usual, X_ood=usual)["out-of-domain"]
        assert card.verdict == ood_verdict.HARDLY_DIFFERS == ("good", "hardly any difference")
        assert card.label == "of the other table are out of domain; 5\u00a0% by chance"
        assert dict(card.details)["rows above the threshold"] == card.number
        card = cards(regressor, usual, X_ood=usual + 8)["out-of-domain"]
        assert (card.verdict, card.number) == (ood_verdict.OUT_OF_DOMAIN, "100\u00a0%")
        facts = collect_facts(regressor, usual, X_ood=usual, explain=False)
        card = make_cards(replace(facts, domain=domain(new=new_values(43))))[3]
        assert (card.verdict, card.number) == (ood_verdict.NEW_VALUES, "10.8\u00a0%")
        assert card.label == "of the other table hold new values"
        card = make_cards(replace(facts, domain=domain(p_value=0.001, effect=0.3)))[3]
        assert (card.verdict, card.number) == (ood_verdict.DIFFERS, "0.3")
        assert card.label == "drift of size; 0 is none, 1 is no overlap"


class TestOneTable:
    """The verdict on rows that are compared with each other."""

    @pytest.mark.parametrize(
        ("n_outliers", "n_flagged", "new", "verdict"),
        [
            (0, 0, NOTHING_NEW, ood_verdict.NO_UNUSUAL_ROWS),
            (8, 8, NOTHING_NEW, ood_verdict.WITHIN_CHANCE),  # 2 % are usual
            (28, 28, NOTHING_NEW, ood_verdict.WITHIN_CHANCE),
            (29, 29, NOTHING_NEW, ood_verdict.UNUSUAL_ROWS),
            (0, 10, new_values(10), ood_verdict.WITHIN_CHANCE),
            (0, 11, new_values(11), ood_verdict.NEW_VALUES),
            (None, 0, NOTHING_NEW, verdicts.TOO_FEW_ROWS),
        ],
    )
    def test_a_verdict_follows_from_its_number(self, n_outliers, n_flagged, new, verdict):
        rows = OutOfDomain(True, n_outliers, n_flagged, new)  # noqa: FBT003
        assert ood_verdict.outlier_verdict(rows, 400) == verdict

    def test_the_card_shows_what_is_usual(self, forgetful):
        details = dict(cards(forgetful, A[500:])["out-of-domain"].details)
        assert details["… usually, up to"] == "7.2\u00a0%"


def test_an_observed_frequency_is_within_chance_in_most_tables():
    random = np.random.default_rng(0)
    observed = random.binomial(300, 0.9, size=4000) / 300
    assert 0.02 < np.mean(np.abs(observed - 0.9) > frequency_by_chance(0.9, 300)) < 0.07


def test_calibration_rows_add_to_what_chance_explains(regressor):
    calibrated = regressor.calibrate(A[500:600], Y[500:600], random_state=0)
    found = collect_facts(calibrated, A[600:], Y[600:], explain=False).calibration
    n_calibration = len(calibrated.scores_)
    assert found.gap_by_chance == pytest.approx(
        np.hypot(frequency_by_chance(0.9, 300), frequency_by_chance(0.9, n_calibration))
    )
