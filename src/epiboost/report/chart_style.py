"""How all pictures look, and how they become SVG: axes, scales, and the one call that draws."""

import re
from typing import Any

import numpy as np

from epiboost._optional import require
from epiboost._typing import Floats

WIDTH, HEIGHT = 330, 230
_SCALE = 1.4
_FEW_DECADES, _FEWEST_TICKS, _MOST_TICKS = 3, 3, 7
_TICK = (
    "datum.value == 0 ? '0' : abs(datum.value) >= 0.0001 && abs(datum.value) < 10000000 "
    "? format(datum.value, abs(datum.value) < 10000 ? ',.4~r' : ',.0f') : format(datum.value, '~e')"
)
"""Ticks are written like the numbers of tables."""
_NEAR = 0.15
_SIZE = re.compile(r'<svg([^>]*?) width="([\d.]+)" height="[\d.]+"')
_PLACES = re.compile(r' (?:transform|d)="[^"]*"')
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


def axis_of(
    field: str,
    title: str,
    *,
    format: str | None = None,  # noqa: A002 (Vega-Lite's own name)
    domain: list[float] | None = None,
    scale: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the axis of a number, by the field that holds it."""
    axis: dict[str, Any] = {"labelExpr": _TICK} if format is None else {"format": format}
    scale = dict(scale or {})
    if domain is not None:
        scale |= {"domain": domain, "nice": False}
    axis |= scale.pop("axis", {})
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": scale}


def floor_of(values: Floats) -> float:
    """Return where zeros are drawn on a logarithmic scale: at the smallest value above, or at zero if there is none."""
    positive = values[values > 0.0]
    return float(positive.min()) if positive.size else 0.0


def scale_of(values: Floats, floor: float) -> dict[str, Any]:
    """Return a logarithmic scale where values spread over it, else a plain one."""
    high = float(values.max())
    if floor <= 0.0 or high <= floor:
        return {"zero": floor <= 0.0}
    decades = np.arange(np.floor(np.log10(floor)), np.ceil(np.log10(high)) + 1)
    steps = (1.0, 2.0, 5.0) if len(decades) <= _FEW_DECADES else (1.0,)
    ticks = np.multiply.outer(10.0**decades, steps).ravel()
    ticks = ticks[(ticks >= floor * (1.0 - _NEAR)) & (ticks <= high * (1.0 + _NEAR))]
    thinned = ticks[:: -(-len(ticks) // _MOST_TICKS)] if len(ticks) else ticks
    if len(thinned) < _FEWEST_TICKS:  # less than a decade: equal steps say more
        return {"zero": False, "nice": False, "domain": [floor * (1.0 - _NEAR), high * (1.0 + _NEAR)]}
    axis = {"values": thinned.tolist()}
    return {"type": "log", "nice": False, "domain": [floor * (1.0 - _NEAR), high * (1.0 + _NEAR)], "axis": axis}


def span_of(values: Floats) -> tuple[float, float]:
    """Return the smallest and the largest value, or what lies around the only one."""
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def svg_of(chart: dict[str, Any]) -> str:
    """Draw a chart; no address may be fetched for it."""
    convert = require("vl_convert", extra="report", purpose="drawing a report")
    spec = {"width": WIDTH, "height": HEIGHT, "background": None, "padding": 4, **chart, "config": _CONFIG}
    drawn: str = convert.vegalite_to_svg(spec, allowed_base_urls=[])
    drawn = _PLACES.sub(lambda place: _LONG_NUMBER.sub(_rounded, place.group()), drawn)
    # As wide as the page allows, and no wider: letters are of one size in all pictures.
    return _SIZE.sub(
        lambda size: f'<svg style="max-width:{_SCALE * float(size.group(2)):.0f}px"{size.group(1)}', drawn, 1
    )


def _rounded(found: re.Match[str]) -> str:
    """Return a number that is exact to a hundredth of a pixel, which is half of the page saved."""
    return f"{float(found.group()):.2f}"
