"""Which features make the model unsure: of many rows, and of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from epiboost._typing import AnyArray, Floats
from epiboost.explain import Attribution, Explained, attribute
from epiboost.plots.style import BLACK, BLUE, GREY, ORANGE, new_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure, SubFigure

_MOST_LETTERS = 28
_SPREAD = 0.32
_BAR = 0.62


class AttributionDisplay:
    """The features that matter most over many rows: one line for each feature, one point for each row.

    A point to the right says that the feature makes the row's measure larger. Its colour tells how large the feature's
    value is among the rows, from blue (smallest) to orange (largest); categories are grey.

    Parameters
    ----------
    attribution : Attribution
    max_features : int, default=10
        Lines that are drawn, most important first.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    points_ : list of matplotlib PathCollection
        One a line, from the top.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> found = Attribution(np.array([[0.5, -0.1]]), 0.2, ("age", "pay"), np.array([[90, 3]]), of="data", unit="nats")
    >>> [label.get_text() for label in AttributionDisplay(found).plot().ax_.get_yticklabels()]
    ['age', 'pay']
    """

    def __init__(self, attribution: Attribution, *, max_features: int = 10) -> None:
        _check_rows(attribution)
        if isinstance(max_features, bool) or not isinstance(max_features, int) or max_features < 1:
            message = f"max_features must be a whole number of at least 1; got {max_features!r}"
            raise ValueError(message)
        self.attribution = attribution
        self.max_features = max_features

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,  # noqa: ANN401 (any model that knows its uncertainty)
        X: Any,  # noqa: ANN401 (anything the model reads)
        *,
        of: Explained = "knowledge",
        background: Any = None,  # noqa: ANN401 (anything the model reads)
        max_features: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Explain rows and draw it.

        Parameters
        ----------
        estimator : fitted model, on its own, at the end of a pipeline or inside a search
        X : table of shape (n, features)
        of : {"knowledge", "data", "total", "mean"}, default="knowledge"
        background : table of shape (m, features), optional
            Usual rows, as for `epiboost.explain.attribute`.
        max_features : int, default=10
        ax : matplotlib Axes or None
            None makes a new figure.
        """
        return cls(attribute(estimator, X, of, background=background), max_features=max_features).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the points.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        AttributionDisplay
            This display, which now holds what it drew.
        """
        self.ax_: Axes = new_axes()[0] if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        found = self.attribution
        shown = found.order[: self.max_features]
        self.points_: list[PathCollection] = []
        self.ax_.axvline(0.0, color=GREY, linewidth=1.0)
        for line, feature in enumerate(shown):
            height = line + _SPREAD * _low_discrepancy(len(found))
            values = found.values[:, feature]
            colours = _colours(found.data[:, feature])
            self.points_.append(self.ax_.scatter(values, height, c=colours, s=14, alpha=0.8, linewidths=0))
        self.ax_.set_yticks(range(len(shown)), [_short(found.names[feature]) for feature in shown])
        self.ax_.set_ylim(len(shown) - 0.5, -0.5)
        self.ax_.set_xlabel(_x_label(found))
        for label, colour in (("low value of the feature", BLUE), ("high value", ORANGE), ("category", GREY)):
            self.ax_.scatter([], [], c=colour, s=14, label=label)
        _key(self.ax_)
        plain(self.ax_)
        return self


class RowAttributionDisplay:
    """Why one row is unsure: a bar for each feature, from the mean of the background to the row's own measure.

    Parameters
    ----------
    attribution : Attribution
    row : int, default=0
        Which of its rows.
    max_features : int, default=10
        Bars that are drawn, longest first; one more bar adds up the others.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    bars_ : matplotlib BarContainer
        From the top.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> found = Attribution(np.array([[0.5, -0.1]]), 0.2, ("age", "pay"), np.array([[90, 3]]), of="data", unit="nats")
    >>> [label.get_text() for label in RowAttributionDisplay(found).plot().ax_.get_yticklabels()]
    ['age = 90', 'pay = 3']
    """

    def __init__(self, attribution: Attribution, row: int = 0, *, max_features: int = 10) -> None:
        _check_rows(attribution)
        if not isinstance(row, int | np.integer) or not -len(attribution) <= row < len(attribution):
            message = f"row must be one of the {len(attribution)} rows that were explained; got {row!r}"
            raise ValueError(message)
        self.attribution = attribution
        self.row = row
        self.max_features = max_features

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,  # noqa: ANN401 (any model that knows its uncertainty)
        X: Any,  # noqa: ANN401 (anything the model reads)
        row: int = 0,
        *,
        of: Explained = "knowledge",
        background: Any = None,  # noqa: ANN401 (anything the model reads)
        max_features: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Explain rows and draw one of them.

        Parameters
        ----------
        estimator : fitted model, on its own, at the end of a pipeline or inside a search
        X : table of shape (n, features)
        row : int, default=0
        of : {"knowledge", "data", "total", "mean"}, default="knowledge"
        background : table of shape (m, features), optional
            Usual rows, as for `epiboost.explain.attribute`.
        max_features : int, default=10
        ax : matplotlib Axes or None
            None makes a new figure.
        """
        return cls(attribute(estimator, X, of, background=background), row, max_features=max_features).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RowAttributionDisplay
            This display, which now holds what it drew.
        """
        self.ax_: Axes = new_axes()[0] if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        found = self.attribution
        labels, lengths = self._bars()
        starts = found.base + np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
        colours = [ORANGE if length >= 0.0 else BLUE for length in lengths]
        places = np.arange(len(lengths))
        self.bars_: BarContainer = self.ax_.barh(places, lengths, left=starts, color=colours, height=_BAR)
        ends = starts + lengths
        for place, end in enumerate(ends[:-1]):
            self.ax_.plot([end, end], [place - _BAR / 2, place + 1 + _BAR / 2], color=GREY, linewidth=0.8)
        self.ax_.axvline(found.base, color=GREY, linestyle=":", linewidth=1.8, label=f"usual ({_number(found.base)})")
        measure = float(found.measure[self.row])
        self.ax_.axvline(measure, color=BLACK, linestyle="--", linewidth=1.2, label=f"this row ({_number(measure)})")
        self.ax_.set_yticks(places, labels)
        self.ax_.set_ylim(len(labels) - 0.5, -0.5)
        self.ax_.use_sticky_edges = False
        self.ax_.margins(x=0.06)
        self.ax_.set_xlabel(_name(found))
        _key(self.ax_)
        plain(self.ax_)
        return self

    def _bars(self) -> tuple[list[str], Floats]:
        found = self.attribution
        values = found.values[self.row]
        order = np.argsort(-np.abs(values), kind="stable")
        shown, rest = order[: self.max_features], order[self.max_features :]
        labels = [f"{_short(found.names[place])} = {_cell(found.data[self.row, place])}" for place in shown]
        lengths = values[shown]
        if len(rest):
            labels.append(f"{len(rest)} others")
            lengths = np.append(lengths, values[rest].sum())
        return labels, lengths


def _key(ax: Axes) -> None:
    """Put the legend above the picture, where it hides nothing."""
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.2)


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000.0 <= abs(value) < 1e7 else f"{value:.3g}"  # noqa: PLR2004 (thousands are set apart)


def _check_rows(attribution: Attribution) -> None:
    if not isinstance(attribution, Attribution):
        message = f"an Attribution is needed, as epiboost.explain.attribute gives it; got {type(attribution).__name__}"
        raise TypeError(message)
    if not len(attribution):
        message = "there are no rows to draw; at least one is needed"
        raise ValueError(message)


def _low_discrepancy(n: int) -> Floats:
    """Return heights between -1 and 1 that spread points evenly, the same each time."""
    golden = 0.6180339887498949
    spread: Floats = 2.0 * np.mod(golden * np.arange(n), 1.0) - 1.0
    return spread


def _colours(values: AnyArray) -> AnyArray | str:
    """Return a colour a value by its rank, from blue to orange; grey where there is no order."""
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        return GREY
    known = np.isfinite(numbers)
    if len(np.unique(numbers[known])) < 2:  # noqa: PLR2004 (an order needs two)
        return GREY
    rank = np.searchsorted(np.sort(numbers[known]), numbers) / max(int(np.count_nonzero(known)) - 1, 1)
    low, high = (np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255 for code in (BLUE, ORANGE))
    share = np.clip(np.where(known, rank, 0.5), 0.0, 1.0)[:, np.newaxis]
    mixed: AnyArray = low + share * (high - low)
    return mixed


def _name(found: Attribution) -> str:
    if found.of != "mean":
        return f"{found.of} uncertainty ({found.unit})"
    return "prediction" if found.label is None else f"probability of {_short(str(found.label))}"


def _x_label(found: Attribution) -> str:
    return f"added to {_name(found)}"


def _short(text: str) -> str:
    text = text.replace("$", r"\$")  # matplotlib would set it as a formula
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return _short(str(value))
