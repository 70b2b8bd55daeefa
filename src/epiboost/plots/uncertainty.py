"""Data uncertainty against knowledge uncertainty, one point per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from epiboost._estimators.unwrap import unwrap
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import Estimator, Floats, Table
from epiboost.plots.base import Display
from epiboost.plots.style import BLUE, ORANGE, hide_spines, legend_above, set_log_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

_MAX_POINTS = 5000


class UncertaintyDisplay(Display):
    """Data uncertainty against knowledge uncertainty, of in-domain rows and of out-of-domain rows.

    The scales are logarithmic where a value is above zero; zeros are drawn at the smallest value above zero.

    Parameters
    ----------
    uncertainty : Uncertainty
        Of in-domain rows.
    uncertainty_ood : Uncertainty, optional
        Of out-of-domain rows.

    Raises
    ------
    ValueError
        If there are no rows, or an uncertainty is not finite.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    points_ : list of matplotlib PathCollection
        Points of in-domain rows and of out-of-domain rows; 5000 evenly spaced rows at most are drawn of each.

    Examples
    --------
    >>> import matplotlib
    >>> from epiboost import Uncertainty
    >>> from epiboost.plots import UncertaintyDisplay
    >>> matplotlib.use("agg")
    >>> uncertainty = Uncertainty([2.0, 1.1], [1.0, 1.0], [1.0, 0.1], unit="variance")
    >>> UncertaintyDisplay.from_predictions(uncertainty).ax_.get_xlabel()
    'data uncertainty (variance)'
    """

    points_: list[PathCollection]

    def __init__(self, uncertainty: Uncertainty, uncertainty_ood: Uncertainty | None = None) -> None:
        _check_drawable(uncertainty)
        if uncertainty_ood is not None:
            _check_drawable(uncertainty_ood)
        self.uncertainty = uncertainty
        self.uncertainty_ood = uncertainty_ood

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Table, X_ood: Table | None = None, *, ax: Axes | None = None
    ) -> Self:
        """Draw the uncertainties that a fitted estimator predicts.

        Parameters
        ----------
        estimator : fitted estimator, alone, at the end of a pipeline or inside a search
        X, X_ood : tables of shape (n, features) and (k, features)
            In-domain rows and, optionally, out-of-domain rows.
        ax : matplotlib Axes or None
        """
        predict_uncertainty = unwrap(estimator, "predict_uncertainty").predict_uncertainty
        return cls(predict_uncertainty(X), None if X_ood is None else predict_uncertainty(X_ood)).plot(ax)

    @classmethod
    def from_predictions(
        cls, uncertainty: Uncertainty, uncertainty_ood: Uncertainty | None = None, *, ax: Axes | None = None
    ) -> Self:
        """Draw uncertainties; the same as ``UncertaintyDisplay(uncertainty, uncertainty_ood).plot(ax)``."""
        return cls(uncertainty, uncertainty_ood).plot(ax)

    def _draw(self) -> None:
        samples = [self.uncertainty] if self.uncertainty_ood is None else [self.uncertainty, self.uncertainty_ood]
        lowest_data = _smallest_positive([sample.data for sample in samples])
        lowest_knowledge = _smallest_positive([sample.knowledge for sample in samples])
        self.points_ = []
        styles = [("in domain", BLUE, "o"), ("out of domain", ORANGE, "^")]
        for sample, (label, colour, marker) in zip(samples, styles, strict=False):
            data, knowledge = (_thinned(part) for part in (sample.data, sample.knowledge))
            points = self.ax_.scatter(
                np.maximum(data, lowest_data),
                np.maximum(knowledge, lowest_knowledge),
                label=label,
                c=colour,
                marker=marker,
                s=16,
                alpha=0.6,
                linewidths=0,
            )
            self.points_.append(points)
        if lowest_data > 0.0:
            set_log_scale(self.ax_.xaxis, lowest_data, max(sample.data.max() for sample in samples))
        if lowest_knowledge > 0.0:
            set_log_scale(self.ax_.yaxis, lowest_knowledge, max(sample.knowledge.max() for sample in samples))
        unit = self.uncertainty.unit
        self.ax_.set(xlabel=f"data uncertainty ({unit})", ylabel=f"knowledge uncertainty ({unit})")
        if self.uncertainty_ood is not None:
            legend_above(self.ax_)  # inside, its markers would look like rows
        hide_spines(self.ax_)


def _check_drawable(uncertainty: Uncertainty) -> None:
    if not isinstance(uncertainty, Uncertainty):
        message = f"an Uncertainty is needed, as predict_uncertainty returns it; got {type(uncertainty).__name__}"
        raise TypeError(message)
    if not len(uncertainty):
        message = "there are no rows to draw; at least one is needed"
        raise ValueError(message)
    if not np.isfinite([uncertainty.data, uncertainty.knowledge]).all():
        message = "uncertainties must be finite to be drawn"
        raise ValueError(message)


def _smallest_positive(parts: list[Floats]) -> float:
    """Return the smallest value above zero, or zero if there is none."""
    values = np.concatenate(parts)
    positive = values[values > 0.0]
    return float(positive.min()) if positive.size else 0.0


def _thinned(values: Floats) -> Floats:
    if len(values) <= _MAX_POINTS:
        return values
    return values[np.linspace(0, len(values) - 1, _MAX_POINTS).astype(np.int64)]
