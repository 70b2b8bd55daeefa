"""How well uncertainty tells rows of the domain from others: histograms and the ROC curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_curve

from epiboost._posterior.uncertainty import Measure, check_measure
from epiboost._posterior.unwrap import unwrap
from epiboost._typing import Floats
from epiboost.metrics.detection import check_is_out, ood_auc_score
from epiboost.metrics.inputs import check_values
from epiboost.plots.style import BLACK, BLUE, GREY, ORANGE, new_axes, plain, scale_by_logarithm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

_N_BINS = 40
_N_PANELS = 2


class DomainDisplay:
    """Histograms of the uncertainty of rows in and out of the domain, and the ROC curve of telling them apart.

    Parameters
    ----------
    inside, outside : arrays of shape (n,) and (k,)
        Uncertainties; finite.
    measure : str, default="knowledge"
        The name of the uncertainty.

    Raises
    ------
    ValueError
        If one of the arrays is empty or holds what is not finite.

    Attributes
    ----------
    roc_auc : float
        The area under the ROC curve.
    figure_ : matplotlib Figure
    axes_ : list of two matplotlib Axes
        Of the histograms and of the curve.
    roc_ : matplotlib Line2D

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> DomainDisplay.from_predictions([False, False, True, True], [0.1, 0.2, 0.3, 0.4]).roc_auc
    1.0
    """

    def __init__(self, inside: npt.ArrayLike, outside: npt.ArrayLike, *, measure: str = "knowledge") -> None:
        self.inside: Floats = check_values(inside, "inside")
        self.outside: Floats = check_values(outside, "outside")
        self.measure = measure
        self._is_out = np.repeat([False, True], [len(self.inside), len(self.outside)])
        self._uncertainty = np.concatenate([self.inside, self.outside])
        self.roc_auc = ood_auc_score(self._is_out, self._uncertainty)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,  # noqa: ANN401 (any model that knows its uncertainty)
        X: Any,  # noqa: ANN401 (anything the model reads)
        X_out: Any,  # noqa: ANN401 (anything the model reads)
        *,
        measure: Measure = "knowledge",
        ax: Sequence[Axes] | None = None,
    ) -> Self:
        """Ask a model how unsure it is of rows in and out of the domain, and draw it.

        Parameters
        ----------
        estimator : fitted model, on its own, at the end of a pipeline or inside a search
        X : table of shape (n, features)
            Rows of the domain.
        X_out : table of shape (k, features)
            Rows from outside.
        measure : {"knowledge", "total", "data"}, default="knowledge"
        ax : sequence of two matplotlib Axes, or None
            None makes a new figure.
        """
        check_measure(measure)
        model = unwrap(estimator, "predict_uncertainty")
        inside, outside = (getattr(model.predict_uncertainty(rows), measure) for rows in (X, X_out))
        return cls(inside, outside, measure=measure).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        is_out: npt.ArrayLike,
        uncertainty: npt.ArrayLike,
        *,
        measure: str = "knowledge",
        ax: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw the uncertainties of rows in and out of the domain.

        Parameters
        ----------
        is_out : array of bool, of shape (n,)
            Whether the row is from outside; both kinds must be there.
        uncertainty : array of shape (n,)
            Finite.
        measure : str, default="knowledge"
            The name of the uncertainty.
        ax : sequence of two matplotlib Axes, or None
            None makes a new figure.

        Raises
        ------
        ValueError
            If all rows are from one side, for empty arrays, and uncertainties that are not finite.
        """
        values = check_values(uncertainty, "uncertainty")
        outside = check_is_out(is_out, len(values))
        return cls(values[~outside], values[outside], measure=measure).plot(ax)

    def plot(self, ax: Sequence[Axes] | None = None) -> Self:
        """Draw histograms and curve.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        DomainDisplay
            This display, which now holds what it drew.
        """
        axes = new_axes(_N_PANELS) if ax is None else list(np.ravel(np.asarray(ax)))
        if len(axes) != _N_PANELS:
            message = f"ax must hold two Axes, for the histograms and for the curve, got {len(axes)}"
            raise ValueError(message)
        self.axes_: list[Axes] = axes
        self.figure_: Figure | SubFigure = axes[0].figure
        self._plot_histograms(axes[0])
        self._plot_curve(axes[1])
        return self

    def _plot_histograms(self, ax: Any) -> None:  # noqa: ANN401 (matplotlib is imported late)
        logarithmic = bool((self._uncertainty > 0.0).all())
        bins = _bins(self._uncertainty, logarithmic=logarithmic)
        for values, label, colour, hatch in (
            (self.inside, "in domain", BLUE, None),
            (self.outside, "out of domain", ORANGE, "///"),
        ):
            share = np.full(len(values), 1.0 / len(values))
            ax.hist(values, bins, weights=share, label=label, color=colour, alpha=0.55, hatch=hatch, edgecolor=colour)
        if logarithmic:
            scale_by_logarithm(ax.xaxis, float(self._uncertainty.min()), float(self._uncertainty.max()))
        ax.set_xlabel(f"{self.measure} uncertainty")
        ax.set_ylabel("share of rows")
        ax.legend(frameon=False)
        plain(ax)

    def _plot_curve(self, ax: Any) -> None:  # noqa: ANN401 (matplotlib is imported late)
        false_positive, true_positive, _ = roc_curve(self._is_out, self._uncertainty)
        ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linestyle=":", linewidth=1.8)
        self.roc_: Line2D
        (self.roc_,) = ax.plot(
            false_positive, true_positive, color=BLACK, linewidth=2.0, label=f"{self.measure} (AUC {self.roc_auc:.2f})"
        )
        ax.set_xlabel("in-domain rows flagged")
        ax.set_ylabel("out-of-domain rows flagged")
        ax.set_xlim(0.0, 1.0)
        ax.set_ylim(0.0, 1.02)
        ax.legend(frameon=False, loc="lower right")
        plain(ax)


def _bins(values: Floats, *, logarithmic: bool) -> Floats:
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.array([low * 0.9, high * 1.1]) if low > 0.0 else np.array([low - 0.5, high + 0.5])
    return np.geomspace(low, high, _N_BINS + 1) if logarithmic else np.linspace(low, high, _N_BINS + 1)
