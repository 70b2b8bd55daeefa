"""Data against knowledge uncertainty, a point a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from epiboost._posterior.uncertainty import Uncertainty
from epiboost._posterior.unwrap import unwrap
from epiboost._typing import Floats
from epiboost.plots.style import BLUE, ORANGE, new_axes, plain, scale_by_logarithm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure, SubFigure

_MOST_POINTS = 5000


class UncertaintyDisplay:
    """Data against knowledge uncertainty: in-domain rows, and rows from outside beside them.

    Parameters
    ----------
    uncertainty : Uncertainty
        Of in-domain rows.
    outside : Uncertainty, optional
        Of rows from outside the domain.

    Raises
    ------
    ValueError
        If there are no rows, or an uncertainty is not finite.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    points_ : list of matplotlib PathCollection
        The in-domain points and, if there are any, those from outside. Of many rows, 5000 evenly spaced ones are drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> sure = Uncertainty([2.0, 1.1], [1.0, 1.0], [1.0, 0.1], unit="variance")
    >>> UncertaintyDisplay.from_predictions(sure).ax_.get_xlabel()
    'data uncertainty (variance)'
    """

    def __init__(self, uncertainty: Uncertainty, outside: Uncertainty | None = None) -> None:
        for rows in (uncertainty, outside):
            if rows is not None and not isinstance(rows, Uncertainty):
                message = f"an Uncertainty is needed, as predict_uncertainty gives it; got {type(rows).__name__}"
                raise TypeError(message)
            if rows is not None and not len(rows):
                message = "there are no rows to draw; at least one is needed"
                raise ValueError(message)
            if rows is not None and not np.isfinite([rows.data, rows.knowledge]).all():
                message = "uncertainties must be finite to be drawn"
                raise ValueError(message)
        self.uncertainty = uncertainty
        self.outside = outside

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,  # noqa: ANN401 (any model that knows its uncertainty)
        X: Any,  # noqa: ANN401 (anything the model reads)
        X_out: Any = None,  # noqa: ANN401 (anything the model reads)
        *,
        ax: Axes | None = None,
    ) -> Self:
        """Ask a model how unsure it is of rows, and draw it.

        Parameters
        ----------
        estimator : fitted model, on its own, at the end of a pipeline or inside a search
        X : table of shape (n, features)
        X_out : table of shape (k, features), optional
            Rows from outside the domain.
        ax : matplotlib Axes or None
            None makes a new figure.
        """
        model = unwrap(estimator, "predict_uncertainty")
        outside = None if X_out is None else model.predict_uncertainty(X_out)
        return cls.from_predictions(model.predict_uncertainty(X), outside, ax=ax)

    @classmethod
    def from_predictions(
        cls, uncertainty: Uncertainty, outside: Uncertainty | None = None, *, ax: Axes | None = None
    ) -> Self:
        """Draw uncertainties.

        Parameters
        ----------
        uncertainty : Uncertainty
            Of in-domain rows.
        outside : Uncertainty, optional
            Of rows from outside the domain.
        ax : matplotlib Axes or None
            None makes a new figure.
        """
        return cls(uncertainty, outside).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the points, on a logarithmic scale if any is above zero; zeros then lie at the smallest value above it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        UncertaintyDisplay
            This display, which now holds what it drew.
        """
        self.ax_: Axes = new_axes()[0] if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        groups = [self.uncertainty] if self.outside is None else [self.uncertainty, self.outside]
        data_floor = _smallest_positive([group.data for group in groups])
        knowledge_floor = _smallest_positive([group.knowledge for group in groups])
        styles = [("in domain", BLUE, "o"), ("out of domain", ORANGE, "^")]
        self.points_: list[PathCollection] = []
        for group, (label, colour, marker) in zip(groups, styles, strict=False):
            data, knowledge = (_thinned(part) for part in (group.data, group.knowledge))
            points = self.ax_.scatter(
                np.maximum(data, data_floor),
                np.maximum(knowledge, knowledge_floor),
                label=label,
                c=colour,
                marker=marker,
                s=16,
                alpha=0.6,
                linewidths=0,
            )
            self.points_.append(points)
        if data_floor > 0.0:
            scale_by_logarithm(self.ax_.xaxis, data_floor, max(group.data.max() for group in groups))
        if knowledge_floor > 0.0:
            scale_by_logarithm(self.ax_.yaxis, knowledge_floor, max(group.knowledge.max() for group in groups))
        self.ax_.set_xlabel(f"data uncertainty ({self.uncertainty.unit})")
        self.ax_.set_ylabel(f"knowledge uncertainty ({self.uncertainty.unit})")
        if self.outside is not None:
            self.ax_.legend(frameon=False)
        plain(self.ax_)
        return self


def _smallest_positive(parts: list[Floats]) -> float:
    """Return where zeros are drawn on a logarithmic scale: at the smallest value above, or at zero if there is none."""
    values = np.concatenate(parts)
    positive = values[values > 0.0]
    return float(positive.min()) if positive.size else 0.0


def _thinned(values: Floats) -> Floats:
    if len(values) <= _MOST_POINTS:
        return values
    return values[np.linspace(0, len(values) - 1, _MOST_POINTS).astype(np.int64)]
