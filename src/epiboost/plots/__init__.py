"""Plots of uncertainty, drawn by matplotlib.

Each display holds its data, draws it with ``plot(ax=None)`` and keeps its artists, as scikit-learn's displays do.
``from_estimator`` and ``from_predictions`` make and draw a display in one step and pass ``ax`` to ``plot``. All colours
are readable with every kind of colour vision.
"""

from epiboost.plots.attribution import AttributionDisplay
from epiboost.plots.calibration import CalibrationDisplay
from epiboost.plots.density import DensityDisplay
from epiboost.plots.domain import DomainDisplay
from epiboost.plots.drift import DriftDisplay
from epiboost.plots.fan import FanDisplay
from epiboost.plots.heart import HeartDisplay
from epiboost.plots.learning_curve import LearningCurveDisplay
from epiboost.plots.maps import HeatMap, MapDisplay, border_segments
from epiboost.plots.rejection import RejectionDisplay
from epiboost.plots.row_attribution import RowAttributionDisplay
from epiboost.plots.spiral import SpiralDisplay, spiral_grid
from epiboost.plots.uncertainty import UncertaintyDisplay

__all__ = [
    "AttributionDisplay",
    "CalibrationDisplay",
    "DensityDisplay",
    "DomainDisplay",
    "DriftDisplay",
    "FanDisplay",
    "HeartDisplay",
    "HeatMap",
    "LearningCurveDisplay",
    "MapDisplay",
    "RejectionDisplay",
    "RowAttributionDisplay",
    "SpiralDisplay",
    "UncertaintyDisplay",
    "border_segments",
    "spiral_grid",
]
