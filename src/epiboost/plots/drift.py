"""Columns that drifted: one bar per column, as long as its effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from epiboost._estimators.conformal import check_share
from epiboost.decisions import DriftTest
from epiboost.plots.attribution_labels import short
from epiboost.plots.base import Display, import_matplotlib
from epiboost.plots.style import BLACK, GREY, ORANGE, hide_spines, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

_ROOM_FOR_LABELS = 1.4
"""The axis is longer than the longest bar by this factor."""
_STYLES: dict[bool, dict[str, Any]] = {
    True: {"facecolor": ORANGE, "edgecolor": BLACK, "hatch": "///"},
    False: {"facecolor": GREY, "edgecolor": BLACK},
}
"""How the bars of columns look that drifted, and of the others."""


class DriftDisplay(Display):
    """Effects of the columns of a drift test: one bar per column, the strongest evidence at the top.

    Bars of columns that drifted are orange and hatched, the others are grey. The number beside a bar is the column's
    adjusted p-value.

    Parameters
    ----------
    test : DriftTest
        What `DomainDetector.drift` returns.
    alpha : float, default=0.05
        A column drifted if its adjusted p-value is at most this.
    max_columns : int, default=10
        Number of columns that are drawn.

    Raises
    ------
    ValueError
        If alpha is not between 0 and 1, or max_columns is less than 1.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    bars_ : matplotlib BarContainer
        From the top.

    Examples
    --------
    >>> import matplotlib
    >>> from epiboost.decisions import ColumnDrift, DriftTest
    >>> matplotlib.use("agg")
    >>> columns = ColumnDrift("age", 0.4, 0.001, 0.001), ColumnDrift("pay", 0.1, 0.7, 0.5)
    >>> display = DriftDisplay.from_test(DriftTest(0.001, 100, columns))
    >>> [float(bar.get_width()) for bar in display.bars_]
    [0.4, 0.1]
    """

    bars_: BarContainer

    def __init__(self, test: DriftTest, *, alpha: float = 0.05, max_columns: int = 10) -> None:
        check_share(alpha, "alpha")
        if isinstance(max_columns, bool) or not isinstance(max_columns, int) or max_columns < 1:
            message = f"max_columns must be an integer of at least 1; got {max_columns!r}"
            raise ValueError(message)
        self.test = test
        self.alpha = alpha
        self.max_columns = max_columns

    @classmethod
    def from_test(cls, test: DriftTest, *, alpha: float = 0.05, max_columns: int = 10, ax: Axes | None = None) -> Self:
        """Draw the columns of a drift test.

        Parameters
        ----------
        test : DriftTest
        alpha : float, default=0.05
        max_columns : int, default=10
        ax : matplotlib Axes or None
        """
        return cls(test, alpha=alpha, max_columns=max_columns).plot(ax)

    def _draw(self) -> None:
        columns = self.test.columns[: self.max_columns]
        self.bars_ = self.ax_.barh(range(len(columns)), [column.effect for column in columns])
        for bar, column in zip(self.bars_, columns, strict=True):
            bar.set(**_STYLES[column.p_value <= self.alpha])
        self.ax_.bar_label(self.bars_, [f"p = {column.p_value:.3g}" for column in columns], padding=3)
        self.ax_.set_yticks(range(len(columns)), [short(column.name) for column in columns])
        longest = max(column.effect for column in columns)
        self.ax_.set(
            xlim=(0.0, _ROOM_FOR_LABELS * longest if longest > 0.0 else 1.0),
            ylim=(len(columns) - 0.5, -0.5),
            xlabel="effect: distance between batch and reference",
        )
        patch = import_matplotlib("matplotlib.patches").Patch
        labels = {True: f"drifted (p ≤ {self.alpha:g})", False: "no evidence"}
        legend_above(self.ax_, [patch(**_STYLES[drifted], label=label) for drifted, label in labels.items()])
        hide_spines(self.ax_)
