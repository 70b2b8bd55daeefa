"""The reliability diagram: observed frequencies against predicted probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

from epiboost._estimators.unwrap import unwrap
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Column, Estimator, Family, LibraryObject, Table
from epiboost.metrics.calibration import ReliabilityCurve, reliability_curve
from epiboost.metrics.inputs import Prediction
from epiboost.metrics.scorers import reliability_of_model
from epiboost.plots.base import Display
from epiboost.plots.style import BLUE, GREY, hide_spines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_LABELS = {
    "normal": ("nominal coverage", "observed coverage"),
    "categorical": ("confidence", "accuracy"),
}


class CalibrationDisplay(Display):
    """Reliability diagram: observed frequencies against predicted probabilities.

    A calibrated model lies on the diagonal. Below the diagonal it is overconfident, above it is underconfident.

    Parameters
    ----------
    curve : ReliabilityCurve
    family : str
        Whether the curve is of classes ("categorical") or of intervals (any other).

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

    line_: Line2D
    diagonal_: Line2D

    def __init__(self, curve: ReliabilityCurve, *, family: Family) -> None:
        self.curve = curve
        self.family = family

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Table,
        y: Column,
        *,
        n_bins: int = 15,
        sample_weight: Column | None = None,
        ax: Axes | None = None,
        name: str | None = None,
        **kwargs: LibraryObject,
    ) -> Self:
        """Draw the reliability diagram of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator, alone, at the end of a pipeline or inside a search
            For a `CalibratedRegressor` the guaranteed intervals are used.
        X : table of shape (n, features)
        y : array of shape (n,)
        n_bins : int, default=15
            Number of bins of confidence, or of coverages.
        sample_weight : array of shape (n,), optional
        ax, name, **kwargs
            As for `plot`.

        Raises
        ------
        ValueError
            As `epiboost.metrics.reliability_curve`.
        """
        found = unwrap(estimator, "predict_posterior")
        curve = reliability_of_model(found.estimator, found.transform(X), y, n_bins=n_bins, sample_weight=sample_weight)
        family: Family = "normal" if found.classes is None else "categorical"
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
        **kwargs: LibraryObject,
    ) -> Self:
        """Draw the reliability diagram of predictions.

        Parameters
        ----------
        y_true, prediction, family, classes, n_bins, sample_weight
            As for `epiboost.metrics.reliability_curve`, which also says what is an error.
        ax, name, **kwargs
            As for `plot`.
        """
        curve = reliability_curve(
            y_true, prediction, family=family, classes=classes, n_bins=n_bins, sample_weight=sample_weight
        )
        kind: Family = prediction.family if isinstance(prediction, Posterior) else family or "normal"
        return cls(curve, family=kind).plot(ax, name=name, **kwargs)

    def plot(
        self, ax: Axes | Sequence[Axes] | None = None, *, name: str | None = None, **kwargs: LibraryObject
    ) -> Self:
        """Draw the curve and the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        name : str, optional
            Name of the curve; its calibration error is added.
        **kwargs
            Options of matplotlib's ``plot`` for the curve.

        Returns
        -------
        self
        """
        self._set_axes(ax)
        self._draw(name=name, **kwargs)
        return self

    def _draw(self, *, name: str | None = None, **kwargs: LibraryObject) -> None:
        (self.diagonal_,) = self.ax_.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linestyle=":", linewidth=1.8)
        label = f"{name or 'model'} (calibration error {self.curve.error:.3f})"
        style: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 5, "label": label} | kwargs
        (self.line_,) = self.ax_.plot(self.curve.predicted, self.curve.observed, **style)
        x_label, y_label = _LABELS["categorical" if self.family == "categorical" else "normal"]
        self.ax_.set(xlabel=x_label, ylabel=y_label, xlim=(0.0, 1.0), ylim=(0.0, 1.02))
        self.ax_.legend(frameon=False, loc="upper left")
        hide_spines(self.ax_)
