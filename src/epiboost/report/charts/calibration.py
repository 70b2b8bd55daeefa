"""The reliability diagram."""

import numpy as np

from epiboost.report.charts.style import axis, draw_svg, labelled_points
from epiboost.report.facts import Facts
from epiboost.report.formatting import percent
from epiboost.report.significance import CLEAR


def calibration_chart(facts: Facts) -> str:
    """Draw observed against predicted frequencies; empty without targets."""
    curve = facts.reliability
    if curve is None:
        return ""
    classifies = facts.task == "classification"
    template = "Confidence {}, {} correct ({} of the rows)"
    if not classifies:
        template = "{} intervals contain {} of the targets"
    share = np.clip(curve.predicted, 0.01, 0.99)
    chance = CLEAR * np.sqrt(share * (1.0 - share) / (facts.n_rows * (curve.weight if classifies else 1.0)))
    points = [
        {
            "x": float(x),
            "y": float(y),
            "low": max(float(x - c), 0.0),
            "high": min(float(x + c), 1.0),
            "text": template.format(percent(x), percent(y), percent(w)),
        }
        for x, y, w, c in zip(curve.predicted, curve.observed, curve.weight, chance, strict=True)
    ]
    x_title = "predicted confidence" if classifies else "nominal coverage"
    y_title = "share of correct predictions" if classifies else "observed coverage"
    axes = {
        "x": axis("x", x_title, format="%", domain=[0, 1]),
        "y": axis("y", y_title, format="%", domain=[0, 1]),
    }
    ideal = {
        "data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]},
        "mark": {"type": "line", "color": "var(--muted)", "strokeDash": [1, 4], "strokeWidth": 2, "aria": False},
        "encoding": axes,
    }
    by_chance = {
        "data": {"values": points},
        "mark": {"type": "rule", "color": "var(--muted)", "strokeWidth": 7, "opacity": 0.35, "aria": False},
        "encoding": {**axes, "y": {**axes["y"], "field": "low"}, "y2": {"field": "high"}},
    }
    line = {
        "data": {"values": points},
        "mark": {"type": "line", "color": "var(--blue)", "strokeWidth": 2, "aria": False},
        "encoding": axes,
    }
    return draw_svg({"layer": [by_chance, ideal, line, labelled_points(points, "x", "y", size=42)]})
