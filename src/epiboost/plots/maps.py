"""Heat maps of uncertainty over a grid of cells, and the map of the heart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from epiboost._optional import require
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._posterior.unwrap import unwrap
from epiboost._typing import AnyArray, Floats
from epiboost.datasets import Heart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage
    from matplotlib.patches import PathPatch

_PANEL_WIDTH, _PANEL_HEIGHT = 3.7, 3.5
_COLOUR_MAP = "viridis"  # reads the same with every kind of colour vision, and in grey
_HAZE = "#f2f2f2"  # cells without a value
_OUTLINE, _OUTLINE_CASING = "white", "black"


@dataclass(frozen=True, slots=True)
class HeatMap:
    """One panel of a `MapDisplay`.

    Parameters
    ----------
    title : str
        The words above the panel.
    values : array of shape (rows, columns)
        The uncertainty of each cell; a cell that is NaN is left blank.
    limits : (float, float) or None, default=None
        The uncertainties that get the first and the last colour; None takes them from the values. Give panels that are
        to be compared the same limits.
    """

    title: str
    values: Floats
    limits: tuple[float, float] | None = None


class MapDisplay:
    """Heat maps of uncertainty over a grid of cells, side by side.

    Parameters
    ----------
    heat_maps : sequence of HeatMap
        The panels, from left to right, all of one shape.
    outline : array of bool, of shape (rows, columns), or None, default=None
        The cells to draw a line around, such as those without training rows.
    x_label, y_label : str
        The names of the features along the columns and along the rows.
    colour_label : str, default="variance"
        What the colours measure.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure that holds the panels.
    axes_ : list of matplotlib Axes
        One a panel.
    images_ : list of matplotlib AxesImage
        The heat maps.
    colorbars_ : list of matplotlib Colorbar
        Their scales.
    outlines_ : list of matplotlib PathPatch
        The lines around the outlined cells; empty without ``outline``.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> knowledge = HeatMap("Knowledge uncertainty", np.eye(3))
    >>> display = MapDisplay([knowledge], outline=np.eye(3) > 0).plot()
    >>> display.axes_[0].get_title()
    'Knowledge uncertainty'
    """

    def __init__(
        self,
        heat_maps: Sequence[HeatMap],
        *,
        outline: AnyArray | None = None,
        x_label: str = "second feature",
        y_label: str = "first feature",
        colour_label: str = "variance",
    ) -> None:
        shapes = {np.shape(heat_map.values) for heat_map in heat_maps}
        if outline is not None:
            shapes.add(np.shape(outline))
        if len(shapes) != 1:
            message = f"the heat maps and the outline must be grids of one shape, got {sorted(shapes)}"
            raise ValueError(message)
        self.heat_maps = tuple(heat_maps)
        self.outline = outline
        self.x_label = x_label
        self.y_label = y_label
        self.colour_label = colour_label

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes, sequence of them, or None, default=None
            Where to draw, one a panel; None makes a new figure.

        Returns
        -------
        MapDisplay
            This display, which now holds what it drew.
        """
        axes = self._new_axes() if ax is None else [ax] if not np.iterable(ax) else list(np.ravel(np.asarray(ax)))
        if len(axes) != len(self.heat_maps):
            message = f"ax must hold one Axes a heat map: {len(self.heat_maps)}, got {len(axes)}"
            raise ValueError(message)
        self.axes_: list[Axes] = axes
        self.figure_: Figure | SubFigure = axes[0].figure
        self.images_: list[AxesImage] = []
        self.colorbars_: list[Colorbar] = []
        self.outlines_: list[PathPatch] = []
        for axis, heat_map in zip(axes, self.heat_maps, strict=True):
            self._plot_panel(axis, heat_map)
        return self

    def _new_axes(self) -> list[Any]:
        pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing uncertainty")
        n_panels = len(self.heat_maps)
        _, axes = pyplot.subplots(
            1, n_panels, figsize=(_PANEL_WIDTH * n_panels, _PANEL_HEIGHT), layout="constrained", squeeze=False
        )
        return list(axes[0])

    def _plot_panel(self, axis: Any, heat_map: HeatMap) -> None:  # noqa: ANN401 (matplotlib is imported late)
        colormaps = require("matplotlib", extra="plot", purpose="drawing uncertainty").colormaps
        low, high = heat_map.limits or (None, None)
        image = axis.imshow(
            np.ma.masked_invalid(heat_map.values),
            cmap=colormaps[_COLOUR_MAP].with_extremes(bad=_HAZE),
            vmin=low,
            vmax=high,
        )
        extend = "max" if high is not None and np.nanmax(heat_map.values) > high else "neither"
        colorbar = self.figure_.colorbar(image, ax=axis, extend=extend, shrink=0.85, label=self.colour_label)
        colorbar.ax.locator_params(axis="y", nbins=6)
        axis.set_title(heat_map.title)
        axis.set_xlabel(self.x_label)
        axis.set_ylabel(self.y_label)
        rows, columns = heat_map.values.shape
        axis.set_xticks(range(columns))
        axis.set_yticks(range(rows))
        axis.tick_params(length=0, labelsize="small")
        axis.spines[:].set_visible(False)
        self.images_.append(image)
        self.colorbars_.append(colorbar)
        if self.outline is not None:
            self.outlines_.append(axis.add_patch(_outline_of(self.outline)))


