"""A small cell, and results made of plain numbers."""

import numpy as np

from epiboost.paper.cells.cell import CellKey
from epiboost.paper.protocol import PAPER
from epiboost.paper.tables.results import Results

KEY = CellKey("native", "yacht", 2, "sglb")
CONTENT = {
    "results": {"sglb_ensemble": {"nll": 0.5, "rmse": 1.0}},
    "seconds": {"grid": {"wall": 1.0, "cpu": 0.5}},
    "protocol": PAPER.to_json(),
    "outside": True,
    "seed": 1,
    "versions": {},
    "machine": {},
}


def results_of(**methods):
    """Return results with the same values per fold for energy and concrete."""
    return Results(
        folds={
            (dataset, method): {name: np.asarray(values, dtype=float) for name, values in metrics.items()}
            for dataset in ("energy", "concrete")
            for method, metrics in methods.items()
        }
    )
