"""The features that matter most over many rows: one line per feature, one point per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from epiboost._typing import AnyArray, Estimator, Floats, Table
from epiboost.explain import Attribution, Explained, Groups, attribute
from epiboost.plots.attribution_labels import caution_below, check_drawable, measure_label, short
from epiboost.plots.base import Display
from epiboost.plots.style import BLUE, GREY, ORANGE, hide_spines, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

_SPREAD = 0.32
"""Points spread over this much above and below their line."""
_POINT_SIZE = 14
_MIN_VALUES = 2


class AttributionDisplay(Display):
    """The features that matter most over many rows: one line per feature, one point per row.

    A point to the right of zero says that the feature makes the measure of the row larger. Its colour is the rank of
    the feature's value among the rows, from blue (smallest) to orange (largest); categories are grey.

    Parameters
    ----------
    attribution : Attribution
    max_features : int, default=10
        Number of features that are drawn, most important first.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    points_ : list of matplotlib PathCollection
        One per feature, from the top.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> from epiboost.explain import Attribution
    >>> from epiboost.plots import AttributionDisplay
    >>> matplotlib.use("agg")
    >>> values, base_values, data = np.array([[0.5, -0.1]]), np.array([0.2]), np.array([[90, 3]])
    >>> found = Attribution(values, base_values, data, ("age", "pay"), measure="data", unit="nats")
    >>> [label.get_text() for label in AttributionDisplay(found).plot().ax_.get_yticklabels()]
    ['age', 'pay']
    """

    points_: list[PathCollection]

    def __init__(self, attribution: Attribution, *, max_features: int = 10) -> None:
        check_drawable(attribution)
        if isinstance(max_features, bool) or not isinstance(max_features, int) or max_features < 1:
            message = f"max_features must be an integer of at least 1; got {max_features!r}"
            raise ValueError(message)
        self.attribution = attribution
        self.max_features = max_features

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Table,
        *,
        measure: Explained = "knowledge",
        background: Table | None = None,
        groups: Groups | None = None,
        max_features: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Explain rows and draw all of them.

        Parameters
        ----------
        estimator, X, measure, background, groups
            As for `epiboost.explain.attribute`.
        max_features : int, default=10
        ax : matplotlib Axes or None
        """
        found = attribute(estimator, X, measure, background=background, groups=groups)
        return cls(found, max_features=max_features).plot(ax)

    def _draw(self) -> None:
        found = self.attribution
        drawn = found.order[: self.max_features]
        heights = _SPREAD * _low_discrepancy(len(found))
        self.points_ = []
        self.ax_.axvline(0.0, color=GREY, linewidth=1.0)
        for line, feature in enumerate(drawn):
            colours = _colours(found.data[:, feature])
            points = self.ax_.scatter(
                found.values[:, feature], line + heights, c=colours, s=_POINT_SIZE, alpha=0.8, linewidths=0
            )
            self.points_.append(points)
        self.ax_.set_yticks(range(len(drawn)), [short(found.feature_names[feature]) for feature in drawn])
        self.ax_.set(ylim=(len(drawn) - 0.5, -0.5), xlabel=caution_below(f"added to {measure_label(found)}", found))
        self.ax_.locator_params(axis="x", nbins=6)  # small numbers have long labels
        for label, colour in (("low value of the feature", BLUE), ("high value", ORANGE), ("category", GREY)):
            self.ax_.scatter([], [], c=colour, s=_POINT_SIZE, label=label)
        legend_above(self.ax_)
        hide_spines(self.ax_)


def _low_discrepancy(n: int) -> Floats:
    """Return n numbers between -1 and 1 that are spread evenly: multiples of the golden ratio, modulo 1."""
    golden = 0.6180339887498949
    spread: Floats = 2.0 * np.mod(golden * np.arange(n), 1.0) - 1.0
    return spread


def _colours(values: AnyArray) -> AnyArray | str:
    """Return a colour for each value by its rank, from blue to orange; grey if the values have no order."""
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        return GREY
    finite = np.isfinite(numbers)
    if len(np.unique(numbers[finite])) < _MIN_VALUES:
        return GREY
    rank = np.searchsorted(np.sort(numbers[finite]), numbers) / max(int(np.count_nonzero(finite)) - 1, 1)
    low, high = (np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255 for code in (BLUE, ORANGE))
    share = np.clip(np.where(finite, rank, 0.5), 0.0, 1.0)[:, np.newaxis]
    mixed: AnyArray = low + share * (high - low)
    return mixed
