"""The page that browsers open, and what is on it."""

SCRIPT = "<script>window.broken = true</script>"
IMAGE = "<img src=x onerror='window.broken = true'>"
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 375, "height": 740}


def column(page, name):
    """Return the texts of a column of the table of uncertain rows, from the top."""
    heads = [text.split(" ", maxsplit=1)[0] for text in page.locator("#uncertain thead th").all_inner_texts()]
    return page.locator(f"#uncertain tbody tr:visible > :nth-child({heads.index(name) + 1})").all_inner_texts()
