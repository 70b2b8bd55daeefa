"""The pictures of a report: Vega-Lite charts, drawn to SVG before the page is written.

Vega-Lite (BSD-3-Clause, kept by the Vega project and used by Altair) because a chart is plain data, because each mark
of its SVG carries a text for those who do not see it, and because its Python package `vl-convert-python` draws without
a browser and without a network. So the page holds finished pictures: they are there without JavaScript and on paper,
sharp at any size, and the page stays small. Their colours are CSS variables, which is how they follow the reader's
light or dark mode; a small script shows the text of the mark that is nearest to the pointer.

Nothing of the data is put where Vega-Lite would read it as a formula: fields have names of ours, and values are values.
"""

from typing import Any

import numpy as np

from epiboost._typing import Floats
from epiboost.report.chart_style import HEIGHT, WIDTH, axis_of, floor_of, scale_of, span_of, svg_of
from epiboost.report.facts import Driver, Facts
from epiboost.report.formatting import number, percent
from epiboost.report.ood_facts import Domain
from epiboost.report.significance import CLEAR

_N_BINS = 32
_BAR_STEP = 22
_N_SHARES = 96
MOST_HANDED = 0.95
"""The largest share of cases handed over that is drawn."""

KINDS = {
    "ordinary": ("var(--muted)", "circle"),
    "noisy": ("var(--blue)", "square"),
    "unfamiliar": ("var(--orange)", "triangle-up"),
    "other": ("var(--green)", "diamond"),
}
"""Colour and shape of each kind of row; colours of Okabe and Ito, told apart by shape as well."""

KIND_LABELS = {"ordinary": "ordinary", "noisy": "noisy", "unfamiliar": "unfamiliar", "other": "other table"}


def rejection_chart(facts: Facts) -> str:
    """Draw how the error of the cases kept falls as others are handed over; empty without targets."""
    if not facts.rejection:
        return ""
    first = next(iter(facts.rejection.values()))
    rooted = facts.task == "regression"
    lines = [
        (_curve_name(facts, name), *kept_errors(curve.rejected, curve.error, rooted=rooted))
        for name, curve in facts.rejection.items()
    ]
    dots = _steps(facts, lines[0][1], lines[0][2])
    lines.append(("a perfect order", *kept_errors(first.oracle_rejected, first.oracle_error, rooted=rooted)))
    whole = float(lines[0][2][0])
    lines.append(("a random order", np.array([0.0, MOST_HANDED]), np.array([whole, whole])))
    values = [
        {"share": float(share), "error": float(error), "line": name}
        for name, rejected, errors in lines
        for share, error in zip(rejected, errors, strict=True)
    ]
    names = [name for name, _, _ in lines]
    n_curves = len(facts.rejection)
    colours = [*("var(--blue)", "var(--orange)")[:n_curves], "var(--ink-soft)", "var(--muted)"]
    dashes = [*([1, 0], [6, 2, 2, 2])[:n_curves], [5, 4], [1, 4]]
    scale = {"domain": names}
    line = {
        "data": {"values": values},
        "mark": {"type": "line", "strokeWidth": 2.2, "interpolate": "linear", "aria": False},
        "encoding": {
            "x": axis_of("share", "share of cases handed over", format="%", domain=[0, 1]),
            "y": axis_of("error", _left_title(facts), format="%" if facts.task == "classification" else None),
            "color": {"field": "line", "type": "nominal", "scale": {**scale, "range": colours}},
            "strokeDash": {"field": "line", "type": "nominal", "scale": {**scale, "range": dashes}},
            "order": {"field": "share", "type": "quantitative"},
        },
    }
    return svg_of({"layer": [line, _dots(dots, "share", "error")]})


def kept_errors(rejected: Floats, error: Floats, *, rooted: bool) -> tuple[Floats, Floats]:
    """Return the error of those kept, where a rejection curve counts those handed over as right.

    Parameters
    ----------
    rejected, error : arrays of shape (k,)
        As in `RejectionCurve`.
    rooted : bool
        Whether to take the root, for a squared error.

    Returns
    -------
    arrays of shape (j,)
        Shares handed over, up to nineteen twentieths: the error of the few that are left then is chance.

    Examples
    --------
    >>> kept_errors(np.array([0.0, 1.0]), np.array([4.0, 0.0]), rooted=True)[1][[0, -1]].round(9)
    array([2., 2.])
    """
    shares = np.linspace(0.0, MOST_HANDED, _N_SHARES)
    errors = np.interp(shares, rejected, error) / (1.0 - shares)
    return shares, np.sqrt(errors) if rooted else errors


