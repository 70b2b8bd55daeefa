"""Style shared by all charts: axes, scales, points, and drawing to SVG."""

import re
from typing import Any

import numpy as np

from epiboost._optional import require
from epiboost._typing import Floats

WIDTH, HEIGHT = 330, 230
_SCALE = 1.4
_FEW_DECADES, _MIN_TICKS, _MAX_TICKS = 3, 3, 7
_TICK = (
    "datum.value == 0 ? '0' : abs(datum.value) >= 0.0001 && abs(datum.value) < 10000000 "
    "? format(datum.value, abs(datum.value) < 10000 ? ',.4~r' : ',.0f') : format(datum.value, '~e')"
)
"""Tick labels have the format of `epiboost.report.formatting.number`."""
_MARGIN = 0.15
_SIZE = re.compile(r'<svg([^>]*?) width="([\d.]+)" height="[\d.]+"')
_COORDINATES = re.compile(r' (?:transform|d)="[^"]*"')
_LONG_NUMBER = re.compile(r"\d+\.\d{3,}")

_CONFIG: dict[str, Any] = {
    "font": "system-ui, Helvetica, Arial, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--ink-soft)",
        "titleColor": "var(--ink)",
        "gridColor": "var(--grid)",
        "domainColor": "var(--ink-soft)",
        "tickColor": "var(--ink-soft)",
        "labelFontSize": 13,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelLimit": 150,
        "tickCount": 5,
        "labelFlush": False,
    },
    "legend": {
        "labelColor": "var(--ink)",
        "labelFontSize": 13,
        "orient": "top",
        "title": None,
        "symbolSize": 70,
        "labelLimit": 220,
        "columns": 1,
        "rowPadding": 3,
    },
}


def axis(
    field: str,
    title: str,
    *,
    format: str | None = None,  # noqa: A002 (Vega-Lite's own name)
    domain: list[float] | None = None,
    scale: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the axis of a numeric field."""
    ticks: dict[str, Any] = {"labelExpr": _TICK} if format is None else {"format": format}
    scale = dict(scale or {})
    if domain is not None:
        scale |= {"domain": domain, "nice": False}
    ticks |= scale.pop("axis", {})
    return {"field": field, "type": "quantitative", "title": title, "axis": ticks, "scale": scale}


def smallest_positive(values: Floats) -> float:
    """Return the smallest value above zero, or zero; a logarithmic scale draws zeros there."""
    positive = values[values > 0.0]
    return float(positive.min()) if positive.size else 0.0


def value_scale(values: Floats, floor: float) -> dict[str, Any]:
    """Return a logarithmic scale if the values are spread widely enough, else a linear one."""
    high = float(values.max())
    if floor <= 0.0 or high <= floor:
        return {"zero": floor <= 0.0}
    decades = np.arange(np.floor(np.log10(floor)), np.ceil(np.log10(high)) + 1)
    steps = (1.0, 2.0, 5.0) if len(decades) <= _FEW_DECADES else (1.0,)
    ticks = np.multiply.outer(10.0**decades, steps).ravel()
    ticks = ticks[(ticks >= floor * (1.0 - _MARGIN)) & (ticks <= high * (1.0 + _MARGIN))]
    thinned = ticks[:: -(-len(ticks) // _MAX_TICKS)] if len(ticks) else ticks
    if len(thinned) < _MIN_TICKS:  # less than a decade: linear
        return {"zero": False, "nice": False, "domain": [floor * (1.0 - _MARGIN), high * (1.0 + _MARGIN)]}
    domain = [floor * (1.0 - _MARGIN), high * (1.0 + _MARGIN)]
    return {"type": "log", "nice": False, "domain": domain, "axis": {"values": thinned.tolist()}}


def value_range(values: Floats) -> tuple[float, float]:
    """Return the smallest and the largest value; if they are equal, a range of width 1 around them."""
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def labelled_points(values: list[dict[str, Any]], x: str, y: str, size: int = 26) -> dict[str, Any]:
    """Return a layer of points, each with the text of its field "text"."""
    return {
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "color": "var(--blue)", "size": size, "opacity": 1},
        "encoding": {
            "x": {"field": x, "type": "quantitative"},
            "y": {"field": y, "type": "quantitative"},
            "description": {"field": "text", "type": "nominal"},
        },
    }


def draw_svg(chart: dict[str, Any]) -> str:
    """Draw a chart; vl-convert may fetch nothing."""
    convert = require("vl_convert", extra="report", purpose="drawing a report")
    spec = {"width": WIDTH, "height": HEIGHT, "background": None, "padding": 4, **chart, "config": _CONFIG}
    svg: str = convert.vegalite_to_svg(spec, allowed_base_urls=[])
    svg = _COORDINATES.sub(lambda match: _LONG_NUMBER.sub(_rounded, match.group()), svg)
    # A maximum width in place of a fixed size: letters have the same size in all charts.
    return _SIZE.sub(
        lambda match: f'<svg style="max-width:{_SCALE * float(match.group(2)):.0f}px"{match.group(1)}', svg, 1
    )


def _rounded(match: re.Match[str]) -> str:
    """Return a coordinate rounded to a hundredth of a pixel, which halves the size of the page."""
    return f"{float(match.group()):.2f}"
