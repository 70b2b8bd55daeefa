"""The pictures of a report: Vega-Lite charts, drawn to SVG before the page is written.

Vega-Lite (BSD-3-Clause, kept by the Vega project and used by Altair) because a chart is plain data, because each mark of
its SVG carries a text for those who do not see it, and because its Python package `vl-convert-python` draws without a
browser and without a network. So the page holds finished pictures: they are there without JavaScript and on paper, they
are sharp at any size, and the page stays small. Their colours are CSS variables, which is how they follow the reader's
light or dark mode; a small script shows the text of the mark that is nearest to the pointer.

Nothing of the data is put where Vega-Lite would read it as a formula: fields have names of ours, and values are values.
"""

import re
from typing import Any

import numpy as np

from epiboost._optional import require
from epiboost._typing import Floats
from epiboost.metrics import RejectionCurve
from epiboost.report.facts import Domain, Driver, Facts
from epiboost.report.texts import number, percent

_WIDTH, _HEIGHT = 330, 230
_MOST_STEPS = 120
_N_BINS = 32
_BAR_STEP = 22
_SCALE = 1.4
_FEW_DECADES, _MOST_TICKS = 3, 7
_TICK = "datum.value >= 0.001 && datum.value < 100000 ? format(datum.value, '~r') : format(datum.value, '~e')"
_NEAR = 0.15
_SIZE = re.compile(r'<svg([^>]*?) width="([\d.]+)" height="[\d.]+"')
_PLACES = re.compile(r' (?:transform|d)="[^"]*"')
_LONG_NUMBER = re.compile(r"\d+\.\d{3,}")

KINDS = {
    "ordinary": ("var(--muted)", "circle"),
    "noisy": ("var(--blue)", "square"),
    "unfamiliar": ("var(--orange)", "triangle-up"),
    "other": ("var(--green)", "diamond"),
}
"""Colour and shape of each kind of row; colours of Okabe and Ito, told apart by shape as well."""

KIND_LABELS = {"ordinary": "ordinary", "noisy": "noisy", "unfamiliar": "unfamiliar", "other": "other table"}

_CONFIG: dict[str, Any] = {
    "font": "system-ui, Helvetica, Arial, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--ink-soft)",
        "titleColor": "var(--ink)",
        "gridColor": "var(--grid)",
        "domainColor": "var(--ink-soft)",
        "tickColor": "var(--ink-soft)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelLimit": 150,
        "tickCount": 5,
        "labelFlush": False,
    },
    "legend": {
        "labelColor": "var(--ink)",
        "labelFontSize": 12,
        "orient": "top",
        "title": None,
        "symbolSize": 70,
        "labelLimit": 220,
        "columns": 1,
        "rowPadding": 3,
    },
}


def rejection_chart(facts: Facts) -> str:
    """Draw how the error falls as cases are handed over; empty without targets."""
    if not facts.rejection:
        return ""
    first = next(iter(facts.rejection.values()))
    ends = np.array([0.0, 1.0])
    lines = [(_curve_name(facts, name), curve.rejected, curve.error) for name, curve in facts.rejection.items()]
    lines.append(("a perfect order", first.oracle_rejected, first.oracle_error))
    lines.append(("a random order", ends, first.error[[0, -1]]))
    values = [
        {"share": float(share), "error": float(error), "line": name}
        for name, rejected, errors in lines
        for share, error in zip(*_thinned(rejected, errors), strict=True)
    ]
    names = [name for name, _, _ in lines]
    colours = ["var(--blue)", "var(--orange)"][: len(names) - 2] + ["var(--ink-soft)", "var(--muted)"]
    dashes = [[1, 0], [6, 2, 2, 2]][: len(names) - 2] + [[5, 4], [1, 4]]
    scale = {"domain": names}
    line = {
        "data": {"values": values},
        "mark": {"type": "line", "strokeWidth": 2.2, "interpolate": "linear", "aria": False},
        "encoding": {
            "x": _axis("share", "share of cases handed over", format="%", domain=[0, 1]),
            "y": _axis("error", _left_title(facts), format="%" if facts.task == "classification" else "~g"),
            "color": {"field": "line", "type": "nominal", "scale": {**scale, "range": colours}},
            "strokeDash": {"field": "line", "type": "nominal", "scale": {**scale, "range": dashes}},
            "order": {"field": "share", "type": "quantitative"},
        },
    }
    return _svg({"layer": [line, _dots(_steps(facts, first), "share", "error")]})


