"""The reliability diagram: what is predicted against what comes to pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

from epiboost._posterior.posterior import Posterior
from epiboost._posterior.unwrap import unwrap
from epiboost._typing import AnyArray, Family
from epiboost.metrics.calibration import ReliabilityCurve, reliability_curve
from epiboost.metrics.inputs import Prediction
from epiboost.metrics.scorers import reliability_of_model
from epiboost.plots.style import BLUE, GREY, new_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

_LABELS = {
    "normal": ("coverage asked for", "share of targets in the interval"),
    "categorical": ("confidence", "share of right predictions"),
}


class CalibrationDisplay:
    """Observed shares against predicted probabilities; on the diagonal the model is as right as it says.

    Below the diagonal it is too sure, above it is too careful.

    Parameters
    ----------
    curve : ReliabilityCurve
    family : {"normal", "categorical"}
        Whether the curve is of intervals or of classes.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    line_ : matplotlib Line2D
        The curve.
    diagonal_ : matplotlib Line2D

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> display = CalibrationDisplay.from_predictions([0, 1], [[0.9, 0.1], [0.4, 0.6]], family="categorical")
    >>> display.ax_.get_xlabel()
    'confidence'
    """

    def __init__(self, curve: ReliabilityCurve, *, family: Family) -> None:
        self.curve = curve
        self.family = family

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,  # noqa: ANN401 (any model that has a posterior)
        X: Any,  # noqa: ANN401 (anything the model reads)
        y: npt.ArrayLike,
        *,
        n_bins: int = 15,
        sample_weight: npt.ArrayLike | None = None,
        ax: Axes | None = None,
        name: str | None = None,
        **kwargs: Any,  # noqa: ANN401 (matplotlib's own)
    ) -> Self:
        """Ask a model for its predictions, and draw how often they come to pass.

        Parameters
        ----------
        estimator : fitted model, on its own, at the end of a pipeline or inside a search
            Of a `CalibratedRegressor` the intervals that carry its guarantee are judged.
        X : table of shape (n, features)
        y : array of shape (n,)
        n_bins : int, default=15
            Bins of confidence, or coverages.
        sample_weight : array of shape (n,), optional
        ax : matplotlib Axes or None
            None makes a new figure.
        name : str, optional
            The name of the curve.
        **kwargs
            How the curve is drawn: what matplotlib's ``plot`` takes.

        Raises
        ------
        ValueError
            As `epiboost.metrics.reliability_curve`: for empty arrays, NaN, bad weights and unknown labels.
        """
        model = unwrap(estimator, "predict_posterior")
        curve = reliability_of_model(model.estimator, model.transform(X), y, n_bins=n_bins, sample_weight=sample_weight)
        family: Family = "normal" if model.classes is None else "categorical"
        return cls(curve, family=family).plot(ax, name=name, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: npt.ArrayLike,
        prediction: Prediction,
        *,
        family: Family | None = None,
        classes: Sequence[object] | AnyArray | None = None,
        n_bins: int = 15,
        sample_weight: npt.ArrayLike | None = None,
        ax: Axes | None = None,
        name: str | None = None,
        **kwargs: Any,  # noqa: ANN401 (matplotlib's own)
    ) -> Self:
        """Draw how often predictions come to pass.

        Parameters
        ----------
        y_true, prediction, family, classes, n_bins, sample_weight
            As for `epiboost.metrics.reliability_curve`.
        ax : matplotlib Axes or None
            None makes a new figure.
        name : str, optional
            The name of the curve.
        **kwargs
            How the curve is drawn: what matplotlib's ``plot`` takes.

        Raises
        ------
        ValueError
            As `epiboost.metrics.reliability_curve`: for empty arrays, NaN, bad weights and unknown labels.
        """
        curve = reliability_curve(
            y_true, prediction, family=family, classes=classes, n_bins=n_bins, sample_weight=sample_weight
        )
        kind: Family = prediction.family if isinstance(prediction, Posterior) else family or "normal"
        return cls(curve, family=kind).plot(ax, name=name, **kwargs)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **kwargs: Any) -> Self:  # noqa: ANN401
        """Draw the curve and the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        name : str, optional
            The name of the curve; its calibration error is added.
        **kwargs
            How the curve is drawn: what matplotlib's ``plot`` takes.

        Returns
        -------
        CalibrationDisplay
            This display, which now holds what it drew.
        """
        self.ax_: Axes = new_axes()[0] if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        self.diagonal_: Line2D
        (self.diagonal_,) = self.ax_.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linestyle=":", linewidth=1.8)
        label = f"{name or 'model'} (calibration error {self.curve.error:.3f})"
        style: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 5, "label": label} | kwargs
        self.line_: Line2D
        (self.line_,) = self.ax_.plot(self.curve.predicted, self.curve.observed, **style)
        x_label, y_label = _LABELS[self.family]
        self.ax_.set_xlabel(x_label)
        self.ax_.set_ylabel(y_label)
        self.ax_.set_xlim(0.0, 1.0)
        self.ax_.set_ylim(0.0, 1.02)
        self.ax_.legend(frameon=False, loc="upper left")
        plain(self.ax_)
        return self
