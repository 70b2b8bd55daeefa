"""The rejection curve: the error that remains as the most uncertain rows are rejected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

import numpy.typing as npt

from epiboost._estimators.unwrap import unwrap
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import Column, Estimator, Floats, LibraryObject, Table
from epiboost.metrics.ranking import Loss, RejectionCurve, UndefinedScoreError, rejection_curve
from epiboost.plots.base import Display
from epiboost.plots.style import BLACK, GREY, MEASURE_STYLES, hide_spines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_MEASURES = ("total", "knowledge")


class RejectionDisplay(Display):
    """Rejection curves of several measures, with those of an oracle and of random rejection.

    Parameters
    ----------
    curves : mapping from str to RejectionCurve
        One curve per measure, all of the same errors.
    error_label : str, default="error left"
        Label of the error axis.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : dict from str to matplotlib Line2D
        ``"oracle"``, ``"random"`` and one line per measure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> display = RejectionDisplay.from_predictions([0, 1, 1], [0, 1, 0], {"total": [0.1, 0.2, 0.3]})
    >>> sorted(display.lines_)
    ['oracle', 'random', 'total']
    """

    lines_: dict[str, Line2D]

    def __init__(self, curves: Mapping[str, RejectionCurve], *, error_label: str = "error left") -> None:
        if not curves:
            message = "curves must hold at least one rejection curve"
            raise ValueError(message)
        if reserved := sorted({"oracle", "random"} & set(curves)):
            message = f"the names 'oracle' and 'random' are reserved, got {reserved}; give the measure another name"
            raise ValueError(message)
        self.curves = dict(curves)
        self.error_label = error_label

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Table, y: Column, *, sample_weight: Column | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the rejection curves of total and knowledge uncertainty of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator, alone, at the end of a pipeline or inside a search
        X : table of shape (n, features)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
        ax : matplotlib Axes or None
        """
        found = unwrap(estimator, "predict", "predict_uncertainty")
        loss: Loss = "squared" if found.classes is None else "zero_one"
        uncertainty = found.predict_uncertainty(X)
        return cls.from_predictions(y, found.predict(X), uncertainty, loss=loss, sample_weight=sample_weight, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: npt.ArrayLike,
        y_pred: npt.ArrayLike,
        uncertainty: Uncertainty | Mapping[str, npt.ArrayLike],
        *,
        loss: Loss = "auto",
        sample_weight: npt.ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the rejection curves of predictions.

        Parameters
        ----------
        y_true, y_pred : arrays of shape (n,)
        uncertainty : Uncertainty, or mapping from str to array of shape (n,)
            Total and knowledge are drawn of an Uncertainty.
        loss : {"auto", "zero_one", "squared", "absolute"}, default="auto"
            Loss of a prediction, as in `epiboost.metrics.rejection_curve`.
        sample_weight : array of shape (n,), optional
        ax : matplotlib Axes or None
        """
        if isinstance(uncertainty, Uncertainty):
            uncertainty = {name: getattr(uncertainty, name) for name in _MEASURES}
        if not isinstance(uncertainty, Mapping):
            message = (
                "uncertainty must be an Uncertainty, or a mapping from names to arrays such as {'total': [...]}; got "
                f"{type(uncertainty).__name__}"
            )
            raise TypeError(message)
        curves = {
            name: rejection_curve(y_true, y_pred, values, loss=loss, sample_weight=sample_weight)
            for name, values in uncertainty.items()
        }
        return cls(curves).plot(ax)

    def _draw(self) -> None:
        first = next(iter(self.curves.values()))
        self.lines_ = {}
        self._draw_line("oracle", first.oracle_rejected, first.oracle_error, color=BLACK, linestyle="--", linewidth=1.2)
        ends = [0, -1]
        self._draw_line("random", first.rejected[ends], first.error[ends], color=GREY, linestyle=":", linewidth=1.8)
        for name, curve in self.curves.items():
            style = MEASURE_STYLES.get(name, {})
            self._draw_line(name, curve.rejected, curve.error, label=_label(name, curve), linewidth=2.0, **style)
        self.ax_.set(xlabel="share of rows rejected", ylabel=self.error_label, xlim=(0.0, 1.0))
        self.ax_.set_ylim(bottom=0.0)
        self.ax_.legend(frameon=False)
        hide_spines(self.ax_)

    def _draw_line(self, name: str, x: Floats, y: Floats, *, label: str | None = None, **style: LibraryObject) -> None:
        (self.lines_[name],) = self.ax_.plot(x, y, label=label or name, **style)


def _label(name: str, curve: RejectionCurve) -> str:
    try:
        return f"{name} (PRR {curve.score:.2f})"
    except UndefinedScoreError:
        return name