def calibration_chart(facts: Facts) -> str:
    """Draw what is claimed against what comes to pass; empty without targets."""
    curve = facts.reliability
    if curve is None:
        return ""
    classifies = facts.task == "classification"
    told = "Claims {}, right in {} ({} of the cases)" if classifies else "Intervals of {} hold {} of the targets"
    dots = [
        {"x": float(x), "y": float(y), "text": told.format(percent(x), percent(y), percent(w))}
        for x, y, w in zip(curve.predicted, curve.observed, curve.weight, strict=True)
    ]
    x_title = "confidence claimed" if classifies else "coverage claimed"
    y_title = "share that was right" if classifies else "share of targets covered"
    axes = {
        "x": _axis("x", x_title, format="%", domain=[0, 1]),
        "y": _axis("y", y_title, format="%", domain=[0, 1]),
    }
    ideal = {
        "data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]},
        "mark": {"type": "line", "color": "var(--muted)", "strokeDash": [1, 4], "strokeWidth": 2, "aria": False},
        "encoding": axes,
    }
    line = {
        "data": {"values": dots},
        "mark": {"type": "line", "color": "var(--blue)", "strokeWidth": 2, "aria": False},
        "encoding": axes,
    }
    return _svg({"layer": [ideal, line, _dots(dots, "x", "y", size=42)]})


def uncertainty_chart(facts: Facts) -> str:
    """Draw data against knowledge uncertainty, a point a row."""
    points = facts.points
    data = np.zeros(len(points.row)) if points.data is None else points.data
    floors = [_floor(data), _floor(points.knowledge)]
    order = ["ordinary", "other", "noisy", "unfamiliar"]
    values = [
        {
            "x": max(float(data[place]), floors[0]),
            "y": max(float(points.knowledge[place]), floors[1]),
            "kind": KIND_LABELS[points.kind[place]],
            "text": f"{place}",
        }
        for place in sorted(range(len(points.row)), key=lambda place: order.index(points.kind[place]))
    ]
    shown = [kind for kind in KINDS if kind in points.kind]
    scale = {"domain": [KIND_LABELS[kind] for kind in shown]}
    x_title = f"data uncertainty ({facts.unit})" if points.data is not None else "data uncertainty is not known"
    return _svg(
        {
            "data": {"values": values},
            "height": _HEIGHT + 50,
            "mark": {"type": "point", "filled": True, "size": 34, "opacity": 0.75, "strokeWidth": 0},
            "encoding": {
                "x": _axis("x", x_title, scale=_scale(data, floors[0])),
                "y": _axis("y", f"knowledge uncertainty ({facts.unit})", scale=_scale(points.knowledge, floors[1])),
                "color": {
                    "field": "kind",
                    "type": "nominal",
                    "scale": {**scale, "range": [KINDS[kind][0] for kind in shown]},
                    "legend": {"columns": 2, "columnPadding": 24},
                },
                "shape": {
                    "field": "kind",
                    "type": "nominal",
                    "scale": {**scale, "range": [KINDS[kind][1] for kind in shown]},
                },
                "description": {"field": "text", "type": "nominal"},
            },
        }
    )


