"""Numbers of a task and names of scores as text."""

import numpy as np

from epiboost.report.facts import Facts
from epiboost.report.formatting import number, percent

SCORES = {
    "combined": "combined novelty and uncertainty",
    "novelty": "novelty",
    "knowledge": "knowledge uncertainty",
}
"""What rows are compared by, as text."""


def error_text(facts: Facts, error: float | None) -> str:
    """Return a share of wrong predictions in per cent, or an error in units of the target."""
    if error is None:
        return "–"
    return percent(error) if facts.task == "classification" else number(error)


def threshold_text(facts: Facts, threshold: float) -> str:
    """Return a threshold of the uncertainty; for a variance the square root, in units of the target."""
    if not np.isfinite(threshold):
        return "–"
    return number(threshold) if facts.unit == "nats" else f"±\u00a0{number(float(np.sqrt(threshold)))}"
