"""The page that browsers open, and what is on it."""

SCRIPT = "<script>window.broken = true</script>"
IMAGE = "<img src=x onerror='window.broken = true'>"
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 375, "height": 740}


_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def number_of(text):
    """Return the number that a text of the page shows.

    >>> number_of("9.59 × 10⁻⁵")
    9.59e-05
    """
    return float(text.replace(" × 10", "e").translate(_SUPERSCRIPTS))


def column(page, name):
    """Return the texts of a column of the table of uncertain rows, from the top."""
    heads = [text.split(" ", maxsplit=1)[0] for text in page.locator("#uncertain thead th").all_inner_texts()]
    return page.locator(f"#uncertain tbody tr:visible > :nth-child({heads.index(name) + 1})").all_inner_texts()
