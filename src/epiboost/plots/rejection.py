"""The rejection curve: how fast the error falls as the least sure cases are handed over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

from epiboost._posterior.uncertainty import Uncertainty
from epiboost._posterior.unwrap import unwrap
from epiboost._typing import Floats
from epiboost.metrics.ranking import Loss, RejectionCurve, UndefinedScoreError, rejection_curve
from epiboost.plots.style import BLACK, GREY, MEASURE_STYLES, new_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

_MEASURES = ("total", "knowledge")


class RejectionDisplay:
    """Rejection curves of several measures on one axes, between those of an oracle and of chance.

    Parameters
    ----------
    curves : mapping from str to RejectionCurve
        One a measure, all of the same errors.
    error_label : str, default="error left"
        What the error is.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : dict from str to matplotlib Line2D
        ``"oracle"``, ``"random"`` and one a measure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> display = RejectionDisplay.from_predictions([0, 1, 1], [0, 1, 0], {"total": [0.1, 0.2, 0.3]})
    >>> sorted(display.lines_)
    ['oracle', 'random', 'total']
    """

    def __init__(self, curves: Mapping[str, RejectionCurve], *, error_label: str = "error left") -> None:
        if not curves:
            message = "curves must hold one rejection curve at least"
            raise ValueError(message)
        if taken := sorted({"oracle", "random"} & set(curves)):
            message = f"{' and '.join(taken)} are drawn anyway; give the measure another name"
            raise ValueError(message)
        self.curves = dict(curves)
        self.error_label = error_label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,  # noqa: ANN401 (any model that knows its uncertainty)
        X: Any,  # noqa: ANN401 (anything the model reads)
        y: npt.ArrayLike,
        *,
        sample_weight: npt.ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Ask a model for predictions and uncertainties, and draw how well these find its errors.

        Parameters
        ----------
        estimator : fitted model, on its own, at the end of a pipeline or inside a search
        X : table of shape (n, features)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
        ax : matplotlib Axes or None
            None makes a new figure.
        """
        model = unwrap(estimator, "predict", "predict_uncertainty")
        loss: Loss = "squared" if model.classes is None else "zero_one"
        uncertainty = model.predict_uncertainty(X)
        return cls.from_predictions(y, model.predict(X), uncertainty, loss=loss, sample_weight=sample_weight, ax=ax)

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
        """Draw how well uncertainties find errors.

        Parameters
        ----------
        y_true, y_pred : arrays of shape (n,)
        uncertainty : Uncertainty, or mapping from str to array of shape (n,)
            Of an Uncertainty, total and knowledge are drawn.
        loss : {"auto", "zero_one", "squared", "absolute"}, default="auto"
            How errors are measured, as in `epiboost.metrics.rejection_curve`.
        sample_weight : array of shape (n,), optional
        ax : matplotlib Axes or None
            None makes a new figure.
        """
        if not isinstance(uncertainty, Uncertainty | Mapping):
            message = (
                "uncertainty must be an Uncertainty, or a mapping from names to arrays such as {'total': [...]}; got "
                f"{type(uncertainty).__name__}"
            )
            raise TypeError(message)
        measures: Mapping[str, npt.ArrayLike] = (
            {name: getattr(uncertainty, name) for name in _MEASURES}
            if isinstance(uncertainty, Uncertainty)
            else uncertainty
        )
        curves = {
            name: rejection_curve(y_true, y_pred, values, loss=loss, sample_weight=sample_weight)
            for name, values in measures.items()
        }
        return cls(curves).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RejectionDisplay
            This display, which now holds what it drew.
        """
        self.ax_: Axes = new_axes()[0] if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        first = next(iter(self.curves.values()))
        self.lines_: dict[str, Line2D] = {}
        self._line("oracle", first.oracle_rejected, first.oracle_error, color=BLACK, linestyle="--", linewidth=1.2)
        self._line("random", first.rejected[[0, -1]], first.error[[0, -1]], color=GREY, linestyle=":", linewidth=1.8)
        for name, curve in self.curves.items():
            style = MEASURE_STYLES.get(name, {})
            self._line(name, curve.rejected, curve.error, label=_label(name, curve), linewidth=2.0, **style)
        self.ax_.set_xlabel("share of cases handed over")
        self.ax_.set_ylabel(self.error_label)
        self.ax_.set_xlim(0.0, 1.0)
        self.ax_.set_ylim(bottom=0.0)
        self.ax_.legend(frameon=False)
        plain(self.ax_)
        return self

    def _line(self, name: str, x: Floats, y: Floats, *, label: str | None = None, **style: Any) -> None:  # noqa: ANN401
        (self.lines_[name],) = self.ax_.plot(x, y, label=label or name, **style)


def _label(name: str, curve: RejectionCurve) -> str:
    try:
        return f"{name} (PRR {curve.score:.2f})"
    except UndefinedScoreError:
        return name