def calibration_chart(facts: Facts) -> str:
    """Draw what is claimed against what comes to pass; empty without targets."""
    curve = facts.reliability
    if curve is None:
        return ""
    classifies = facts.task == "classification"
    told = "Claims {}, right in {} ({} of the cases)" if classifies else "Intervals of {} hold {} of the targets"
    share = np.clip(curve.predicted, 0.01, 0.99)
    chance = CLEAR * np.sqrt(share * (1.0 - share) / (facts.n_rows * (curve.weight if classifies else 1.0)))
    dots = [
        {
            "x": float(x),
            "y": float(y),
            "low": max(float(x - c), 0.0),
            "high": min(float(x + c), 1.0),
            "text": told.format(percent(x), percent(y), percent(w)),
        }
        for x, y, w, c in zip(curve.predicted, curve.observed, curve.weight, chance, strict=True)
    ]
    x_title = "confidence claimed" if classifies else "coverage claimed"
    y_title = "share that was right" if classifies else "share of targets covered"
    axes = {
        "x": axis_of("x", x_title, format="%", domain=[0, 1]),
        "y": axis_of("y", y_title, format="%", domain=[0, 1]),
    }
    ideal = {
        "data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]},
        "mark": {"type": "line", "color": "var(--muted)", "strokeDash": [1, 4], "strokeWidth": 2, "aria": False},
        "encoding": axes,
    }
    by_chance = {
        "data": {"values": dots},
        "mark": {"type": "rule", "color": "var(--muted)", "strokeWidth": 7, "opacity": 0.35, "aria": False},
        "encoding": {**axes, "y": {**axes["y"], "field": "low"}, "y2": {"field": "high"}},
    }
    line = {
        "data": {"values": dots},
        "mark": {"type": "line", "color": "var(--blue)", "strokeWidth": 2, "aria": False},
        "encoding": axes,
    }
    return svg_of({"layer": [by_chance, ideal, line, _dots(dots, "x", "y", size=42)]})


def uncertainty_chart(facts: Facts) -> str:
    """Draw data against knowledge uncertainty, a point a row."""
    points = facts.points
    data = np.zeros(len(points.row)) if points.data is None else points.data
    floors = [floor_of(data), floor_of(points.knowledge)]
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
    return svg_of(
        {
            "data": {"values": values},
            "height": HEIGHT + 50,
            "mark": {"type": "point", "filled": True, "size": 34, "opacity": 0.75, "strokeWidth": 0},
            "encoding": {
                "x": axis_of("x", x_title, scale=scale_of(data, floors[0])),
                "y": axis_of("y", f"knowledge uncertainty ({facts.unit})", scale=scale_of(points.knowledge, floors[1])),
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
    floor = floor_of(both)
    by_logarithm = floor > 0.0
    edges = np.linspace(*span_of(_placed(both, floor)), _N_BINS + 1)
    names = ("this table", "other table")
    values = []
    for name, rows in zip(names, (domain.inside, domain.outside), strict=True):
        shares = np.histogram(_placed(rows, floor), edges)[0] / len(rows)
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
            "x": axis_of("low", "knowledge uncertainty", scale=scale_of(both, floor)),
            "x2": {"field": "high"},
            "y": axis_of("share", "share of the table's rows", format="%"),
            "y2": {"field": "zero"},
            "color": {
                "field": "table",
                "type": "nominal",
                "scale": colours,
                "legend": {"symbolType": "square", "symbolOpacity": 0.6},
            },
            "description": {"field": "text", "type": "nominal"},
        },
        "layer": [  # one filled, one outlined: they are told apart where they overlap, and without colours
            {
                "mark": {"type": "rect", "opacity": 0.45},
                "transform": [{"filter": {"field": "table", "equal": names[0]}}],
            },
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
                "mark": {
                    "type": "rule",
                    "color": "var(--ink)",
                    "strokeDash": [5, 3],
                    "strokeWidth": 1.5,
                    "aria": False,
                },
                "encoding": {"x": {"field": "x", "type": "quantitative"}},
            }
        )
    return svg_of({"layer": layers})


def _placed(values: Floats, floor: float) -> Floats:
    """Return where values lie on a scale that is logarithmic if any is above zero."""
    return np.log10(np.maximum(values, floor)) if floor > 0.0 else values


def driver_chart(driver: Driver) -> str:
    """Draw what part each feature has in one uncertainty."""
    colour = "var(--green)" if driver.other else "var(--orange)" if driver.measure == "knowledge" else "var(--blue)"
    values = [
        {"place": place, "name": name, "share": share, "text": f"{name}: {percent(share)}"}
        for place, (name, share) in enumerate(zip(driver.names, driver.shares, strict=True))
    ]
    most = max(driver.shares, default=1.0)
    share = {
        "field": "share",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [0, 1.2 * most], "nice": False},
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
    names = {  # as marks and not as labels of the axis: two features may be shown by the same name
        "mark": {**text, "align": "right", "x": -6, "limit": 130},
        "encoding": {"text": {"field": "name", "type": "nominal"}},
    }
    return svg_of(
        {
            "data": {"values": values},
            "height": _BAR_STEP * len(values),
            "width": WIDTH - 100,
            "padding": {"left": 28, "right": 4, "top": 4, "bottom": 4},
            "encoding": {"y": {"field": "place", "type": "ordinal", "axis": None}},
            "layer": [bars, shares, names],
        }
    )


def _curve_name(facts: Facts, name: str) -> str:
    score = facts.scores.get(name)
    return f"{name} uncertainty" + ("" if score is None else f" (PRR {score:.2f})")


def _left_title(facts: Facts) -> str:
    return "wrong, of those kept" if facts.task == "classification" else "RMSE of those kept"


def _steps(facts: Facts, rejected: Floats, errors: Floats) -> list[dict[str, Any]]:
    """Return what the first curve says at every twentieth."""
    shares = np.arange(20) / 20
    shown = percent if facts.task == "classification" else number
    return [
        {"share": float(x), "error": float(y), "text": f"Hand over {percent(x)}: error of the rest {shown(float(y))}"}
        for x, y in zip(shares, np.interp(shares, rejected, errors), strict=True)
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
