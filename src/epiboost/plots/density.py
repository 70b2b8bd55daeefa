"""Predictive densities of some rows, one above the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import numpy.typing as npt

from epiboost._estimators.unwrap import unwrap
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Column, Estimator, Floats, Table
from epiboost.metrics.inputs import check_numbers, check_target
from epiboost.plots.base import Display
from epiboost.plots.style import BLACK, BLUE, GREY, hide_spines, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

_MAX_ROWS = 12
_N_POINTS = 400
_TAIL = 0.002
_HEIGHT = 0.85
_MAX_COUNTS = 400


class DensityDisplay(Display):
    """Predictive densities of some rows, one above the other, with those of the members in grey.

    Each row has a scale of its own: its density is as high as there is room for. The members of a row with much
    knowledge uncertainty are apart. Of counts, probabilities are drawn as steps.

    Parameters
    ----------
    posterior : Posterior
        Of numbers, with at most 12 samples.
    y : array of shape (n,), optional
        Targets, marked on the axis of each row.
    names : sequence of str of shape (n,), optional
        Labels of the rows; by default those of the posterior's index, or their positions.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    densities_ : list of matplotlib PolyCollection
        One per row, from the top.
    members_ : list of lists of matplotlib Line2D
    targets_ : matplotlib Line2D or None

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> from epiboost import Posterior
    >>> matplotlib.use("agg")
    >>> posterior = Posterior(np.array([[[0.0, 1.0], [5.0, 1.0]], [[1.0, 1.0], [9.0, 4.0]]]), "normal")
    >>> len(DensityDisplay.from_predictions(posterior, y=[0.5, 8.0]).densities_)
    2
    """

    densities_: list[PolyCollection]
    members_: list[list[Line2D]]
    targets_: Line2D | None

    def __init__(
        self, posterior: Posterior, y: npt.ArrayLike | None = None, *, names: Sequence[object] | None = None
    ) -> None:
        self.posterior = check_numbers(posterior)
        if posterior.n_samples > _MAX_ROWS:
            message = f"densities of at most {_MAX_ROWS} rows can be told apart, got {posterior.n_samples}; choose some"
            raise ValueError(message)
        self.y = None if y is None else check_target(y, posterior.n_samples)
        if names is None:
            names = list(range(posterior.n_samples)) if posterior.index is None else list(posterior.index)
        if len(names) != posterior.n_samples:
            message = f"names must have one label per row, {posterior.n_samples}, got {len(names)}"
            raise ValueError(message)
        self.names = [str(name) for name in names]

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Table,
        y: Column | None = None,
        *,
        names: Sequence[object] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the densities that a fitted estimator predicts.

        Parameters
        ----------
        estimator : fitted regressor, alone, at the end of a pipeline or inside a search
        X : table of shape (n, features)
            At most 12 rows.
        y, names
            As for the class.
        ax : matplotlib Axes or None
        """
        posterior = unwrap(estimator, "predict_posterior").predict_posterior(X)
        return cls(posterior, None if y is None else np.asarray(y), names=names).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        posterior: Posterior,
        y: npt.ArrayLike | None = None,
        *,
        names: Sequence[object] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw densities; the same as ``DensityDisplay(posterior, y, names=names).plot(ax)``."""
        return cls(posterior, y, names=names).plot(ax)

    def _draw(self) -> None:
        posterior, n_rows = self.posterior, self.posterior.n_samples
        self.densities_, self.members_ = [], []
        discrete = posterior.distribution is not None and posterior.distribution.is_discrete
        for row, ends in enumerate(posterior.quantile([_TAIL, 1.0 - _TAIL])):
            x = _places(ends, discrete=discrete)
            density, members = _densities(posterior, row, x)
            scale = _HEIGHT / max(float(density.max()), 0.4 * float(members.max()))
            base = n_rows - 1.0 - row
            step: Literal["mid"] | None = "mid" if discrete else None
            drawn = self.ax_.fill_between(
                x,
                base,
                base + scale * density,
                color=BLUE,
                alpha=0.55,
                linewidth=0,
                step=step,
                label=_once("mixture", row),
            )
            style = "steps-mid" if discrete else "default"
            lines = [
                self.ax_.plot(
                    x,
                    base + np.minimum(scale * member, 1.1),
                    color=GREY,
                    linewidth=0.7,
                    drawstyle=style,
                    label=_once("members", row + number),
                )[0]
                for number, member in enumerate(members)
            ]
            self.ax_.axhline(base, color=GREY, linewidth=0.6)
            self.densities_.append(drawn)
            self.members_.append(lines)
        self.targets_ = None
        if self.y is not None:
            places = np.arange(n_rows)[::-1]
            (self.targets_,) = self.ax_.plot(
                self.y, places, color=BLACK, marker="d", markersize=6, linestyle="none", label="target", clip_on=False
            )
        self.ax_.set_yticks(np.arange(n_rows)[::-1], self.names)
        self.ax_.set(xlabel="target", ylabel="row", ylim=(-0.2, n_rows + 0.15))
        legend_above(self.ax_)
        hide_spines(self.ax_)


def _places(ends: Floats, *, discrete: bool) -> Floats:
    low, high = ends
    if discrete and high - low <= _MAX_COUNTS:
        return np.arange(max(low - 1.0, 0.0), high + 2.0)
    places = np.linspace(low, high, _N_POINTS)
    return np.unique(np.round(places)) if discrete else places


def _densities(posterior: Posterior, row: int, x: Floats) -> tuple[Floats, AnyArray]:
    """Return the density of the mixture, and those of the members, at some places."""
    parts = [
        Posterior(posterior.parameters[[number]][:, [row]], posterior.family, distribution=posterior.distribution)
        for number in range(posterior.n_members)
    ]
    members = np.stack([part.pdf(x[np.newaxis])[0] for part in parts])
    members = np.where(np.isfinite(members), members, 0.0)
    return members.mean(axis=0), members


def _once(label: str, number: int) -> str | None:
    return label if number == 0 else None
