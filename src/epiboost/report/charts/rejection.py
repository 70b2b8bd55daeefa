"""The rejection curve."""

from typing import Any

import numpy as np

from epiboost._typing import Floats
from epiboost.report.charts.style import axis, draw_svg, labelled_points
from epiboost.report.facts import Facts
from epiboost.report.formatting import number, percent

MAX_REJECTED = 0.95
"""Largest share of rejected rows that is drawn."""
_N_SHARES = 96


def rejection_chart(facts: Facts) -> str:
    """Draw the error of the accepted rows against the share of rejected rows; empty without targets."""
    if not facts.rejection:
        return ""
    first = next(iter(facts.rejection.values()))
    root = facts.task == "regression"
    lines = [
        (_curve_label(facts, name), *accepted_errors(curve.rejected, curve.error, root=root))
        for name, curve in facts.rejection.items()
    ]
    points = _points(facts, lines[0][1], lines[0][2])
    lines.append(
        ("oracle (rejects the largest errors)", *accepted_errors(first.oracle_rejected, first.oracle_error, root=root))
    )
    all_rows = float(lines[0][2][0])
    lines.append(("random order", np.array([0.0, MAX_REJECTED]), np.array([all_rows, all_rows])))
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
            "x": axis("share", "share of rows rejected", format="%", domain=[0, 1]),
            "y": axis("error", _error_title(facts), format="%" if facts.task == "classification" else None),
            "color": {"field": "line", "type": "nominal", "scale": {**scale, "range": colours}},
            "strokeDash": {"field": "line", "type": "nominal", "scale": {**scale, "range": dashes}},
            "order": {"field": "share", "type": "quantitative"},
        },
    }
    return draw_svg({"layer": [line, labelled_points(points, "share", "error")]})


def accepted_errors(rejected: Floats, error: Floats, *, root: bool) -> tuple[Floats, Floats]:
    """Return the error of the accepted rows; a rejection curve counts rejected rows as correct.

    Parameters
    ----------
    rejected, error : arrays of shape (k,)
        As in `RejectionCurve`.
    root : bool
        Whether to return the square root, for squared errors.

    Returns
    -------
    arrays of shape (j,)
        Shares of rejected rows up to 0.95, and errors; beyond that too few rows are left.

    Examples
    --------
    >>> accepted_errors(np.array([0.0, 1.0]), np.array([4.0, 0.0]), root=True)[1][[0, -1]].round(9)
    array([2., 2.])
    """
    shares = np.linspace(0.0, MAX_REJECTED, _N_SHARES)
    errors = np.interp(shares, rejected, error) / (1.0 - shares)
    return shares, np.sqrt(errors) if root else errors


def _curve_label(facts: Facts, measure: str) -> str:
    score = facts.rejection_scores.get(measure)
    return f"{measure} uncertainty" + ("" if score is None else f" (PRR {score:.2f})")


def _error_title(facts: Facts) -> str:
    return "error rate of accepted rows" if facts.task == "classification" else "RMSE of accepted rows"


def _points(facts: Facts, rejected: Floats, errors: Floats) -> list[dict[str, Any]]:
    """Return 20 points on a curve with their texts."""
    shares = np.arange(20) / 20
    as_text = percent if facts.task == "classification" else number
    return [
        {"share": float(x), "error": float(y), "text": f"Reject {percent(x)}: error of the others {as_text(float(y))}"}
        for x, y in zip(shares, np.interp(shares, rejected, errors), strict=True)
    ]
