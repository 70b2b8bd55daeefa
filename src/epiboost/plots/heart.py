"""The map of the heart: true noise, estimated noise and knowledge uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from epiboost._estimators.unwrap import unwrap
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import Estimator
from epiboost.datasets import Heart
from epiboost.plots.maps import HeatMap, MapDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class HeartDisplay(MapDisplay):
    """Maps of the heart: true data uncertainty, estimated data uncertainty, knowledge uncertainty.

    Made by `from_estimator` or `from_predictions`; the cells without training rows are outlined.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from epiboost import EpiBoostRegressor
    >>> from epiboost.datasets import make_heart
    >>> heart = make_heart(n_per_cell=20, random_state=0)
    >>> model = EpiBoostRegressor(n_members=3, n_estimators=50, random_state=0).fit(heart.X, heart.y)
    >>> [heat_map.title for heat_map in HeartDisplay.from_estimator(model, heart).heat_maps]
    ['True data uncertainty', 'Estimated data uncertainty', 'Knowledge uncertainty']
    """

    @classmethod
    def from_estimator(cls, estimator: Estimator, heart: Heart, *, ax: Sequence[Axes] | None = None) -> Self:
        """Draw the uncertainties of the cells that a regressor trained on the heart predicts.

        Parameters
        ----------
        estimator : fitted regressor
        heart : Heart
            The table from `epiboost.datasets.make_heart`.
        ax : sequence of three matplotlib Axes, or None
        """
        uncertainty = unwrap(estimator, "predict_uncertainty").predict_uncertainty(heart.cells.X)
        return cls.from_predictions(uncertainty, heart, ax=ax)

    @classmethod
    def from_predictions(cls, uncertainty: Uncertainty, heart: Heart, *, ax: Sequence[Axes] | None = None) -> Self:
        """Draw the uncertainties of the 81 cells, in the order of ``heart.cells.X``."""
        cells = heart.cells
        data, knowledge = (part.reshape(cells.inside.shape) for part in (uncertainty.data, uncertainty.knowledge))
        # The true and the estimated noise have one scale; inside the heart the estimate may exceed every true value.
        limits = (0.0, float(max(np.nanmax(cells.data_uncertainty), data.max())))
        heat_maps = [
            HeatMap("True data uncertainty", cells.data_uncertainty, limits),
            HeatMap("Estimated data uncertainty", data, limits),
            HeatMap("Knowledge uncertainty", knowledge),
        ]
        return cls(heat_maps, outline=cells.inside, x_label="$x_2$", y_label="$x_1$").plot(ax)
