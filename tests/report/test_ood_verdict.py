"""The verdict on out-of-domain rows: no tick without a comparison, no warning that chance explains."""

import re

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostRegressor

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.report import ood_verdict, report, verdicts
from epiboost.report.cards import make_cards
from tests.support.report_cards import SMALL, A, Y, cards


@pytest.mark.parametrize("X", [A[500:] + 8, np.full((50, 4), np.nan)])
def test_without_kept_rows_a_table_that_moved_is_found_by_its_new_values(forgetful, tmp_path, X):
    forgetful.save(tmp_path / "model.epib")
    for model in (forgetful, EpiBoostRegressor.load(tmp_path / "model.epib")):
        card = cards(model, X)["out-of-domain"]
        assert (card.verdict, card.number) == (ood_verdict.NEW_VALUES, "100\u00a0%")
        assert f"{len(X)} rows of this table hold a value not seen in training" in card.sentence


def test_without_kept_rows_ordinary_rows_get_neither_a_warning_nor_a_tick(forgetful):
    card = cards(forgetful, A[500:])["out-of-domain"]
    assert card.verdict == ood_verdict.NO_UNUSUAL_ROWS == ("none", "no unusual rows")
    assert "a second table" in card.sentence


def test_a_model_without_feature_ranges_gets_no_tick_either(forgetful):
    header, arrays = forgetful._to_file()
    old = EpiBoostRegressor._from_file(
        header, {name: array for name, array in arrays.items() if not name.startswith("ground")}
    )
    assert old.feature_ranges_ is None
    page = report(old, A[500:] + 8, explain=False)
    assert not page.facts.out_of_domain.new_values.ranges
    assert make_cards(page.facts)[3].verdict.level == "none"


def test_new_values_that_chance_explains_are_no_warning():
    """With 40 columns and 60 training rows many rows hold a value a little outside the training range."""
    table = np.random.default_rng(1).normal(size=(400, 40))
    model = EpiBoostRegressor(**SMALL).fit(table[:60], table[:60, 0])
    new = report(model, table[60:], explain=False).facts.out_of_domain.new_values
    assert new.n_rows > 10
    assert not ood_verdict.has_clear_new_values(new, 340)
    table[60:, 7] += 2
    new = report(model, table[60:], explain=False).facts.out_of_domain.new_values
    assert ood_verdict.has_clear_new_values(new, 340)


def test_another_table_with_less_knowledge_uncertainty_calls_for_care():
    model = EpiBoostRegressor(engine="forest", ensemble="sgb", **SMALL).fit(A[:500], Y[:500])
    usual = A[500:]
    certain = usual[np.argsort(model.predict_uncertainty(usual).knowledge)[:150]]
    card = cards(model, usual, X_ood=certain)["out-of-domain"]
    assert card.verdict == ood_verdict.DIFFERS == ("care", "differs clearly")
    assert "more familiar than the rows of this table" in card.sentence
    assert (
        cards(model, usual, X_ood=usual)["out-of-domain"].verdict
        == ood_verdict.HARDLY_DIFFERS
        == ("good", "hardly any difference")
    )
    assert cards(model, usual, X_ood=usual[:1])["out-of-domain"].verdict == verdicts.TOO_FEW_ROWS


def test_rows_with_new_values_are_counted_per_table():
    frame = pd.DataFrame({"size": A[:, 0], "town": np.where(A[:, 1] > 0, "a", "b")})
    model = EpiBoostRegressor(**SMALL).fit(frame[:500], Y[:500])
    card = cards(model, frame[500:], X_ood=frame[500:600].assign(town="Oslo"))["out-of-domain"]
    details = dict(card.details)
    assert details["rows of this table with new values"] == "0"
    assert details["rows of the other table with new values"] == "100"
    page = report(model, frame[500:], X_ood=frame[500:600].assign(town="Oslo"), explain=False).html
    assert re.search(r"<bdi>town</bdi></th><td>100</td><td>new categories</td>", page)


def test_the_feature_that_makes_the_other_table_differ_is_named():
    frame = pd.DataFrame({"size": A[:, 0], "town": np.where(A[:, 1] > 0, "a", "b")})
    model = EpiBoostRegressor(**SMALL).fit(frame[:500], 5 * (A[:500, 1] > 0) + A[:500, 0])
    drivers = report(model, frame[500:], X_ood=frame[500:600].assign(town="Oslo")).facts.drivers
    assert [(driver.other, driver.names[0]) for driver in drivers if driver.other] == [(True, "town")]