def domain_chart(domain: Domain) -> str:
    """Draw how unsure the model is of the rows of both tables."""
    both = np.append(domain.inside, domain.outside)
    floor = _floor(both)
    by_logarithm = floor > 0.0
    place = (lambda values: np.log10(np.maximum(values, floor))) if by_logarithm else (lambda values: values)
    edges = np.linspace(*_range(place(both)), _N_BINS + 1)
    names = ("this table", "other table")
    values = []
    for name, rows in zip(names, (domain.inside, domain.outside), strict=True):
        shares = np.histogram(place(rows), edges)[0] / len(rows)
        ends = 10.0**edges if by_logarithm else edges
        values += [
            {
                "low": float(low),
                "high": float(high),
                "share": float(share),
                "zero": 0,
                "table": name,
                "text": f"{percent(share)} of {name} between {number(low)} and {number(high)}",
            }
            for low, high, share in zip(ends[:-1], ends[1:], shares, strict=True)
        ]
    colours = {"domain": list(names), "range": ["var(--blue)", "var(--green)"]}
    bars = {
        "data": {"values": values},
        "encoding": {
            "x": _axis("low", "knowledge uncertainty", scale=_scale(both, floor)),
            "x2": {"field": "high"},
            "y": _axis("share", "share of the table's rows", format="%"),
            "y2": {"field": "zero"},
            "color": {"field": "table", "type": "nominal", "scale": colours, "legend": {"symbolType": "square"}},
            "description": {"field": "text", "type": "nominal"},
        },
        "layer": [  # one filled, one outlined: they are told apart where they overlap, and without colours
            {"mark": {"type": "rect", "opacity": 0.45}, "transform": [{"filter": {"field": "table", "equal": names[0]}}]},
            {
                "mark": {"type": "rect", "filled": False, "strokeWidth": 2},
                "transform": [{"filter": {"field": "table", "equal": names[1]}}],
            },
        ],
    }
    layers: list[dict[str, Any]] = [bars]
    if domain.threshold is not None and domain.threshold > 0.0:
        layers.append(
            {
                "data": {"values": [{"x": float(max(domain.threshold, floor))}]},
                "mark": {"type": "rule", "color": "var(--ink)", "strokeDash": [5, 3], "strokeWidth": 1.5, "aria": False},
                "encoding": {"x": {"field": "x", "type": "quantitative"}},
            }
        )
    return _svg({"layer": layers})


def driver_chart(driver: Driver) -> str:
    """Draw what part each feature has in one uncertainty."""
    colour = "var(--orange)" if driver.measure == "knowledge" else "var(--blue)"
    values = [
        {"place": place, "name": name, "share": share, "text": f"{name}: {percent(share)}"}
        for place, (name, share) in enumerate(zip(driver.names, driver.shares, strict=True))
    ]
    most = max(driver.shares, default=1.0)
    share = {"field": "share", "type": "quantitative", "axis": None, "scale": {"domain": [0, 1.2 * most], "nice": False}}
    bars = {
        "mark": {"type": "bar", "color": colour, "height": {"band": 0.7}},
        "encoding": {"x": share, "description": {"field": "text", "type": "nominal"}},
    }
    text = {"type": "text", "fontSize": 12, "color": "var(--ink)", "aria": False}
    shares = {
        "mark": {**text, "align": "left", "dx": 4},
        "encoding": {"x": share, "text": {"field": "share", "type": "quantitative", "format": ".0%"}},
    }
    names = {  # as marks and not as labels of the axis: two features may be shown by the same name
        "mark": {**text, "align": "right", "x": -6, "limit": 130},
        "encoding": {"text": {"field": "name", "type": "nominal"}},
    }
    return _svg(
        {
            "data": {"values": values},
            "height": _BAR_STEP * len(values),
            "width": _WIDTH - 100,
            "padding": {"left": 28, "right": 4, "top": 4, "bottom": 4},
            "encoding": {"y": {"field": "place", "type": "ordinal", "axis": None}},
            "layer": [bars, shares, names],
        }
    )


def _curve_name(facts: Facts, name: str) -> str:
    score = facts.scores.get(name)
    return f"{name} uncertainty" + ("" if score is None else f" (PRR {score:.2f})")


