"""Datasets: generated tables with known uncertainty, and the datasets of the paper."""

from epiboost.datasets.families import FamilyTable, make_family
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
    "FamilyTable",
    "Heart",
    "HeartCells",
    "MissingDataError",
    "Spiral",
    "Table",
    "load",
    "make_family",
    "make_heart",
    "make_spiral",
    "spiral_features",
]
