"""Fans: bands of predicted quantiles along a column, or over rows sorted by their prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from epiboost._estimators.unwrap import unwrap
from epiboost._inputs.table import open_table
from epiboost._posterior.levels import check_coverage, interval_ends
from epiboost._posterior.posterior import Posterior
from epiboost._typing import Column, Estimator, Floats, Table
from epiboost.metrics.inputs import check_numbers, check_target, check_values
from epiboost.plots.base import Display
from epiboost.plots.style import BLACK, BLUE, ORANGE, hide_spines, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection, PolyCollection
    from matplotlib.lines import Line2D

_COVERAGES = (0.5, 0.8, 0.95)
_MAX_POINTS = 2000


class FanDisplay(Display):
    """Bands of central intervals and the median, along a column or over rows sorted by their median.

    Dark bands contain the target more seldom than light ones. Targets that are given should lie in a band as often as
    the legend says.

    Parameters
    ----------
    x : array of shape (n,) or None
        Values along which the bands are drawn; None sorts the rows by their median.
    median : array of shape (n,)
    intervals : array of shape (n, k, 2)
        Intervals of k coverages.
    coverages : array of shape (k,)
    y : array of shape (n,), optional
        Targets, drawn as points; 2000 evenly spaced rows at most.
    name : str, optional
        Label of the axis below.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    bands_ : list of matplotlib PolyCollection
        From the widest to the narrowest.
    median_ : matplotlib Line2D
    points_ : matplotlib PathCollection or None

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> from epiboost import Posterior
    >>> matplotlib.use("agg")
    >>> posterior = Posterior(np.array([[[0.0, 1.0], [5.0, 4.0]]]), "normal")
    >>> display = FanDisplay.from_predictions(posterior, x=[0.0, 1.0])
    >>> [band.get_label() for band in display.bands_]
    ['95 %', '80 %', '50 %']
    """

    bands_: list[PolyCollection]
    median_: Line2D
    points_: PathCollection | None

    def __init__(
        self,
        x: npt.ArrayLike | None,
        median: npt.ArrayLike,
        intervals: npt.ArrayLike,
        coverages: npt.ArrayLike,
        *,
        y: npt.ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        self.median = check_values(median, "median")
        self.coverages = np.atleast_1d(check_coverage(coverages))
        self.intervals = np.asarray(intervals, dtype=np.float64)
        wanted = (len(self.median), len(self.coverages), 2)
        if self.intervals.shape != wanted:
            message = f"intervals must have the shape {wanted}, got {self.intervals.shape}"
            raise ValueError(message)
        self.x = None if x is None else check_values(x, "x")
        if self.x is not None and len(self.x) != len(self.median):
            message = f"x must have one value per row, {len(self.median)}, got {len(self.x)}"
            raise ValueError(message)
        self.y = None if y is None else check_target(y, len(self.median))
        self.name = name or ("rows, sorted by their median" if x is None else "x")

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Table,
        y: Column | None = None,
        *,
        column: str | int | None = None,
        coverages: npt.ArrayLike = _COVERAGES,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the fan of a fitted regressor, by its ``predict_interval``: recalibrated or guaranteed, if the model is.

        Parameters
        ----------
        estimator : fitted regressor, alone, at the end of a pipeline or inside a search
        X : table of shape (n, features)
        y : array of shape (n,), optional
        column : str or int, optional
            Name or position of the column along which the bands are drawn; it must hold numbers. None sorts the rows.
        coverages : sequence of shape (k,), default=(0.5, 0.8, 0.95)
        ax : matplotlib Axes or None
        """
        found = unwrap(estimator, "predict_interval", "predict_quantile")
        table = found.transform(X)
        levels = np.atleast_1d(check_coverage(coverages))
        median = found.estimator.predict_quantile(table, 0.5)
        intervals = found.estimator.predict_interval(table, levels)
        x, name = (None, None) if column is None else (_column_of(X, column), str(column))
        target = None if y is None else np.asarray(y, dtype=np.float64)
        return cls(x, median, intervals, levels, y=target, name=name).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        posterior: Posterior,
        y: npt.ArrayLike | None = None,
        *,
        x: npt.ArrayLike | None = None,
        coverages: npt.ArrayLike = _COVERAGES,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the fan of a posterior of numbers.

        Parameters
        ----------
        posterior : Posterior
        y, x, name
            As for the class.
        coverages : sequence of shape (k,), default=(0.5, 0.8, 0.95)
        ax : matplotlib Axes or None
        """
        posterior = check_numbers(posterior)
        ends = interval_ends(np.atleast_1d(check_coverage(coverages)))
        intervals = posterior.quantile(ends.ravel()).reshape(-1, *ends.shape)
        return cls(x, posterior.quantile(0.5), intervals, coverages, y=y, name=name).plot(ax)

    def _draw(self) -> None:
        widest = self.intervals[:, self.coverages.argmax(), 1]  # orders counts of equal median
        order = np.lexsort((widest, self.median)) if self.x is None else np.argsort(self.x, kind="stable")
        x = np.arange(len(order), dtype=np.float64) if self.x is None else self.x[order]
        self.bands_ = []
        widest_first = np.argsort(-self.coverages)
        for place, band in enumerate(widest_first):
            low, high = self.intervals[order, band].T
            drawn = self.ax_.fill_between(
                x,
                low,
                high,
                color=BLUE,
                alpha=0.18 + 0.14 * place,
                linewidth=0,
                label=f"{100 * self.coverages[band]:g} %",
            )
            self.bands_.append(drawn)
        (self.median_,) = self.ax_.plot(x, self.median[order], color=BLACK, linewidth=1.2, label="median")
        self.points_ = None
        if self.y is not None:
            shown = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MAX_POINTS)).astype(np.int64))
            self.points_ = self.ax_.scatter(
                x[shown], self.y[order][shown], s=7, c=ORANGE, alpha=0.8, linewidths=0, label="target", zorder=3
            )
        self.ax_.set(xlabel=self.name, ylabel="target")
        legend_above(self.ax_)
        hide_spines(self.ax_)


def _column_of(X: Table, column: str | int) -> Floats:
    """Return a column of numbers of a table by its name or position."""
    table = open_table(X)
    names = None if isinstance(table, np.ndarray | list) else getattr(table, "columns", None)
    if isinstance(column, str):
        if names is None or column not in names:
            known = "columns without names" if names is None else ", ".join(names)
            message = f"column must be the name of a column of X, or its position; got {column!r} for {known}"
            raise ValueError(message)
        return check_values(np.asarray(table[column].to_numpy()), f"the column {column!r}")
    n_columns = len(names) if names is not None else np.asarray(table).shape[1]
    if not 0 <= column < n_columns:
        message = f"column must be from 0 to {n_columns - 1}, got {column}"
        raise ValueError(message)
    values = np.asarray(table)[:, column] if names is None else table[names[column]].to_numpy()
    return check_values(np.asarray(values), f"the column {column}")