def _left_title(facts: Facts) -> str:
    return "wrong predictions left" if facts.task == "classification" else "mean squared error left"


def _steps(facts: Facts, curve: RejectionCurve) -> list[dict[str, Any]]:
    """Return what the first curve says at every twentieth."""
    shares = np.arange(21) / 20
    errors = np.interp(shares, curve.rejected, curve.error)
    shown = percent if facts.task == "classification" else number
    return [
        {"share": float(x), "error": float(y), "text": f"Hand over {percent(x)}: {shown(float(y))} left"}
        for x, y in zip(shares, errors, strict=True)
    ]


def _dots(values: list[dict[str, Any]], x: str, y: str, size: int = 26) -> dict[str, Any]:
    return {
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "color": "var(--blue)", "size": size, "opacity": 1},
        "encoding": {
            "x": {"field": x, "type": "quantitative"},
            "y": {"field": y, "type": "quantitative"},
            "description": {"field": "text", "type": "nominal"},
        },
    }


def _axis(
    field: str,
    title: str,
    *,
    format: str | None = None,  # noqa: A002 (Vega-Lite's own name)
    domain: list[float] | None = None,
    scale: dict[str, Any] | None = None,
) -> dict[str, Any]:
    axis: dict[str, Any] = {} if format is None else {"format": format}
    scale = dict(scale or {})
    if domain is not None:
        scale |= {"domain": domain, "nice": False}
    axis |= scale.pop("axis", {})
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": scale}


def _floor(values: Floats) -> float:
    """Return where zeros are drawn on a logarithmic scale: at the smallest value above, or at zero if there is none."""
    positive = values[values > 0.0]
    return float(positive.min()) if positive.size else 0.0


def _scale(values: Floats, floor: float) -> dict[str, Any]:
    """Return a logarithmic scale where values spread over it, else a plain one."""
    high = float(values.max())
    if floor <= 0.0 or high <= floor:
        return {"zero": floor <= 0.0}
    decades = np.arange(np.floor(np.log10(floor)), np.ceil(np.log10(high)) + 1)
    steps = (1.0, 2.0, 5.0) if len(decades) <= _FEW_DECADES else (1.0,)
    ticks = np.multiply.outer(10.0**decades, steps).ravel()
    ticks = ticks[(ticks >= floor * (1.0 - _NEAR)) & (ticks <= high * (1.0 + _NEAR))]
    thinned = ticks[:: -(-len(ticks) // _MOST_TICKS)] if len(ticks) else ticks
    axis = {"values": thinned.tolist(), "labelExpr": _TICK}
    return {"type": "log", "nice": False, "domain": [floor * (1.0 - _NEAR), high * (1.0 + _NEAR)], "axis": axis}


def _range(values: Floats) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return a line of few enough points; they lie on it."""
    if len(x) <= _MOST_STEPS:
        return x, y
    steps = np.linspace(0.0, 1.0, _MOST_STEPS)
    return steps, np.interp(steps, x, y)


def _svg(chart: dict[str, Any]) -> str:
    """Draw a chart; no address may be fetched for it."""
    convert = require("vl_convert", extra="report", purpose="drawing a report")
    spec = {"width": _WIDTH, "height": _HEIGHT, "background": None, "padding": 4, **chart, "config": _CONFIG}
    drawn: str = convert.vegalite_to_svg(spec, allowed_base_urls=[])
    drawn = _PLACES.sub(lambda place: _LONG_NUMBER.sub(_rounded, place.group()), drawn)
    # As wide as the page allows, and no wider: letters are of one size in all pictures.
    return _SIZE.sub(lambda size: f'<svg style="max-width:{_SCALE * float(size.group(2)):.0f}px"{size.group(1)}', drawn, 1)


def _rounded(found: re.Match[str]) -> str:
    """Return a number that is exact to a hundredth of a pixel, which is half of the page saved."""
    return f"{float(found.group()):.2f}"
