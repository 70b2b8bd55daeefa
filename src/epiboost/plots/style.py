"""The look of all pictures: colours that read with every kind of colour vision, and axes where none are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from epiboost._optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREEN, PURPLE, BLACK, GREY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#000000", "#8C8C8C"
"""Of the palette of Okabe and Ito; lines and marks differ in shape as well."""

MEASURE_STYLES: Final[dict[str, dict[str, Any]]] = {
    "total": {"color": BLUE, "linestyle": "-"},
    "knowledge": {"color": ORANGE, "linestyle": "-."},
    "data": {"color": GREEN, "linestyle": (0, (3, 1, 1, 1, 1, 1))},
}
"""How the line of each measure is drawn."""

_PANEL_WIDTH, _PANEL_HEIGHT = 4.8, 4.0
_FEW_DECADES = 100.0


def new_axes(n_panels: int = 1) -> list[Any]:
    """Make a figure with panels side by side."""
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing uncertainty")
    size = (_PANEL_WIDTH * n_panels, _PANEL_HEIGHT)
    _, axes = pyplot.subplots(1, n_panels, figsize=size, layout="constrained", squeeze=False)
    return list(axes[0])


def plain(ax: Axes) -> None:
    """Take away what does not help to read."""
    ax.spines[["top", "right"]].set_visible(False)


def scale_by_logarithm(axis: Any, low: float, high: float) -> None:  # noqa: ANN401 (matplotlib is imported late)
    """Make an axis logarithmic, with as many labels as there is room for."""
    ticker = require("matplotlib.ticker", extra="plot", purpose="drawing uncertainty")
    set_scale = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    set_scale("log")
    if high < _FEW_DECADES * low:
        axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axis.set_minor_formatter(ticker.NullFormatter())
