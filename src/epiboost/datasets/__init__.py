"""Data to try things on."""

from epiboost.datasets.synthetic import (
    Heart,
    HeartCells,
    Spiral,
    make_heart,
    make_spiral,
    spiral_features,
)

__all__ = ["Heart", "HeartCells", "Spiral", "make_heart", "make_spiral", "spiral_features"]
