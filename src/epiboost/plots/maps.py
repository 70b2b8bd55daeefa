"""Heat maps of uncertainty over a grid of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epiboost._typing import AnyArray, Floats
from epiboost.plots.base import PanelDisplay, import_matplotlib
from epiboost.plots.style import COLOUR_MAP, MISSING, OUTLINE, OUTLINE_CASING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.image import AxesImage
    from matplotlib.patches import PathPatch


@dataclass(frozen=True, slots=True)
class HeatMap:
    """One panel of a `MapDisplay`.

    Parameters
    ----------
    title : str
        Title of the panel.
    values : array of shape (rows, columns)
        Uncertainty of each cell; NaN leaves a cell blank.
    limits : (float, float) or None, default=None
        Uncertainties of the first and the last colour; None takes them from the values. Panels with the same limits
        can be compared.
    """

    title: str
    values: Floats
    limits: tuple[float, float] | None = None


class MapDisplay(PanelDisplay):
    """Heat maps of uncertainty over a grid of cells, side by side.

    Parameters
    ----------
    heat_maps : sequence of HeatMap
        The panels, from left to right, all of the same shape.
    outline : array of bool, of shape (rows, columns), or None, default=None
        Cells to draw a line around, such as those without training rows.
    x_label, y_label : str
        Names of the features along the columns and along the rows.
    colour_label : str, default="variance"
        Label of the colour bars.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        One per panel.
    images_ : list of matplotlib AxesImage
        The heat maps.
    colorbars_ : list of matplotlib Colorbar
    outlines_ : list of matplotlib PathPatch
        Lines around the outlined cells; empty without ``outline``.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> from epiboost.plots import HeatMap, MapDisplay
    >>> matplotlib.use("agg")
    >>> knowledge = HeatMap("Knowledge uncertainty", np.eye(3))
    >>> display = MapDisplay([knowledge], outline=np.eye(3) > 0).plot()
    >>> display.axes_[0].get_title()
    'Knowledge uncertainty'
    """

    images_: list[AxesImage]
    colorbars_: list[Colorbar]
    outlines_: list[PathPatch]
    panel_size: ClassVar[tuple[float, float]] = (3.7, 3.5)

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

    def _panel_titles(self) -> list[str]:
        return [heat_map.title for heat_map in self.heat_maps]

    def _draw(self) -> None:
        self.images_, self.colorbars_, self.outlines_ = [], [], []
        for ax, heat_map in zip(self.axes_, self.heat_maps, strict=True):
            self._draw_heat_map(ax, heat_map)
            if self.outline is not None:
                self.outlines_.append(_outline_of(self.outline))
                ax.add_patch(self.outlines_[-1])

    def _draw_heat_map(self, ax: Axes, heat_map: HeatMap) -> None:
        colour_map = import_matplotlib("matplotlib").colormaps[COLOUR_MAP].with_extremes(bad=MISSING)
        low, high = heat_map.limits or (None, None)
        image = ax.imshow(np.ma.masked_invalid(heat_map.values), cmap=colour_map, vmin=low, vmax=high)
        extend = "max" if high is not None and np.nanmax(heat_map.values) > high else "neither"
        colorbar = self.figure_.colorbar(image, ax=ax, extend=extend, shrink=0.85, label=self.colour_label)
        colorbar.ax.locator_params(axis="y", nbins=6)
        ax.set(title=heat_map.title, xlabel=self.x_label, ylabel=self.y_label)
        n_rows, n_columns = heat_map.values.shape
        ax.set_xticks(range(n_columns))
        ax.set_yticks(range(n_rows))
        ax.tick_params(length=0, labelsize="small")
        ax.spines[:].set_visible(False)
        self.images_.append(image)
        self.colorbars_.append(colorbar)


def border_segments(mask: AnyArray) -> list[list[tuple[float, float]]]:
    """Return the edges between true and false cells, each from one (column, row) corner to the next.

    Cells have side one and integer centres, as ``imshow`` draws them.

    >>> import numpy as np
    >>> len(border_segments(np.array([[True, True]])))
    6
    """
    padded = np.pad(np.asarray(mask, dtype=bool), 1)
    across = np.argwhere(padded[1:, :] != padded[:-1, :])
    along = np.argwhere(padded[:, 1:] != padded[:, :-1])
    horizontal = [[(c - 1.5, r - 0.5), (c - 0.5, r - 0.5)] for r, c in across.tolist()]
    vertical = [[(c - 0.5, r - 1.5), (c - 0.5, r - 0.5)] for r, c in along.tolist()]
    return horizontal + vertical


def _outline_of(mask: AnyArray) -> PathPatch:
    """Return the line around the true cells of a grid drawn by ``imshow``."""
    path = import_matplotlib("matplotlib.path").Path
    segments = border_segments(mask)
    # One path for all edges: the casing of one edge must not cover the line of the next.
    edges = path(np.reshape(segments, (-1, 2)), [path.MOVETO, path.LINETO] * len(segments))
    casing = import_matplotlib("matplotlib.patheffects").withStroke(linewidth=4.0, foreground=OUTLINE_CASING)
    line: PathPatch = import_matplotlib("matplotlib.patches").PathPatch(
        edges, fill=False, edgecolor=OUTLINE, linewidth=2.0, capstyle="projecting", path_effects=[casing]
    )
    return line
