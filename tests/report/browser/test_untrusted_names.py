"""Markup in names of columns, rows, categories, classes and files is inert in a report and in what notebooks show."""

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostClassifier
from epiboost.decisions import DomainDetector
from epiboost.explain import attribute
from tests.support.report_page import IMAGE, SCRIPT


@pytest.fixture(scope="module")
def shown(browser):
    """Return a page that shows HTML, and fails if a script of it runs."""
    page = browser.new_page()

    def show(html):
        page.goto("about:blank")
        page.set_content(html)
        page.wait_for_timeout(50)  # an image that does not load reports it later
        assert [frame.evaluate("window.broken") for frame in page.frames] == [None] * len(page.frames)
        return page

    yield show
    page.close()


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    names = [f"{IMAGE}{row}{SCRIPT}" for row in range(200)]
    X = pd.DataFrame({SCRIPT: random.normal(size=200), IMAGE: random.choice([SCRIPT, IMAGE], 200)}, index=names)
    y = np.where(X[SCRIPT] > 0, IMAGE, SCRIPT)
    return EpiBoostClassifier(n_members=3, n_estimators=20, n_jobs=1, random_state=0).fit(X, y), X, y


@pytest.mark.parametrize(
    "kind", ["posterior", "uncertainty", pytest.param("attribution", marks=pytest.mark.slow), "drift", "foreign row"]
)
def test_what_notebooks_show_runs_no_script(model, shown, kind):
    fitted, X, _ = model
    if kind == "attribution":
        pytest.importorskip("shap", reason="explanations need shap")
    results = {
        "posterior": lambda: fitted.predict_posterior(X),
        "uncertainty": lambda: fitted.predict_uncertainty(X),
        "attribution": lambda: attribute(fitted, X[:5]),
        "drift": lambda: DomainDetector(fitted).fit(X).drift(X.assign(**{SCRIPT: 5.0})),
        "foreign row": lambda: DomainDetector(fitted).fit(X).explain(X.assign(**{SCRIPT: 5.0})[:2]),
    }
    page = shown(results[kind]()._repr_html_())
    assert page.locator("img").count() == page.locator("script").count() == 0
    assert len(page.locator("body").inner_text()) > 20


@pytest.mark.slow
def test_a_report_on_rows_with_such_names_runs_no_script(model, shown, browser, tmp_path):
    for package in ("jinja2", "vl_convert"):
        pytest.importorskip(package, reason="reports need jinja2 and vl-convert-python")
    from epiboost.report import report

    fitted, X, y = model
    path = tmp_path / f"{IMAGE}.html"
    page = report(fitted, X, y, path=path, title=IMAGE, explain=False)
    assert len(shown(page._repr_html_()).frames) == 2
    opened = browser.new_page()
    opened.goto(path.as_uri())
    opened.wait_for_timeout(50)
    assert opened.evaluate("window.broken") is None
    assert opened.locator("img").count() == 0
    opened.close()
