"""Charts in a browser: drawn, and read by pointer, touch and keyboard."""

import re

import numpy as np
import pandas as pd

from epiboost import EpiBoostClassifier
from epiboost.report.formatting import number
from tests.support.report_page import PHONE


def test_all_charts_are_drawn_without_console_messages_or_requests(opened, report_file):
    page = opened()
    for chart in ("rejection", "calibration", "uncertainty", "domain", "driver-data", "driver-knowledge"):
        box = page.locator(f"#chart-{chart} svg").bounding_box()
        assert box["width"] > 250
        assert box["height"] > 60
    assert page.locator("#chart-uncertainty svg .role-mark path").count() >= 400
    assert page.locator("#chart-rejection svg .role-mark path").count() >= 4
    assert opened.messages == []
    assert opened.requests == [report_file.as_uri()]


def test_hovering_shows_the_row_under_the_pointer(opened, report_file):
    """The tooltip holds the predictions of its row, and higher points have more knowledge uncertainty."""
    page = opened()
    rows = pd.read_parquet(report_file.with_suffix(".parquet"))
    model = EpiBoostClassifier.load(report_file.with_suffix(".epib"))
    knowledge, prediction = model.predict_uncertainty(rows).knowledge, model.predict(rows)
    points = page.locator("#chart-uncertainty svg .role-mark path")
    tooltip = page.locator("#tooltip")
    assert tooltip.is_hidden()
    points.nth(0).scroll_into_view_if_needed()
    seen = []
    for place in range(3, 240, 29):
        box = points.nth(place).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert tooltip.is_visible()
        text = " ".join(tooltip.inner_text().split())
        if "of the other table" in text:
            continue
        row = int(re.match(r"Row ([\d,]+)", text)[1].replace(",", "")) - 1
        assert number(float(knowledge[row])) in text
        assert prediction[row] in text
        near = page.locator("#chart-uncertainty .near").bounding_box()
        seen.append((near["y"], float(knowledge[row])))
    heights, values = np.array(seen).T
    assert len(set(values)) > 4
    order = np.argsort(heights, kind="stable")
    falls = np.diff(np.log(values[order])) <= 1e-9
    assert falls[np.diff(heights[order]) > 2].all()
    page.mouse.move(2, 2)
    assert tooltip.is_hidden()


def test_a_tap_shows_a_row_until_another_place_is_touched(opened):
    page = opened(PHONE, has_touch=True)
    point = page.locator("#chart-uncertainty svg .role-mark path").nth(5)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(100)
    assert page.locator("#tooltip").is_visible()
    assert page.locator("#tooltip").inner_text().startswith("Row ")
    page.touchscreen.tap(5, 5)
    assert page.locator("#tooltip").is_hidden()


def test_charts_react_where_they_are_after_the_table_has_shrunk(opened):
    page = opened()
    bar = page.locator("#chart-domain svg .role-mark path").last
    for word in ("", "no such words"):
        page.locator("#search").fill(word)
        bar.scroll_into_view_if_needed()
        box = bar.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert page.locator("#tooltip").is_visible()
        page.mouse.move(2, 2)
    assert page.locator("#empty").is_visible()


def test_tooltips_are_announced_to_screen_readers(opened):
    page = opened()
    page.locator("#chart-domain .picture").focus()
    page.keyboard.press("ArrowRight")
    announcement = page.locator("#announcement[role=status]")
    assert "of this table between" in announcement.text_content()


def test_every_chart_has_a_text_and_is_read_by_keyboard(opened):
    page = opened()
    for chart in ("rejection", "calibration", "uncertainty", "domain", "driver-data"):
        picture = page.locator(f"#chart-{chart} .picture")
        assert len(picture.get_attribute("aria-label")) > 20
        picture.focus()
        page.keyboard.press("ArrowRight")
        texts = [page.locator("#tooltip").inner_text()]
        for _ in range(2):
            page.keyboard.press("ArrowRight")
            texts.append(page.locator("#tooltip").inner_text())
        assert all(texts)
        assert len(set(texts)) > 1
        page.keyboard.press("Escape")
        assert page.locator("#tooltip").is_hidden()
