"""Every point, tooltip and line of the page has the kind that the page defines."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from epiboost import EpiBoostClassifier, EpiBoostRegressor

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")

from epiboost.report import report
from epiboost.report.facts import KindThresholds
from epiboost.report.row_kinds import row_kinds
from tests.support.report_cards import SMALL, A
from tests.support.report_tables import text_of

COLOURS = {"muted": "ordinary", "blue": "noisy", "orange": "unfamiliar", "green": "other"}


def noisy_table(seed, n_rows=4000):
    """Return more rows than the chart draws, of which a third are noisy and a few are far from the others."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 3))
    X[::50] *= 4
    return X, X[:, 0] + np.where(X[:, 1] > 0.5, 2.0, 0.3) * random.normal(size=n_rows)


@pytest.fixture(scope="module", params=["breast cancer", "diabetes", "generated", "forest"])
def page(request):
    """Return a report on a table with a second table."""
    classifies = request.param == "breast cancer"
    if request.param in {"generated", "forest"}:
        X, y = noisy_table(0)
    else:
        X, y = load_breast_cancer(return_X_y=True) if classifies else load_diabetes(return_X_y=True)
    options = {**SMALL, "engine": "forest", "ensemble": "sgb"} if request.param == "forest" else SMALL
    model = (EpiBoostClassifier if classifies else EpiBoostRegressor)(**options).fit(X[:200], y[:200])
    return report(model, X[200:], y[200:], X_ood=X[200:300] * 1.5, explain=False)


def stated_kind(text, knowledge, data):
    """Return the kinds that follow from the thresholds in the text of the page."""
    kinds = np.full(len(knowledge), "ordinary", dtype=object)
    share = np.ones(len(knowledge))
    if "Noisy, to the right" in text:
        share = knowledge / (knowledge + data)
        noisy = re.search(r"Not unfamiliar, and data uncertainty is more than ([\d.,]+):", text)[1]
        kinds[data > float(noisy.replace(",", ""))] = "noisy"
    unfamiliar = knowledge > float(
        re.search(r"Knowledge uncertainty is more than ([\d.,]+):", text)[1].replace(",", "")
    )
    if "Noisy, to the right" in text:
        found = re.search(
            r"share of the total is more than ([\d.,]+), .*? the share is at least ([\d.]+), or knowledge uncertainty "
            r"is more than ([\d.,]+)\. There",
            text,
        )
        least, relevant, extreme = (float(group.replace(",", "")) for group in found.groups())
        unfamiliar &= (share > least) & ((share >= relevant) | (knowledge > extreme))
    kinds[unfamiliar] = "unfamiliar"
    return kinds


def test_every_coloured_point_satisfies_the_definition_on_the_page(page):
    """Thresholds are read from the page, so points at the border by four digits are left out."""
    points, text = page.facts.points, text_of(page.html)
    chart = re.search(r'id="chart-uncertainty".*?</svg>', page.html, flags=re.DOTALL)[0]
    marks = re.findall(r'<path aria-label="(\d+)" role="graphics-symbol"[^>]*fill="var\(--(\w+)\)"', chart)
    drawn = {int(point): COLOURS[colour] for point, colour in marks}
    assert len(drawn) == len(points.row)
    data = np.zeros(len(points.row)) if points.data is None else points.data
    low, high = (stated_kind(text, points.knowledge * scale, data) for scale in (0.999, 1.001))
    lower, higher = (stated_kind(text, points.knowledge, data * scale) for scale in (0.999, 1.001))
    certain = (low == high) & (lower == higher) & (low == lower)
    assert certain.mean() > 0.97
    own = [point for point, kind in drawn.items() if kind != "other"]
    assert [drawn[point] for point in own if certain[point]] == [low[point] for point in own if certain[point]]
    assert Counter(drawn.values()) == Counter(points.kind)
    assert len(set(drawn.values())) >= 3


def test_chart_tooltips_table_and_counts_have_the_same_kinds(page):
    facts = page.facts
    assert facts.points.kind == facts.point_rows.kind
    kinds = {
        row: kind for row, kind in zip(facts.points.row.tolist(), facts.points.kind, strict=True) if kind != "other"
    }
    lines = dict(zip(facts.uncertain_rows.row.tolist(), facts.uncertain_rows.kind, strict=True))
    assert lines == {row: kinds[row] for row in lines}
    tooltips = json.loads(re.search(r'id="rows">(.*?)</script>', page.html, flags=re.DOTALL)[1])["rows"]
    titles = [row[0].split(", ")[-1] if "other table" not in row[0] else "other" for row in tooltips]
    assert tuple(titles) == facts.points.kind
    assert sum(dict(facts.kind_counts).values()) == facts.n_rows
    for kind, n_rows in facts.kind_counts:
        if kind != "noisy" or facts.points.data is not None:
            assert re.search(rf"{kind.capitalize()}[^:]*: {n_rows:,} rows?\b", text_of(page.html))


def test_rows_outside_the_table_of_uncertain_rows_are_coloured_too():
    X, y = noisy_table(1)
    model = EpiBoostRegressor(**SMALL).fit(X[:1000], y[:1000])
    facts = report(model, X[1000:], explain=False).facts
    outside = ~np.isin(facts.points.row, facts.uncertain_rows.row)
    n_noisy = sum(kind == "noisy" for kind, is_outside in zip(facts.points.kind, outside, strict=True) if is_outside)
    assert n_noisy > 200


@pytest.mark.parametrize(
    ("knowledge", "data", "kind"),
    [
        (0.20, 1.0, "ordinary"),
        (0.21, 1.0, "unfamiliar"),
        (0.21, 1.51, "noisy"),  # 12 % of the total are knowledge
        (0.30, 1.51, "unfamiliar"),
        (0.10, 1.50, "ordinary"),
        (0.10, 1.51, "noisy"),
    ],
)
def test_a_row_is_judged_at_the_borders_of_the_definition(knowledge, data, kind):
    thresholds = KindThresholds(knowledge=0.2, extreme=10.0, share=0.15, data=1.5)
    assert row_kinds(np.array([knowledge]), np.array([data]), thresholds) == (kind,)


@pytest.mark.parametrize(("knowledge", "kind"), [(9.0, "noisy"), (11.0, "unfamiliar")])
def test_an_extreme_row_is_unfamiliar_though_its_share_is_small(knowledge, kind):
    thresholds = KindThresholds(knowledge=0.2, extreme=10.0, share=0.01, data=1.5)
    assert row_kinds(np.array([knowledge]), np.array([500.0]), thresholds) == (kind,)


def test_a_single_member_has_no_unfamiliar_rows():
    single = EpiBoostRegressor(**{**SMALL, "ensemble": "single"}).fit(A[:500], A[:500, 0])
    counts = dict(report(single, A[500:], explain=False).facts.kind_counts)
    assert counts["unfamiliar"] == 0
