"""Bins of a target for histograms: edges at quantiles, between distinct values, and narrow bins around repeated values.

>>> y = np.arange(1000.0)
>>> len(inner_edges(y, np.ones(1000)))
9
"""

import numpy as np

from epiboost._typing import Floats

_BINS = (8, 32)  # the least number of bins, and the most; between them the cube root of the number of rows
_MIN_SPACING = 1e-9  # of the range: a bin is never narrower


def inner_edges(y: Floats, weight: Floats) -> Floats:
    """Return ascending edges between the bins of a weighted target; the outer bins have no end.

    A value that holds the weight of a whole bin gets a bin of its own, as wide as the usual distance between distinct
    values. No bin is narrower than that, so densities are bounded.
    """
    values, inverse = np.unique(y, return_inverse=True)
    if len(values) == 1:
        width = 1e-3 * abs(values[0]) or 1e-3
        return np.array([values[0] - width, values[0] + width])
    share = np.bincount(inverse, weight) / weight.sum()
    n_bins = int(np.clip(round(len(y) ** (1.0 / 3.0)), *_BINS))
    width = _resolution(values)
    middle = 0.5 * (values[1:] + values[:-1])
    reached = np.searchsorted(np.cumsum(share)[:-1], np.arange(1, n_bins) / n_bins)
    edges = middle[np.unique(np.minimum(reached, len(middle) - 1))]
    atoms = values[share >= 1.0 / n_bins]
    return _apart(edges, atoms, width)


def tail_scales(y: Floats, weight: Floats, edges: Floats) -> tuple[float, float]:
    """Return the mean distances of targets below the first edge and above the last one from that edge."""
    least = _resolution(np.unique(y))
    return (
        _mean_distance(edges[0] - y, weight, least),
        _mean_distance(y - edges[-1], weight, least),
    )


def _resolution(values: Floats) -> float:
    """Return the usual distance between neighbours of ascending distinct values."""
    if len(values) == 1:
        return 1e-3 * abs(float(values[0])) or 1e-3
    spread = float(values[-1] - values[0])
    rounding = 8.0 * float(np.spacing(np.abs(values).max()))
    return max(float(np.median(np.diff(values))), _MIN_SPACING * spread, rounding)


def _apart(edges: Floats, atoms: Floats, width: float) -> Floats:
    """Return the edges around atoms and those of the others that leave bins wide enough."""
    kept: list[float] = []
    around = np.sort(np.concatenate([atoms - 0.5 * width, atoms + 0.5 * width]))
    for edge in around:
        if not kept or edge - kept[-1] > (1.0 - 1e-6) * width:
            kept.append(float(edge))
    for edge in edges:
        if all(abs(edge - other) >= width for other in kept):
            kept.append(float(edge))
    return np.sort(np.array(kept))


def _mean_distance(distance: Floats, weight: Floats, least: float) -> float:
    outside = distance > 0.0
    if not outside.any():
        return least
    return max(float(np.average(distance[outside], weights=weight[outside])), least)
