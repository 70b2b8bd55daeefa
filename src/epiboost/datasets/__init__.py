"""Datasets: two generated tables with known uncertainty, and the datasets of the paper."""

from epiboost.datasets.layouts import LAYOUTS, load
from epiboost.datasets.registry import DamagedDataError, MissingDataError
from epiboost.datasets.synthetic import (
    Heart,
    HeartCells,
    Spiral,
    make_heart,
    make_spiral,
    spiral_features,
)
from epiboost.datasets.table import Table

NAMES = tuple(sorted(LAYOUTS))
"""Names of the paper's datasets, for `load`."""

__all__ = [
    "NAMES",
    "DamagedDataError",
    "Heart",
    "HeartCells",
    "MissingDataError",
    "Spiral",
    "Table",
    "load",
    "make_heart",
    "make_spiral",
    "spiral_features",
]
