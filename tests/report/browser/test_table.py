"""The table of uncertain rows in a browser: sorted, filtered and printed."""

from tests.support.report_page import column, number_of


def test_the_table_sorts_by_pointer_and_by_keyboard(opened):
    page = opened()
    assert page.locator("th[aria-sort]").inner_text().startswith("total")
    knowledge = page.get_by_role("button", name="knowledge")
    knowledge.click()
    found = [number_of(text) for text in column(page, "knowledge")]
    assert found == sorted(found, reverse=True)
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("knowledge")
    knowledge.press("Enter")
    found = [number_of(text) for text in column(page, "knowledge")]
    assert found == sorted(found)
    assert page.locator("th[aria-sort=ascending]").count() == 1
    page.get_by_role("button", name="row").press("Space")
    rows = [int(text.replace(",", "")) for text in column(page, "row")]
    assert rows == sorted(rows, reverse=True)
    page.get_by_role("button", name="prediction").click()
    assert column(page, "prediction") == sorted(column(page, "prediction"))


def test_the_table_filters_by_kind_and_by_text(opened):
    page = opened()
    assert page.locator("#shown").inner_text() == "80 of 80 rows"
    page.locator("#kind").select_option("noisy", timeout=2000)
    kinds = column(page, "kind")
    assert 0 < len(kinds) < 80
    assert all("noisy" in kind for kind in kinds)
    page.locator("#kind").select_option("")
    page.locator("#search").fill("WRONG")
    assert set(column(page, "error")) == {"wrong"}
    page.locator("#search").fill("no such text")
    assert column(page, "row") == []
    assert page.locator("#shown").inner_text() == "0 of 80 rows"


def test_the_first_rows_are_printed_in_the_current_order(opened):
    page = opened()
    page.get_by_role("button", name="row").click()
    rows = column(page, "row")
    page.emulate_media(media="print")
    assert column(page, "row") == rows[:40]
