"""Pictures of uncertainty, drawn by matplotlib.

Each display holds its data, draws it with ``plot(ax=None)`` and keeps what it drew, as those of scikit-learn do. It is
made and drawn in one step by ``from_estimator`` or ``from_predictions``. Colours read with every kind of colour vision.
"""

from epiboost.plots.attribution import AttributionDisplay, RowAttributionDisplay
from epiboost.plots.calibration import CalibrationDisplay
from epiboost.plots.domain import DomainDisplay
from epiboost.plots.maps import HeartDisplay, HeatMap, MapDisplay, border_segments
from epiboost.plots.rejection import RejectionDisplay
from epiboost.plots.spiral import SpiralDisplay, spiral_grid
from epiboost.plots.uncertainty import UncertaintyDisplay

__all__ = [
    "AttributionDisplay",
    "CalibrationDisplay",
    "DomainDisplay",
    "HeartDisplay",
    "HeatMap",
    "MapDisplay",
    "RejectionDisplay",
    "RowAttributionDisplay",
    "SpiralDisplay",
    "UncertaintyDisplay",
    "border_segments",
    "spiral_grid",
]
