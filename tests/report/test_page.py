"""The page is one small file with valid charts, and escapes what comes from the data."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.report import Report, report
from epiboost.report.facts import Facts
from tests.support.report_tables import FRAME, HELD_OUT, OTHER, SMALL, text_of

NASTY = [
    "<script>window.broken = 1</script>",
    "</script><img src=x onerror=window.broken=1>",
    "<!--",
    "{{ 7 * 7 }}",
    "quote\"'`&amp;",
    "a\u2028b\u2029c\x00d",
    "عمود \u202e abc",
    "x" * 5000,
]


@pytest.mark.parametrize(
    "kind",
    ["regressor", "classifier", "several", "calibrated regressor", "calibrated classifier", "single", "forest"],
)
@pytest.mark.parametrize("other", [None, OTHER])
def test_every_model_has_a_small_and_complete_report(models, kind, other, tmp_path):
    model, y = models[kind]
    columns = ["size", "age"] if kind == "forest" else list(FRAME)
    other = None if other is None else other[columns]
    page = report(model, FRAME[columns][HELD_OUT], y[HELD_OUT], X_ood=other, path=tmp_path / "report.html")
    assert isinstance(page, Report)
    assert isinstance(page.facts, Facts)
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert written == page.html
    assert len(written.encode()) < 3_000_000
    assert written.rstrip().endswith("</html>")
    for question in ("How accurate is it?", "Is it calibrated?", "When should it abstain?", "Are rows out of domain?"):
        assert question in written
    for picture in re.findall(r"<svg.*?</svg>", written, flags=re.DOTALL):
        ET.fromstring(picture)  # noqa: S314 (our own)
    assert written.count("<svg") >= 3


def test_what_comes_from_the_data_is_escaped():
    random = np.random.default_rng(8)
    X = pd.DataFrame(random.normal(size=(120, len(NASTY))), columns=NASTY)
    X["town"] = random.choice(NASTY, 120)
    y = np.where(X.iloc[:, 0] > 0, NASTY[0], NASTY[1])
    model = EpiBoostClassifier(**SMALL).fit(X, y)
    page = report(model, X, y, X_ood=X[:30], title=NASTY[0])
    assert "<script>window" not in page.html
    assert "<img" not in page.html
    assert "\u2028" not in page.html
    assert "\u202e" not in page.html
    assert "\x00" not in page.html
    assert "&lt;script&gt;window.broken = 1&lt;/script&gt;" in page.html
    assert "{{ 7 * 7 }}" in page.html
    assert page.html.count("<script") == 2  # the rows and the script of the page
    assert len(page.html) < 3_000_000
    assert "&lt;!DOCTYPE html&gt;" in page._repr_html_()


def test_large_and_wide_tables_are_cut_and_the_page_says_so():
    random = np.random.default_rng(9)
    X = pd.DataFrame(random.normal(size=(20_000, 12)), columns=[f"{place}" + "字" * 200 for place in range(12)])
    X["words"] = "語" * 5000
    model = EpiBoostRegressor(**SMALL).fit(X[:500], X.iloc[:500, 0])
    page = report(model, X, X.iloc[:, 0], X_ood=X[:2000], explain=False)
    assert len(page.html.encode()) < 3_000_000
    words = text_of(page.html)
    assert "About 1,500 of 20,000 rows are drawn" in words
    assert "The 80 most uncertain of 20,000 rows" in words
    assert "6 of 13 columns are shown" in words


def test_a_page_with_many_escaped_letters_stays_small():
    random = np.random.default_rng(10)
    X = pd.DataFrame({f"{place}": random.choice(["<" * 40, "<" * 39], 3000) for place in range(6)})
    y = np.where(random.random(3000) < 0.5, "&" * 40, "&" * 39)
    model = EpiBoostClassifier(**SMALL).fit(X[:200], y[:200])
    page = report(model, X, y, X_ood=X[:500], explain=False)
    assert len(page.html.encode()) < 3_000_000
    assert repr(page.facts) == "Facts('Can this classifier be trusted?', classification, 3,000 rows)"
