"""Survival curves with a band of what is not known of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from epiboost._estimators.unwrap import unwrap
from epiboost._posterior.survival_curves import SurvivalCurves
from epiboost._typing import Estimator, LibraryObject, Table
from epiboost.plots.base import Display
from epiboost.plots.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, hide_spines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

_STYLES = ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-."), (PURPLE, ":"), (BLACK, (0, (5, 1))))
_POINTS = 200
_LAST_LEVEL = 0.95  # of the row that lasts longest


class SurvivalDisplay(Display):
    """Survival curves of a few rows, each with a band of knowledge uncertainty.

    Parameters
    ----------
    curves : SurvivalCurves
        Of at most five rows.
    names : sequence of str, optional
        Name of each row; by default its position.
    coverage : float, default=0.9
        Of the bands, see `SurvivalCurves.band`.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : list of matplotlib Line2D
        One curve per row.
    bands_ : list of matplotlib PolyCollection

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> curves = SurvivalCurves(np.array([1.0, 2.0]), np.array([[[0.8, 0.5]], [[0.9, 0.7]]]))
    >>> len(SurvivalDisplay(curves).plot().lines_)
    1
    """

    lines_: list[Line2D]
    bands_: list[PolyCollection]

    def __init__(self, curves: SurvivalCurves, *, names: Sequence[str] | None = None, coverage: float = 0.9) -> None:
        n_rows = curves.members.shape[1]
        if not 1 <= n_rows <= len(_STYLES):
            message = f"curves of 1 to {len(_STYLES)} rows can be told apart, got {n_rows}; choose some rows"
            raise ValueError(message)
        if names is not None and len(names) != n_rows:
            message = f"names must have one entry per row, {n_rows}, got {len(names)}"
            raise ValueError(message)
        self.curves = curves
        self.names = [f"row {row}" for row in range(n_rows)] if names is None else [str(name) for name in names]
        self.coverage = coverage

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Table,
        *,
        times: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
        coverage: float = 0.9,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the survival curves of a few rows by a fitted estimator.

        Parameters
        ----------
        estimator : fitted EpiBoostSurvivalRegressor, alone, at the end of a pipeline or inside a search
        X : table of shape (n, features)
            At most five rows.
        times : array of shape (k,), optional
            By default up to where the row that lasts longest has ended with a probability of 0.95.
        names : sequence of str, optional
        coverage : float, default=0.9
        ax : matplotlib Axes or None
        """
        model = unwrap(estimator, "predict_posterior", "predict_survival_curves")
        if times is None:
            last = float(np.max(model.predict_posterior(X).quantile(_LAST_LEVEL)))
            times = np.linspace(0.0, last, _POINTS)
        curves: LibraryObject = model.estimator.predict_survival_curves(model.transform(X), times)
        return cls(curves, names=names, coverage=coverage).plot(ax)

    def _draw(self) -> None:
        times, survival, band = self.curves.times, self.curves.survival, self.curves.band(self.coverage)
        self.lines_, self.bands_ = [], []
        for row, (name, (color, linestyle)) in enumerate(zip(self.names, _STYLES, strict=False)):
            label = f"{name}, {self.coverage:.0%} band" if row == 0 else name
            self.bands_.append(self.ax_.fill_between(times, *band[row].T, color=color, alpha=0.2, linewidth=0.0))
            self.lines_ += self.ax_.plot(times, survival[row], color=color, linestyle=linestyle, label=label)
        self.ax_.set(
            xlabel="time", ylabel="probability of lasting longer", ylim=(0.0, 1.02), xlim=(times[0], times[-1])
        )
        self.ax_.legend(frameon=False)
        hide_spines(self.ax_)
