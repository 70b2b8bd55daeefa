"""Data to try things on: two generated tables, and those of the paper."""

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
"""The datasets of the paper, as `load` knows them."""

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
