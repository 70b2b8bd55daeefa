"""A browser that opens a report."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostClassifier
from tests.support.report_page import DESKTOP, IMAGE, SCRIPT

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def chromium():
    """Return the path of Chromium, or skip the test."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed; on Debian: apt install chromium")
    return CHROMIUM


@pytest.fixture(scope="module")  # a running Playwright does not go with other event loops
def browser(chromium):
    """Return a running browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=chromium, args=options)
        yield started
        started.close()


@pytest.fixture(scope="session")
def report_file(request, tmp_path_factory):
    """Return the path of a report on a table with names and values that look like markup."""
    request.getfixturevalue("chromium")  # without a browser nothing is trained
    for package in ("jinja2", "vl_convert", "shap"):
        pytest.importorskip(package, reason="reports need jinja2, vl-convert-python and shap")
    from epiboost.report import report

    random = np.random.default_rng(0)
    n = 700
    X = pd.DataFrame(
        {"size": random.normal(size=n), SCRIPT: random.normal(size=n), "town": random.choice(["a", IMAGE], n)}
    )
    y = np.where(X["size"] + 0.2 * random.normal(size=n) > 0, "</script>yes", "no")
    model = EpiBoostClassifier(n_members=4, n_estimators=40, n_jobs=1, random_state=0).fit(X[:300], y[:300])
    path = tmp_path_factory.mktemp("report") / "report.html"
    report(model, X[300:], y[300:], X_ood=X[:50].assign(size=7.0), path=path, title=f"Is {SCRIPT} text?")
    model.save(path.with_suffix(".epib"))
    X[300:].to_parquet(path.with_suffix(".parquet"))
    return path


@pytest.fixture
def opened(browser, report_file):
    """Return a function that opens the report and records console messages and requests."""
    contexts, messages, requests = [], [], []

    def open_page(viewport=DESKTOP, scheme="light", **options):
        context = browser.new_context(viewport=viewport, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(report_file.as_uri())
        return page

    open_page.messages, open_page.requests = messages, requests
    yield open_page
    for context in contexts:
        context.close()
