"""Colours and line styles that are readable with every kind of colour vision, and axes helpers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from epiboost.plots.base import import_matplotlib

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis

BLUE, ORANGE, GREEN, PURPLE, BLACK, GREY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#000000", "#8C8C8C"
"""From the palette of Okabe and Ito; lines and markers also differ in shape."""

COLOUR_MAP: Final = "viridis"
"""Colours of maps: readable with every kind of colour vision, and in greyscale."""

MISSING, OUTLINE, OUTLINE_CASING = "#f2f2f2", "white", "black"
"""Colours of cells without a value in a map, of the line around cells, and of the edges of that line."""

MEASURE_STYLES: Final[dict[str, dict[str, Any]]] = {
    "total": {"color": BLUE, "linestyle": "-"},
    "knowledge": {"color": ORANGE, "linestyle": "-."},
    "data": {"color": GREEN, "linestyle": (0, (3, 1, 1, 1, 1, 1))},
}
"""Line style of each measure."""

_FEW_DECADES = 100.0


def hide_spines(ax: Axes) -> None:
    """Hide the top and the right spine."""
    ax.spines[["top", "right"]].set_visible(False)


def legend_above(ax: Axes, handles: Sequence[Artist] | None = None) -> None:
    """Put the legend above the Axes, where it covers nothing; by default all artists that have a label are in it."""
    ax.legend(
        handles=handles,
        frameon=False,
        fontsize="small",
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3,
        borderaxespad=0.2,
    )


def set_log_scale(axis: XAxis | YAxis, low: float, high: float) -> None:
    """Make an axis logarithmic; where values span less than two decades, label 1, 2 and 5 of each decade."""
    ticker = import_matplotlib("matplotlib.ticker")
    set_scale = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    set_scale("log")
    if high < _FEW_DECADES * low:
        axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axis.set_minor_formatter(ticker.NullFormatter())
