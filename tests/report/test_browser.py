"""The report in a real browser: drawn, sorted, filtered, hovered, reached by keyboard, silent and alone."""

import os
import re
import shutil

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostClassifier

pytest.importorskip("jinja2", reason="reports need jinja2")
pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
pytest.importorskip("shap", reason="reports need shap")
from epiboost.report.formatting import number

playwright = pytest.importorskip("playwright.sync_api", reason="a browser is driven by playwright, which is not here")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed; on Debian: apt install chromium")

SCRIPT = "<script>window.broken = true</script>"
IMAGE = "<img src=x onerror='window.broken = true'>"
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 375, "height": 740}


@pytest.fixture(scope="module")
def report_file(tmp_path_factory):
    random = np.random.default_rng(0)
    n = 700
    X = pd.DataFrame(
        {"size": random.normal(size=n), SCRIPT: random.normal(size=n), "town": random.choice(["a", IMAGE], n)}
    )
    y = np.where(X["size"] + 0.2 * random.normal(size=n) > 0, "</script>yes", "no")
    model = EpiBoostClassifier(n_members=4, n_estimators=40, n_jobs=1, random_state=0).fit(X[:300], y[:300])
    path = tmp_path_factory.mktemp("report") / "report.html"
    model.report(X[300:], y[300:], ood=X[:50].assign(size=7.0), path=path, title=f"Is {SCRIPT} text?")
    model.save(path.with_suffix(".epib"))
    X[300:].to_parquet(path.with_suffix(".parquet"))
    return path


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield started
        started.close()


