"""The map of the spiral: uncertainty over the plane, with the rows it was learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from epiboost._posterior.uncertainty import Uncertainty
from epiboost._posterior.unwrap import unwrap
from epiboost._typing import Floats
from epiboost.datasets import Spiral, spiral_features
from epiboost.plots.style import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection, QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure, SubFigure

_COLOUR_MAP = "viridis"
_MARKERS = (("o", "white"), ("^", "silver"), ("s", "black"))
_MOST_POINTS = 300
_COLOURED = 0.995
_PARTS = ("data", "knowledge")


class SpiralDisplay:
    """Data and knowledge uncertainty over the plane of the spiral, side by side.

    Parameters
    ----------
    uncertainty : Uncertainty
        Of the places from `spiral_grid`, in their order.
    spiral : Spiral
        The table from `epiboost.datasets.make_spiral`; some of its rows are drawn, a mark a class.
    reach : float, default=1.5
        The map goes from minus to plus this in both directions.

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

    def __init__(self, uncertainty: Uncertainty, spiral: Spiral, *, reach: float = 1.5) -> None:
        side = round(np.sqrt(len(uncertainty)))
        if side**2 != len(uncertainty) or not side:
            message = f"uncertainty must be that of the places of a square grid, got {len(uncertainty)} of them"
            raise ValueError(message)
        self.uncertainty = uncertainty
        self.spiral = spiral
        self.reach = reach
        self.resolution = side

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,  # noqa: ANN401 (any model that knows its uncertainty)
        spiral: Spiral,
        *,
        resolution: int = 120,
        reach: float = 1.5,
        ax: Sequence[Axes] | None = None,
    ) -> Self:
        """Ask a model that was trained on ``spiral.X`` how unsure it is over the plane, and draw it.

        Parameters
        ----------
        estimator : fitted classifier
        spiral : Spiral
        resolution : int, default=120
            Places along each side.
        reach : float, default=1.5
            The map goes from minus to plus this in both directions.
        ax : sequence of two matplotlib Axes, or None
            None makes a new figure.
        """
        places = spiral_features(spiral_grid(resolution, reach))
        uncertainty = unwrap(estimator, "predict_uncertainty").predict_uncertainty(places)
        return cls.from_predictions(uncertainty, spiral, reach=reach, ax=ax)

    @classmethod
    def from_predictions(
        cls, uncertainty: Uncertainty, spiral: Spiral, *, reach: float = 1.5, ax: Sequence[Axes] | None = None
    ) -> Self:
        """Draw the uncertainties of the places from `spiral_grid`.

        Parameters
        ----------
        uncertainty : Uncertainty
        spiral : Spiral
        reach : float, default=1.5
        ax : sequence of two matplotlib Axes, or None
            None makes a new figure.
        """
        return cls(uncertainty, spiral, reach=reach).plot(ax)

    def plot(self, ax: Sequence[Axes] | None = None) -> Self:
        """Draw both maps.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        SpiralDisplay
            This display, which now holds what it drew.
        """
        axes = new_axes(len(_PARTS)) if ax is None else list(np.ravel(np.asarray(ax)))
        if len(axes) != len(_PARTS):
            message = f"ax must hold two Axes, for data and for knowledge, got {len(axes)}"
            raise ValueError(message)
        self.axes_: list[Axes] = axes
        self.figure_: Figure | SubFigure = axes[0].figure
        self.images_: list[QuadMesh] = []
        self.colorbars_: list[Colorbar] = []
        self.points_: list[PathCollection] = []
        for axis, part in zip(axes, _PARTS, strict=True):
            self._plot_panel(axis, part)
        return self

    def _plot_panel(self, axis: Any, part: str) -> None:  # noqa: ANN401 (matplotlib is imported late)
        places = np.linspace(-self.reach, self.reach, self.resolution)
        grid = getattr(self.uncertainty, part).reshape(self.resolution, self.resolution)
        # The colours end where almost all places are, lest one place take them all.
        highest = float(np.quantile(grid, _COLOURED)) or None
        image = axis.pcolormesh(places, places, grid, cmap=_COLOUR_MAP, vmin=0.0, vmax=highest, rasterized=True)
        self.images_.append(image)
        extend = "neither" if highest is None else "max"
        bar = self.figure_.colorbar(image, ax=axis, label=self.uncertainty.unit, shrink=0.85, extend=extend)
        self.colorbars_.append(bar)
        for label, (marker, fill) in zip(np.unique(self.spiral.y), _MARKERS, strict=False):
            points = self.spiral.points[self.spiral.y == label][: _MOST_POINTS // len(_MARKERS)]
            rim = "white" if fill == "black" else "black"
            marks = axis.scatter(*points.T, s=12, c=fill, marker=marker, edgecolors=rim, linewidths=0.4)
            self.points_.append(marks)
        axis.set_title(f"{part.capitalize()} uncertainty")
        axis.set_xlabel("$x_1$")
        axis.set_ylabel("$x_2$")
        axis.set_aspect("equal")
        axis.set_xlim(-self.reach, self.reach)
        axis.set_ylim(-self.reach, self.reach)


def spiral_grid(resolution: int = 120, reach: float = 1.5) -> Floats:
    """Return the places of a square grid over the plane, of shape (resolution², 2), row by row.

    >>> spiral_grid(2, 1.0).tolist()
    [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]
    """
    places = np.linspace(-reach, reach, resolution)
    across, up = np.meshgrid(places, places)
    return np.column_stack([across.ravel(), up.ravel()])
