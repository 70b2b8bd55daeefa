"""The map of the spiral: uncertainty over the plane, with training rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from epiboost._estimators.unwrap import unwrap
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import Estimator, Floats
from epiboost.datasets import Spiral, spiral_features
from epiboost.plots.base import PanelDisplay
from epiboost.plots.style import COLOUR_MAP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection, QuadMesh
    from matplotlib.colorbar import Colorbar

_MARKERS = (("o", "white"), ("^", "silver"), ("s", "black"))
_MAX_POINTS = 300
_COLOUR_QUANTILE = 0.995
"""Quantile of the uncertainty that gets the last colour, so that a few extreme points do not take all colours."""
_MEASURES = ("data", "knowledge")


class SpiralDisplay(PanelDisplay):
    """Data and knowledge uncertainty over the plane of the spiral, side by side.

    Parameters
    ----------
    uncertainty : Uncertainty
        Of the points of `spiral_grid`, in their order.
    spiral : Spiral
        The table from `epiboost.datasets.make_spiral`; some of its rows are drawn, with one marker per class.
    reach : float, default=1.5
        The map goes from ``-reach`` to ``reach`` in both directions.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of two matplotlib Axes
    images_ : list of matplotlib QuadMesh
    colorbars_ : list of matplotlib Colorbar
    points_ : list of matplotlib PathCollection

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from epiboost import EpiBoostClassifier
    >>> from epiboost.datasets import make_spiral
    >>> spiral = make_spiral(300, random_state=0)
    >>> model = EpiBoostClassifier(n_members=2, n_estimators=20, random_state=0).fit(spiral.X, spiral.y)
    >>> display = SpiralDisplay.from_estimator(model, spiral, resolution=20)
    >>> [ax.get_title() for ax in display.axes_]
    ['Data uncertainty', 'Knowledge uncertainty']
    """

    images_: list[QuadMesh]
    colorbars_: list[Colorbar]
    points_: list[PathCollection]

    def __init__(self, uncertainty: Uncertainty, spiral: Spiral, *, reach: float = 1.5) -> None:
        side = round(np.sqrt(len(uncertainty)))
        if side**2 != len(uncertainty) or not side:
            message = f"uncertainty must be that of the points of a square grid, got {len(uncertainty)} points"
            raise ValueError(message)
        self.uncertainty = uncertainty
        self.spiral = spiral
        self.reach = reach
        self.resolution = side

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        spiral: Spiral,
        *,
        resolution: int = 120,
        reach: float = 1.5,
        ax: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw the uncertainties over the plane that a classifier trained on ``spiral.X`` predicts.

        Parameters
        ----------
        estimator : fitted classifier
        spiral : Spiral
        resolution : int, default=120
            Points along each side of the grid.
        reach : float, default=1.5
        ax : sequence of two matplotlib Axes, or None
        """
        grid = spiral_features(spiral_grid(resolution, reach))
        uncertainty = unwrap(estimator, "predict_uncertainty").predict_uncertainty(grid)
        return cls(uncertainty, spiral, reach=reach).plot(ax)

    @classmethod
    def from_predictions(
        cls, uncertainty: Uncertainty, spiral: Spiral, *, reach: float = 1.5, ax: Sequence[Axes] | None = None
    ) -> Self:
        """Draw uncertainties; the same as ``SpiralDisplay(uncertainty, spiral, reach=reach).plot(ax)``."""
        return cls(uncertainty, spiral, reach=reach).plot(ax)

    def _panel_titles(self) -> list[str]:
        return [f"{measure.capitalize()} uncertainty" for measure in _MEASURES]

    def _draw(self) -> None:
        self.images_, self.colorbars_, self.points_ = [], [], []
        for ax, measure, title in zip(self.axes_, _MEASURES, self._panel_titles(), strict=True):
            self._draw_map(ax, getattr(self.uncertainty, measure).reshape(self.resolution, self.resolution))
            self._draw_rows(ax)
            limits = (-self.reach, self.reach)
            ax.set(title=title, xlabel="$x_1$", ylabel="$x_2$", aspect="equal", xlim=limits, ylim=limits)

    def _draw_map(self, ax: Axes, values: Floats) -> None:
        positions = np.linspace(-self.reach, self.reach, self.resolution)
        highest = float(np.quantile(values, _COLOUR_QUANTILE)) or None
        image = ax.pcolormesh(positions, positions, values, cmap=COLOUR_MAP, vmin=0.0, vmax=highest, rasterized=True)
        extend = "neither" if highest is None else "max"
        colorbar = self.figure_.colorbar(image, ax=ax, label=self.uncertainty.unit, shrink=0.85, extend=extend)
        self.images_.append(image)
        self.colorbars_.append(colorbar)

    def _draw_rows(self, ax: Axes) -> None:
        for label, (marker, fill) in zip(np.unique(self.spiral.y), _MARKERS, strict=False):
            rows = self.spiral.points[self.spiral.y == label][: _MAX_POINTS // len(_MARKERS)]
            edge = "white" if fill == "black" else "black"
            points = ax.scatter(rows[:, 0], rows[:, 1], s=12, c=fill, marker=marker, edgecolors=edge, linewidths=0.4)
            self.points_.append(points)


def spiral_grid(resolution: int = 120, reach: float = 1.5) -> Floats:
    """Return the points of a square grid over the plane, of shape (resolution², 2), row by row.

    >>> spiral_grid(2, 1.0).tolist()
    [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]
    """
    positions = np.linspace(-reach, reach, resolution)
    across, up = np.meshgrid(positions, positions)
    return np.column_stack([across.ravel(), up.ravel()])
