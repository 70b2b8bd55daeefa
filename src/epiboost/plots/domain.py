"""Separation of in-domain and out-of-domain rows by uncertainty or novelty: histograms and ROC curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_curve

from epiboost._estimators.unwrap import unwrap
from epiboost._typing import Estimator, Floats, Table
from epiboost.decisions import DomainDetector
from epiboost.decisions.domain.score import NOVELTY_MEASURES, DomainMeasure, check_domain_measure
from epiboost.metrics.detection import check_is_out, ood_auc_score
from epiboost.metrics.inputs import check_values
from epiboost.plots.base import PanelDisplay
from epiboost.plots.style import BLACK, BLUE, GREY, ORANGE, hide_spines, set_log_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_N_BINS = 40
_LABELS = {"combined": "novelty and total uncertainty, combined", "novelty": "novelty"}


class DomainDisplay(PanelDisplay):
    """Histograms of the uncertainty of in-domain and out-of-domain rows, and the ROC curve of telling them apart.

    Parameters
    ----------
    uncertainty : array of shape (n,)
        Uncertainty of in-domain rows, or another score that is larger for foreign rows; finite.
    uncertainty_ood : array of shape (k,)
        The same of out-of-domain rows; finite.
    measure : str, default="knowledge"
        Name of the uncertainty, or "novelty" or "combined" for scores of a `DomainDetector`.

    Raises
    ------
    ValueError
        If one of the arrays is empty or not finite.

    Attributes
    ----------
    roc_auc : float
        Area under the ROC curve.
    figure_ : matplotlib Figure
    axes_ : list of two matplotlib Axes
        Histograms and ROC curve.
    roc_ : matplotlib Line2D

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> DomainDisplay.from_predictions([False, False, True, True], [0.1, 0.2, 0.3, 0.4]).roc_auc
    1.0
    """

    roc_: Line2D

    def __init__(
        self, uncertainty: npt.ArrayLike, uncertainty_ood: npt.ArrayLike, *, measure: str = "knowledge"
    ) -> None:
        self.uncertainty: Floats = check_values(uncertainty, "uncertainty")
        self.uncertainty_ood: Floats = check_values(uncertainty_ood, "uncertainty_ood")
        self.measure = measure
        self._is_out = np.repeat([False, True], [len(self.uncertainty), len(self.uncertainty_ood)])
        self._all = np.concatenate([self.uncertainty, self.uncertainty_ood])
        self.roc_auc = ood_auc_score(self._is_out, self._all)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Table,
        X_ood: Table,
        *,
        measure: DomainMeasure = "knowledge",
        ax: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw how well a fitted estimator separates in-domain from out-of-domain rows.

        Parameters
        ----------
        estimator : fitted estimator, alone, at the end of a pipeline or inside a search
        X : table of shape (n, features)
            In-domain rows.
        X_ood : table of shape (k, features)
            Out-of-domain rows.
        measure : {"knowledge", "total", "data", "novelty", "combined"}, default="knowledge"
            The last two are scores of a `DomainDetector` that is fitted to the training rows the model keeps. For a
            model that keeps none, fit a detector to other rows and pass its scores to `from_predictions`.
        ax : sequence of two matplotlib Axes, or None

        Raises
        ------
        ValueError
            If the measure is not known, or needs training rows and the model keeps none.
        """
        check_domain_measure(measure)
        if measure in NOVELTY_MEASURES:
            detector = DomainDetector(estimator, measure=measure).fit()
            return cls(-detector.score_samples(X), -detector.score_samples(X_ood), measure=measure).plot(ax)
        predict_uncertainty = unwrap(estimator, "predict_uncertainty").predict_uncertainty
        uncertainty, uncertainty_ood = (getattr(predict_uncertainty(rows), measure) for rows in (X, X_ood))
        return cls(uncertainty, uncertainty_ood, measure=measure).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        is_out: npt.ArrayLike,
        uncertainty: npt.ArrayLike,
        *,
        measure: str = "knowledge",
        ax: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw the uncertainties of in-domain and out-of-domain rows.

        Parameters
        ----------
        is_out : array of bool, of shape (n,)
            Whether the row is out of the domain; rows of both kinds are needed.
        uncertainty : array of shape (n,)
            Finite.
        measure : str, default="knowledge"
            Name of the uncertainty, or "novelty" or "combined".
        ax : sequence of two matplotlib Axes, or None
        """
        values = check_values(uncertainty, "uncertainty")
        is_ood = check_is_out(is_out, len(values))
        return cls(values[~is_ood], values[is_ood], measure=measure).plot(ax)

    def _panel_titles(self) -> tuple[str, str]:
        return "histograms", "ROC curve"

    def _draw(self) -> None:
        self._draw_histograms(self.axes_[0])
        self._draw_roc_curve(self.axes_[1])
        for ax in self.axes_:
            hide_spines(ax)

    def _draw_histograms(self, ax: Axes) -> None:
        # Novelty is the logarithm of a probability already.
        logarithmic = self.measure not in NOVELTY_MEASURES and bool((self._all > 0.0).all())
        bins = _bins(self._all, logarithmic=logarithmic)
        for values, label, colour, hatch in (
            (self.uncertainty, "in domain", BLUE, None),
            (self.uncertainty_ood, "out of domain", ORANGE, "///"),
        ):
            share = np.full(len(values), 1.0 / len(values))
            ax.hist(values, bins, weights=share, label=label, color=colour, alpha=0.55, hatch=hatch, edgecolor=colour)
        if logarithmic:
            set_log_scale(ax.xaxis, float(self._all.min()), float(self._all.max()))
        ax.set(xlabel=_LABELS.get(self.measure, f"{self.measure} uncertainty"), ylabel="share of rows")
        ax.legend(frameon=False)

    def _draw_roc_curve(self, ax: Axes) -> None:
        false_positive, true_positive, _ = roc_curve(self._is_out, self._all)
        ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linestyle=":", linewidth=1.8)
        label = f"{self.measure} (AUC {self.roc_auc:.2f})"
        (self.roc_,) = ax.plot(false_positive, true_positive, color=BLACK, linewidth=2.0, label=label)
        ax.set(xlabel="in-domain rows flagged", ylabel="out-of-domain rows flagged", xlim=(0.0, 1.0), ylim=(0.0, 1.02))
        ax.legend(frameon=False, loc="lower right")


def _bins(values: Floats, *, logarithmic: bool) -> list[float]:
    """Return the edges of the bins of the histograms."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return [low * 0.9, high * 1.1] if low > 0.0 else [low - 0.5, high + 0.5]
    edges: list[float] = (np.geomspace if logarithmic else np.linspace)(low, high, _N_BINS + 1).tolist()
    return edges