@pytest.fixture
def opened(browser, report_file):
    """Return a way to open the report, and what it said and asked for."""
    contexts, said, asked = [], [], []

    def open_page(viewport=DESKTOP, scheme="light", **options):
        context = browser.new_context(viewport=viewport, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(report_file.as_uri())
        return page

    open_page.said, open_page.asked = said, asked
    yield open_page
    for context in contexts:
        context.close()


def column(page, name):
    """Return the texts of a column of the table, from the top."""
    heads = [text.split(" ", maxsplit=1)[0] for text in page.locator("#uncertain thead th").all_inner_texts()]
    return page.locator(f"#uncertain tbody tr:visible > :nth-child({heads.index(name) + 1})").all_inner_texts()


def test_all_charts_are_drawn_and_nothing_is_said_or_fetched(opened, report_file):
    page = opened()
    for chart in ("rejection", "calibration", "uncertainty", "domain", "driver-data", "driver-knowledge"):
        box = page.locator(f"#chart-{chart} svg").bounding_box()
        assert box["width"] > 250
        assert box["height"] > 60
    assert page.locator("#chart-uncertainty svg .role-mark path").count() >= 400
    assert page.locator("#chart-rejection svg .role-mark path").count() >= 4
    assert opened.said == []
    assert opened.asked == [report_file.as_uri()]


def test_the_four_answers_are_on_the_first_screen(opened):
    page = opened()
    for card in ("good", "honest", "handover", "foreign"):
        box = page.locator(f"#card-{card}").bounding_box()
        assert box["y"] + box["height"] <= DESKTOP["height"]
        assert len(page.locator(f"#card-{card} .sentence").inner_text()) > 20
    assert [" ".join(text.split()) for text in page.locator("#card-handover tbody th").all_inner_texts()] == [
        "95 %",
        "90 %",
        "80 %",
    ]


def test_what_looks_like_markup_is_shown_as_text_and_never_run(opened):
    page = opened()
    assert page.locator("h1").inner_text() == f"Is {SCRIPT} text?"
    assert page.title() == f"Is {SCRIPT} text?"
    assert SCRIPT in page.locator("#uncertain thead").inner_text()
    assert IMAGE.split(maxsplit=1)[0] in page.locator("#uncertain tbody").inner_text()
    assert "</script>yes" in page.locator("#uncertain tbody").inner_text()
    assert page.locator("#chart-driver-data svg").text_content().count("<script>") >= 1
    assert page.locator("img").count() == 0
    page.locator("#chart-uncertainty .picture").focus()
    page.keyboard.press("ArrowRight")
    assert SCRIPT in page.locator("#tip").inner_text()
    assert page.evaluate("window.broken") is None


def test_a_script_that_slipped_through_would_not_run(browser, report_file, tmp_path):
    """The policy of the page is the second door."""
    broken = tmp_path / "broken.html"
    broken.write_text(report_file.read_text(encoding="utf-8").replace("</main>", f"{SCRIPT}</main>"), encoding="utf-8")
    page = browser.new_page()
    page.goto(broken.as_uri())
    assert page.evaluate("window.broken") is None
    assert page.locator("#found").inner_text() == "80 of 80 rows"  # the page's own script did
    page.close()


def test_the_table_sorts_by_pointer_and_by_keyboard(opened):
    page = opened()
    assert page.locator("th[aria-sort]").inner_text().startswith("total")
    knowledge = page.get_by_role("button", name="knowledge")
    knowledge.click()
    found = [float(text) for text in column(page, "knowledge")]
    assert found == sorted(found, reverse=True)
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("knowledge")
    knowledge.press("Enter")
    found = [float(text) for text in column(page, "knowledge")]
    assert found == sorted(found)
    assert page.locator("th[aria-sort=ascending]").count() == 1
    page.get_by_role("button", name="row").press("Space")
    rows = [int(text.replace(",", "")) for text in column(page, "row")]
    assert rows == sorted(rows, reverse=True)
    page.get_by_role("button", name="prediction").click()
    assert column(page, "prediction") == sorted(column(page, "prediction"))


def test_the_table_filters_by_kind_and_by_words(opened):
    page = opened()
    assert page.locator("#found").inner_text() == "80 of 80 rows"
    page.locator("#kind").select_option("noisy", timeout=2000)
    kinds = column(page, "marked")
    assert 0 < len(kinds) < 80
    assert all("noisy" in kind for kind in kinds)
    page.locator("#kind").select_option("")
    page.locator("#search").fill("WRONG")
    assert set(column(page, "error")) == {"wrong"}
    page.locator("#search").fill("no such words")
    assert column(page, "row") == []
    assert page.locator("#found").inner_text() == "0 of 80 rows"


def test_hovering_shows_the_row_under_the_pointer(opened, report_file):
    """The row that is named is the model's, and lies as high as its knowledge uncertainty puts it."""
    page = opened()
    rows = pd.read_parquet(report_file.with_suffix(".parquet"))
    model = EpiBoostClassifier.load(report_file.with_suffix(".epib"))
    known, said = model.predict_uncertainty(rows).knowledge, model.predict(rows)
    points = page.locator("#chart-uncertainty svg .role-mark path")
    tip = page.locator("#tip")
    assert tip.is_hidden()
    points.nth(0).scroll_into_view_if_needed()
    seen = []
    for place in range(3, 240, 29):
        box = points.nth(place).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert tip.is_visible()
        text = " ".join(tip.inner_text().split())
        row = int(re.match(r"Row ([\d,]+)", text)[1].replace(",", "")) - 1
        assert number(float(known[row])) in text
        assert said[row] in text
        near = page.locator("#chart-uncertainty .near").bounding_box()
        seen.append((near["y"], float(known[row])))
    heights, values = np.array(seen).T
    assert len(set(values)) > 5
    order = np.argsort(heights, kind="stable")
    falls = np.diff(np.log(values[order])) <= 1e-9
    assert falls[np.diff(heights[order]) > 2].all()
    page.mouse.move(2, 2)
    assert tip.is_hidden()


def test_a_tap_shows_a_row_until_another_place_is_touched(opened):
    page = opened(PHONE, has_touch=True)
    point = page.locator("#chart-uncertainty svg .role-mark path").nth(5)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(100)
    assert page.locator("#tip").is_visible()
    assert page.locator("#tip").inner_text().startswith("Row ")
    page.touchscreen.tap(5, 5)
    assert page.locator("#tip").is_hidden()


def test_pictures_are_found_where_they_are_after_the_table_has_shrunk(opened):
    page = opened()
    bar = page.locator("#chart-domain svg .role-mark path").last
    for word in ("", "no such words"):
        page.locator("#search").fill(word)
        bar.scroll_into_view_if_needed()
        box = bar.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert page.locator("#tip").is_visible()
        page.mouse.move(2, 2)
    assert page.locator("#none").is_visible()


def test_what_is_pointed_at_is_read_out(opened):
    page = opened()
    page.locator("#chart-domain .picture").focus()
    page.keyboard.press("ArrowRight")
    said = page.locator("#said[role=status]")
    assert "of this table between" in said.text_content()


def test_paper_has_the_first_rows_as_they_are_sorted(opened):
    page = opened()
    page.get_by_role("button", name="row").click()
    rows = column(page, "row")
    page.emulate_media(media="print")
    assert column(page, "row") == rows[:40]


def test_every_picture_is_read_by_keyboard_and_has_a_text(opened):
    page = opened()
    for chart in ("rejection", "calibration", "uncertainty", "domain", "driver-data"):
        picture = page.locator(f"#chart-{chart} .picture")
        assert len(picture.get_attribute("aria-label")) > 20
        picture.focus()
        page.keyboard.press("ArrowRight")
        first = page.locator("#tip").inner_text()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert first
        assert page.locator("#tip").inner_text() != first
        page.keyboard.press("Escape")
        assert page.locator("#tip").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out_from_their_ground(opened, scheme):
    """Contrast as the guidelines of the web measure it: 4.5 for text."""
    page = opened(scheme=scheme)
    found = page.evaluate(
        """() => {
          const light = (colour) => {
            const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => part / 255)
              .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const ground = (node) => {
            for (; node; node = node.parentElement) {
              const colour = getComputedStyle(node).backgroundColor;
              if (colour !== "rgba(0, 0, 0, 0)") return colour;
            }
          };
          const contrast = (node) => {
            const style = getComputedStyle(node);
            const text = light(node.closest("svg") ? style.fill : style.color), back = light(ground(node));
            return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
          };
          const names = "h1, h2, p, .number, .label, .word, .sign, th, td, .mark, dt, dd, svg text";
          return [...document.querySelectorAll(names)].filter((node) => node.textContent.trim())
            .map((node) => [contrast(node), node.outerHTML]);
        }"""
    )
    assert len(found) > 300
    assert [text for contrast, text in found if contrast < 4.5] == []


def test_a_phone_shows_all_without_scrolling_sideways_and_in_letters_that_can_be_read(opened):
    page = opened(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    sizes = page.evaluate(
        """() => {
          const size = (text) => {
            const drawn = text.getScreenCTM();
            return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(drawn.a, drawn.b);
          };
          return [...document.querySelectorAll("svg text")].filter((text) => text.textContent.trim()).map(size);
        }"""
    )
    assert min(sizes) >= 9


def test_it_prints_on_white_paper_whatever_the_screen(opened):
    page = opened(scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".filter").is_hidden()
    assert len(page.pdf(format="A4")) > 20_000


def test_it_can_be_read_without_scripts(opened):
    page = opened(java_script_enabled=False)
    assert page.locator("#chart-uncertainty svg").is_visible()
    assert page.locator("#uncertain tbody tr").count() == 80
    assert page.locator(".filter").is_hidden()
