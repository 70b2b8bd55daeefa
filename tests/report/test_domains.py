"""Comparison of tables: with the training rows that a model keeps, and of the other table with this one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from epiboost import EpiBoostClassifier, EpiBoostRegressor

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.decisions import DomainDetector
from epiboost.report import ood_verdict, report
from epiboost.report.collect import collect_facts
from epiboost.report.measurements import domains
from tests.support.report_cards import GRADE, SMALL, A, Y, cards
from tests.support.report_tables import text_of

USUAL = A[500:]


def with_gap(table):
    """Return which rows are on neither side of a gap: their values are inside the range of training."""
    return np.abs(table[:, 0]) < 0.7


class TestTrainingRows:
    """One table, compared with the training rows that the model keeps."""

    @pytest.mark.parametrize(("kind", "measure"), [("measured", "combined"), ("regressor", "novelty")])
    def test_a_table_that_moved_as_a_whole_is_detected(self, request, kind, measure):
        model = request.getfixturevalue(kind)
        card = cards(model, USUAL + 8)["out-of-domain"]
        assert (card.verdict, card.number) == (ood_verdict.OUT_OF_DOMAIN, "100\u00a0%")
        assert collect_facts(model, USUAL + 8, explain=False).out_of_domain.training.measure == measure

    def test_a_table_inside_a_gap_of_training_is_detected(self):
        """No value is new, and within the table no row stands out."""
        X = np.random.default_rng(0).uniform(-2, 2, size=(1500, 4))
        model = EpiBoostRegressor(**{**SMALL, "n_members": 10})
        train = X[:1000][~with_gap(X[:1000])]
        model.fit(train, train[:, 0])
        held_out = X[1000:]
        facts = collect_facts(model, held_out[with_gap(held_out)], explain=False)
        assert not facts.out_of_domain.new_values.n_rows
        assert ood_verdict.ood_verdict(facts).level == "care"
        assert facts.out_of_domain.training.drift.columns[0].name == "x0"
        assert (
            ood_verdict.ood_verdict(collect_facts(model, held_out[~with_gap(held_out)], explain=False)).level != "care"
        )

    @pytest.mark.parametrize("kind", ["measured", "regressor"])
    def test_an_ordinary_table_is_not_detected_and_gets_a_tick(self, request, kind):
        card = cards(request.getfixturevalue(kind), USUAL)["out-of-domain"]
        assert card.verdict == ood_verdict.HARDLY_DIFFERS

    @pytest.mark.slow
    def test_ordinary_tables_rarely_get_a_warning(self):
        """Counted over 60 pairs of a model and a table, half of them without out-of-fold chains."""
        warnings = 0
        for seed in range(30):
            table = np.random.default_rng(seed).normal(size=(300, 3))
            for n_members in (2, 5):
                options = {**SMALL, "n_members": n_members, "n_estimators": 10}
                model = EpiBoostRegressor(**options).fit(table[:150], table[:150, 0])
                warnings += cards(model, table[150:])["out-of-domain"].verdict.level == "care"
        assert warnings <= 4

    def test_a_table_in_a_familiar_corner_differs_though_no_row_is_flagged(self, measured):
        facts = collect_facts(measured, 0.3 * USUAL, explain=False)
        assert facts.out_of_domain.training.share < 0.01
        assert ood_verdict.ood_verdict(facts) == ood_verdict.DIFFERS == ("care", "differs clearly")

    def test_the_columns_that_moved_are_named_on_the_card(self, measured):
        X = USUAL.copy()
        X[:, 2] += 0.5
        facts = collect_facts(measured, X, explain=False)
        assert facts.out_of_domain.training.drift.columns[0].name == "x2"
        assert "Moved most, from 0 to 1: x2 0." in cards(measured, X)["out-of-domain"].sentence

    def test_the_numbers_are_those_of_the_detector(self, measured):
        training = collect_facts(measured, USUAL, explain=False).out_of_domain.training
        detector = DomainDetector(measured).fit()
        drift = detector.drift(USUAL)
        assert (training.share, training.drift.p_value) == (drift.share_outside, drift.p_value)
        assert training.share == np.mean(detector.predict(USUAL) == -1)
        assert training.auc is None

    def test_a_calibrated_model_flags_the_rows_of_the_model_inside(self, measured):
        """Calibrated uncertainty is larger, but not that of the kept rows."""
        calibrated = measured.calibrate(USUAL[:100], 3 * Y[500:600], random_state=0)
        training = collect_facts(calibrated, USUAL[100:], explain=False).out_of_domain.training
        plain = collect_facts(measured, USUAL[100:], explain=False).out_of_domain.training
        assert (training.share, training.measure) == (plain.share, "combined")

    def test_a_pipeline_is_compared_by_the_columns_that_reach_the_model(self):
        pipeline = make_pipeline(StandardScaler(), EpiBoostRegressor(**SMALL)).fit(100 * A[:500], Y[:500])
        assert cards(pipeline, 100 * USUAL)["out-of-domain"].verdict.level != "care"
        assert cards(pipeline, 100 * (USUAL + 8))["out-of-domain"].verdict == ood_verdict.OUT_OF_DOMAIN

    def test_a_single_member_finds_rows_by_their_novelty(self):
        model = EpiBoostRegressor(**{**SMALL, "ensemble": "single"}).fit(A[:500], Y[:500])
        assert cards(model, USUAL)["out-of-domain"].verdict.level != "care"
        assert cards(model, USUAL + 8)["out-of-domain"].verdict == ood_verdict.OUT_OF_DOMAIN

    def test_a_single_member_without_kept_rows_cannot_find_rows(self):
        model = EpiBoostRegressor(**{**SMALL, "ensemble": "single"}, reference_rows=0).fit(A[:500], Y[:500])
        card = cards(model, USUAL)["out-of-domain"]
        assert card.verdict == ood_verdict.CANNOT_DETECT
        assert "that needs two or more members, or reference_rows" in card.sentence

    @pytest.mark.parametrize(("n_kept", "is_compared"), [(18, False), (19, True)])
    def test_too_few_kept_rows_are_not_compared_with(self, n_kept, is_compared):
        model = EpiBoostRegressor(**SMALL, reference_rows=n_kept).fit(A[:500], Y[:500])
        training = collect_facts(model, USUAL, explain=False).out_of_domain.training
        assert (training is not None) == is_compared


class TestTwoTables:
    """The other table, compared with this one."""

    @pytest.mark.parametrize("kind", ["measured", "regressor", "forgetful"])
    def test_a_table_that_moved_is_detected_and_one_like_this_is_not(self, request, kind):
        model = request.getfixturevalue(kind)
        found = cards(model, USUAL[:200], X_ood=USUAL[200:] + 8)["out-of-domain"]
        assert (found.verdict, found.number) == (ood_verdict.OUT_OF_DOMAIN, "100\u00a0%")
        assert cards(model, USUAL[:200], X_ood=USUAL[200:])["out-of-domain"].verdict.level != "care"

    def test_the_test_is_two_sided(self, measured):
        card = cards(measured, USUAL, X_ood=0.3 * USUAL)["out-of-domain"]
        assert card.verdict == ood_verdict.DIFFERS
        assert "Its rows are more familiar than the rows of this table" in card.sentence
        assert dict(card.details)["p-value of drift"] == "0.001"

    def test_the_page_shows_drift_and_the_columns_of_foreign_rows(self):
        frame = pd.DataFrame(A, columns=["size", "age", "rooms", "year"])
        model = EpiBoostClassifier(**{**SMALL, "n_members": 5}).fit(frame[:500], GRADE[:500])
        page = report(model, frame[500:], X_ood=frame[500:].assign(rooms=9.0), explain=False)
        assert [name for row in page.facts.domain.foreign for name, _ in row.columns[:1]] == ["rooms"] * 10
        words = text_of(page.html)
        assert "Comparison of the other table with this table" in words
        assert "Comparison of this table with the training rows" in words
        assert "By knowledge uncertainty alone it is" in words
        assert "combined novelty and uncertainty" in page.html
        assert page.html.count('<table class="drift">') == 2

    @pytest.mark.parametrize(
        ("kind", "n_rows", "measure"),
        [
            ("measured", 18, "knowledge"),
            ("measured", 19, "combined"),
            ("regressor", 18, "knowledge"),
            ("regressor", 19, "novelty"),
            ("regressor", 37, "novelty"),
            ("regressor", 38, "combined"),
            ("forgetful", 37, "knowledge"),
            ("forgetful", 38, "combined"),
        ],
    )
    def test_the_measure_is_the_best_that_the_rows_allow(self, request, kind, n_rows, measure):
        domain = collect_facts(
            request.getfixturevalue(kind), USUAL[:n_rows], X_ood=USUAL[n_rows:], explain=False
        ).domain
        assert domain.measure == measure
        assert (domain.share is None) == (domain.drift is None) == (measure == "knowledge")


def test_of_large_tables_evenly_spaced_rows_are_compared(measured, monkeypatch):
    monkeypatch.setattr(domains, "MAX_COMPARED_ROWS", 100)
    page = report(measured, USUAL, X_ood=USUAL[:300] + 8, explain=False)
    assert len(page.facts.out_of_domain.training.outside) == 100
    assert (len(page.facts.domain.inside), len(page.facts.domain.outside)) == (100, 100)
    assert {row.row for row in page.facts.domain.foreign} <= set(np.linspace(0, 299, 100).astype(int).tolist())
    why = DomainDetector(measured).fit().explain(USUAL[:300] + 8)
    for row in page.facts.domain.foreign:
        assert list(row.columns) == why.top(row.row)
    assert "Compared are evenly spaced rows of 400" in text_of(page.html)
