"""The comparison of a table with rows of the domain."""

from typing import Any

import numpy as np

from epiboost._typing import Floats
from epiboost.report.cards.texts import SCORES
from epiboost.report.charts.style import axis, draw_svg, smallest_positive, value_range, value_scale
from epiboost.report.facts import DomainComparison
from epiboost.report.formatting import number, percent

_N_BINS = 32


def domain_chart(domain: DomainComparison, names: tuple[str, str]) -> str:
    """Draw histograms of the scores of both tables, whose names are given."""
    both = np.append(domain.inside, domain.outside)
    floor = smallest_positive(both) if domain.measure == "knowledge" else 0.0  # other scores are logarithms already
    edges = np.linspace(*value_range(_on_scale(both, floor)), _N_BINS + 1)
    values = []
    for name, score in zip(names, (domain.inside, domain.outside), strict=True):
        shares = np.histogram(_on_scale(score, floor), edges)[0] / len(score)
        ends = 10.0**edges if floor > 0.0 else edges
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
            "x": axis("low", SCORES[domain.measure], scale=value_scale(both, floor)),
            "x2": {"field": "high"},
            "y": axis("share", "share of the rows", format="%"),
            "y2": {"field": "zero"},
            "color": {
                "field": "table",
                "type": "nominal",
                "scale": colours,
                "legend": {"symbolType": "square", "symbolOpacity": 0.6},
            },
            "description": {"field": "text", "type": "nominal"},
        },
        "layer": [  # one filled, one outlined: they differ where they overlap, and without colours
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
    return draw_svg({"layer": layers})


def _on_scale(values: Floats, floor: float) -> Floats:
    """Return positions on a scale that is logarithmic if any value is above zero."""
    return np.log10(np.maximum(values, floor)) if floor > 0.0 else values