class HeartDisplay(MapDisplay):
    """The heart as it is and as a model sees it: true noise, estimated noise, knowledge uncertainty.

    Made by `from_estimator` or `from_predictions`; the cells without rows are outlined.

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
    def from_estimator(cls, estimator: Any, heart: Heart, *, ax: Sequence[Axes] | None = None) -> Self:  # noqa: ANN401
        """Ask a model that was trained on the heart for the uncertainty of its cells, and draw it.

        Parameters
        ----------
        estimator : fitted regressor
        heart : Heart
            The table from `epiboost.datasets.make_heart`.
        ax : sequence of three matplotlib Axes, or None
            None makes a new figure.
        """
        return cls.from_predictions(
            unwrap(estimator, "predict_uncertainty").predict_uncertainty(heart.cells.X), heart, ax=ax
        )

    @classmethod
    def from_predictions(cls, uncertainty: Uncertainty, heart: Heart, *, ax: Sequence[Axes] | None = None) -> Self:
        """Draw the uncertainty of the 81 cells, in the order of ``heart.cells.X``.

        Parameters
        ----------
        uncertainty : Uncertainty
        heart : Heart
        ax : sequence of three matplotlib Axes, or None
            None makes a new figure.
        """
        cells = heart.cells
        data, knowledge = (part.reshape(cells.inside.shape) for part in (uncertainty.data, uncertainty.knowledge))
        # One scale for the truth and the estimate, which nothing binds inside the heart.
        limits = (0.0, float(max(np.nanmax(cells.data_uncertainty), data.max())))
        heat_maps = [
            HeatMap("True data uncertainty", cells.data_uncertainty, limits),
            HeatMap("Estimated data uncertainty", data, limits),
            HeatMap("Knowledge uncertainty", knowledge),
        ]
        return cls(heat_maps, outline=cells.inside, x_label="$x_2$", y_label="$x_1$").plot(ax)


def _outline_of(mask: AnyArray) -> PathPatch:
    """Return the line around the true cells of a grid drawn by ``imshow``."""
    path = require("matplotlib.path", extra="plot", purpose="drawing uncertainty").Path
    patches = require("matplotlib.patches", extra="plot", purpose="drawing uncertainty")
    effects = require("matplotlib.patheffects", extra="plot", purpose="drawing uncertainty")
    segments = border_segments(mask)
    corners = np.reshape(segments, (-1, 2))
    # One path for all edges: the casing of one edge must not cover the line of the next.
    edges = path(corners, [path.MOVETO, path.LINETO] * len(segments))
    casing = effects.withStroke(linewidth=4.0, foreground=_OUTLINE_CASING)
    line: PathPatch = patches.PathPatch(
        edges, fill=False, edgecolor=_OUTLINE, linewidth=2.0, capstyle="projecting", path_effects=[casing]
    )
    return line


def border_segments(mask: AnyArray) -> list[list[tuple[float, float]]]:
    """Return the edges between true and false cells, each from one (column, row) corner to the next.

    Cells have side one and integer centres, as ``imshow`` draws them.

    >>> len(border_segments(np.array([[True, True]])))
    6
    """
    padded = np.pad(np.asarray(mask, dtype=bool), 1)
    across = np.argwhere(padded[1:, :] != padded[:-1, :])
    along = np.argwhere(padded[:, 1:] != padded[:, :-1])
    horizontal = [[(c - 1.5, r - 0.5), (c - 0.5, r - 0.5)] for r, c in across.tolist()]
    vertical = [[(c - 0.5, r - 1.5), (c - 0.5, r - 0.5)] for r, c in along.tolist()]
    return horizontal + vertical
