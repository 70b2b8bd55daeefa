"""The chart of data and knowledge uncertainty."""

import numpy as np

from epiboost.report.charts.style import HEIGHT, axis, draw_svg, smallest_positive, value_scale
from epiboost.report.facts import Facts

_MARKS = {
    "ordinary": ("var(--muted)", "circle"),
    "noisy": ("var(--blue)", "square"),
    "unfamiliar": ("var(--orange)", "triangle-up"),
    "other": ("var(--green)", "diamond"),
}
"""Colour and shape of each kind of row. The colours are those of Okabe and Ito; the shapes differ as well."""

_LABELS = {"ordinary": "ordinary", "noisy": "noisy", "unfamiliar": "unfamiliar", "other": "other table"}


def uncertainty_chart(facts: Facts) -> str:
    """Draw knowledge against data uncertainty, one point per row."""
    points = facts.points
    data = np.zeros(len(points.row)) if points.data is None else points.data
    smallest = [smallest_positive(data), smallest_positive(points.knowledge)]
    order = ["ordinary", "other", "noisy", "unfamiliar"]
    values = [
        {
            "x": max(float(data[point]), smallest[0]),
            "y": max(float(points.knowledge[point]), smallest[1]),
            "kind": _LABELS[points.kind[point]],
            "text": f"{point}",
        }
        for point in sorted(range(len(points.row)), key=lambda point: order.index(points.kind[point]))
    ]
    shown = [kind for kind in _MARKS if kind in points.kind]
    scale = {"domain": [_LABELS[kind] for kind in shown]}
    x_title = f"data uncertainty ({facts.unit})" if points.data is not None else "no data uncertainty"
    return draw_svg(
        {
            "data": {"values": values},
            "height": HEIGHT + 50,
            "mark": {"type": "point", "filled": True, "size": 34, "opacity": 0.75, "strokeWidth": 0},
            "encoding": {
                "x": axis("x", x_title, scale=value_scale(data, smallest[0])),
                "y": axis(
                    "y", f"knowledge uncertainty ({facts.unit})", scale=value_scale(points.knowledge, smallest[1])
                ),
                "color": {
                    "field": "kind",
                    "type": "nominal",
                    "scale": {**scale, "range": [_MARKS[kind][0] for kind in shown]},
                    "legend": {"columns": 2, "columnPadding": 24},
                },
                "shape": {
                    "field": "kind",
                    "type": "nominal",
                    "scale": {**scale, "range": [_MARKS[kind][1] for kind in shown]},
                },
                "description": {"field": "text", "type": "nominal"},
            },
        }
    )
