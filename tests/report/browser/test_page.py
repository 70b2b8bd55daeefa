"""The page in a browser: first screen, safety, contrast, phones, print, no scripts."""

import pytest

from tests.support.report_page import DESKTOP, IMAGE, PHONE, SCRIPT


def test_the_four_cards_are_on_the_first_screen(opened):
    page = opened()
    for card in ("accuracy", "calibration", "abstention", "out-of-domain"):
        box = page.locator(f"#card-{card}").bounding_box()
        assert box["y"] + box["height"] <= DESKTOP["height"]
        assert len(page.locator(f"#card-{card} .sentence").inner_text()) > 20
    assert [" ".join(text.split()) for text in page.locator("#card-abstention tbody th").all_inner_texts()] == [
        "95 %",
        "90 %",
        "80 %",
    ]


def test_markup_in_the_data_is_shown_as_text(opened):
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
    assert SCRIPT in page.locator("#tooltip").inner_text()
    assert page.evaluate("window.broken") is None


def test_the_content_security_policy_stops_other_scripts(browser, report_file, tmp_path):
    broken = tmp_path / "broken.html"
    broken.write_text(report_file.read_text(encoding="utf-8").replace("</main>", f"{SCRIPT}</main>"), encoding="utf-8")
    page = browser.new_page()
    page.goto(broken.as_uri())
    assert page.evaluate("window.broken") is None
    assert page.locator("#shown").inner_text() == "80 of 80 rows"  # the page's own script did
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(opened, scheme):
    """The web content accessibility guidelines ask for a contrast of 4.5."""
    page = opened(scheme=scheme)
    found = page.evaluate(
        """() => {
          const light = (colour) => {
            const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => part / 255)
              .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const background = (node) => {
            for (; node; node = node.parentElement) {
              const colour = getComputedStyle(node).backgroundColor;
              if (colour !== "rgba(0, 0, 0, 0)") return colour;
            }
          };
          const contrast = (node) => {
            const style = getComputedStyle(node);
            const text = light(node.closest("svg") ? style.fill : style.color), back = light(background(node));
            return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
          };
          const names = "h1, h2, p, .number, .label, .verdict, .sign, th, td, .mark, dt, dd, svg text";
          return [...document.querySelectorAll(names)].filter((node) => node.textContent.trim())
            .map((node) => [contrast(node), node.outerHTML]);
        }"""
    )
    assert len(found) > 300
    assert [text for contrast, text in found if contrast < 4.5] == []


def test_a_phone_shows_readable_text_without_scrolling_sideways(opened):
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


def test_print_is_white_in_dark_mode_too(opened):
    page = opened(scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".filter").is_hidden()
    assert len(page.pdf(format="A4")) > 20_000


def test_the_page_is_readable_without_scripts(opened):
    page = opened(java_script_enabled=False)
    assert page.locator("#chart-uncertainty svg").is_visible()
    assert page.locator("#uncertain tbody tr").count() == 80
    assert page.locator(".filter").is_hidden()
