"""The features that drive an uncertainty."""

from epiboost.report.charts.style import WIDTH, draw_svg
from epiboost.report.facts import Driver
from epiboost.report.formatting import percent

_BAR_STEP = 22


def driver_chart(driver: Driver) -> str:
    """Draw the share of each feature in one measure of uncertainty."""
    colour = "var(--green)" if driver.other else "var(--orange)" if driver.measure == "knowledge" else "var(--blue)"
    values = [
        {"position": position, "name": name, "share": share, "text": f"{name}: {percent(share)}"}
        for position, (name, share) in enumerate(zip(driver.names, driver.shares, strict=True))
    ]
    largest = max(driver.shares, default=1.0)
    share = {
        "field": "share",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [0, 1.2 * largest], "nice": False},
    }
    bars = {
        "mark": {"type": "bar", "color": colour, "height": {"band": 0.7}},
        "encoding": {"x": share, "description": {"field": "text", "type": "nominal"}},
    }
    text = {"type": "text", "fontSize": 13, "color": "var(--ink)", "aria": False}
    shares = {
        "mark": {**text, "align": "left", "dx": 4},
        "encoding": {"x": share, "text": {"field": "share", "type": "quantitative", "format": ".0%"}},
    }
    names = {  # as marks, not as axis labels: two features may have the same text
        "mark": {**text, "align": "right", "x": -6, "limit": 130},
        "encoding": {"text": {"field": "name", "type": "nominal"}},
    }
    return draw_svg(
        {
            "data": {"values": values},
            "height": _BAR_STEP * len(values),
            "width": WIDTH - 100,
            "padding": {"left": 28, "right": 4, "top": 4, "bottom": 4},
            "encoding": {"y": {"field": "position", "type": "ordinal", "axis": None}},
            "layer": [bars, shares, names],
        }
    )
