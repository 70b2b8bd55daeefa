"""The explanation of one row: one bar per feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from epiboost._typing import Estimator, Floats, Table
from epiboost.explain import Attribution, Explained, Groups, attribute
from epiboost.plots.attribution_labels import (
    caution_below,
    check_drawable,
    formatted_cell,
    formatted_number,
    measure_label,
    short,
)
from epiboost.plots.base import Display
from epiboost.plots.style import BLACK, BLUE, GREY, ORANGE, hide_spines, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

_BAR_HEIGHT = 0.62


class RowAttributionDisplay(Display):
    """The explanation of one row: one bar per feature, from the mean of the background to the measure of the row.

    Parameters
    ----------
    attribution : Attribution
    row : int, default=0
        Position of the row in the attribution.
    max_features : int, default=10
        Number of features that are drawn, largest value first; one more bar is the sum of the others.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    bars_ : matplotlib BarContainer
        From the top.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> from epiboost.explain import Attribution
    >>> from epiboost.plots import RowAttributionDisplay
    >>> matplotlib.use("agg")
    >>> values, base_values, data = np.array([[0.5, -0.1]]), np.array([0.2]), np.array([[90, 3]])
    >>> found = Attribution(values, base_values, data, ("age", "pay"), measure="data", unit="nats")
    >>> [label.get_text() for label in RowAttributionDisplay(found).plot().ax_.get_yticklabels()]
    ['age = 90', 'pay = 3']
    """

    bars_: BarContainer

    def __init__(self, attribution: Attribution, row: int = 0, *, max_features: int = 10) -> None:
        check_drawable(attribution)
        if not isinstance(row, int | np.integer) or not -len(attribution) <= row < len(attribution):
            message = f"row must be the position of one of the {len(attribution)} explained rows; got {row!r}"
            raise ValueError(message)
        self.attribution = attribution
        self.row = row
        self.max_features = max_features

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Table,
        row: int = 0,
        *,
        measure: Explained = "knowledge",
        background: Table | None = None,
        groups: Groups | None = None,
        max_features: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Explain rows and draw one of them.

        Parameters
        ----------
        estimator, X, measure, background, groups
            As for `epiboost.explain.attribute`.
        row : int, default=0
            Position of the row in X.
        max_features : int, default=10
        ax : matplotlib Axes or None
        """
        found = attribute(estimator, X, measure, background=background, groups=groups)
        return cls(found, row, max_features=max_features).plot(ax)

    def _draw(self) -> None:
        base, output = float(self.attribution.base_values[self.row]), float(self.attribution.output[self.row])
        labels, lengths = self._labels_and_lengths()
        starts = base + np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
        colours = [ORANGE if length >= 0.0 else BLUE for length in lengths]
        places = np.arange(len(lengths))
        self.bars_ = self.ax_.barh(places, lengths, left=starts, color=colours, height=_BAR_HEIGHT)
        for place, end in enumerate((starts + lengths)[:-1]):
            ends = [place - _BAR_HEIGHT / 2, place + 1 + _BAR_HEIGHT / 2]
            self.ax_.plot([end, end], ends, color=GREY, linewidth=0.8)
        mean_label, row_label = f"background mean ({formatted_number(base)})", f"this row ({formatted_number(output)})"
        self.ax_.axvline(base, color=GREY, linestyle=":", linewidth=1.8, label=mean_label)
        self.ax_.axvline(output, color=BLACK, linestyle="--", linewidth=1.2, label=row_label)
        self.ax_.set_yticks(places, labels)
        self.ax_.use_sticky_edges = False
        self.ax_.margins(x=0.06)
        self.ax_.set(
            ylim=(len(labels) - 0.5, -0.5), xlabel=caution_below(measure_label(self.attribution), self.attribution)
        )
        legend_above(self.ax_)
        hide_spines(self.ax_)

    def _labels_and_lengths(self) -> tuple[list[str], Floats]:
        """Return the label and the length of each bar, from the top."""
        names, data = self.attribution.feature_names, self.attribution.data[self.row]
        values = self.attribution.values[self.row]
        order = np.argsort(-np.abs(values), kind="stable")
        drawn, others = order[: self.max_features], order[self.max_features :]
        labels = [f"{short(names[feature])} = {formatted_cell(data[feature])}" for feature in drawn]
        lengths = values[drawn]
        if len(others):
            labels.append(f"{len(others)} others")
            lengths = np.append(lengths, values[others].sum())
        return labels, lengths
