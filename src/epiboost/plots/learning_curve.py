"""Learning curves: the loss of the ensemble, and of each member, by number of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from epiboost._estimators.unwrap import unwrap
from epiboost.plots.base import Display
from epiboost.plots.style import BLACK, BLUE, GREY, ORANGE, hide_spines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from epiboost._estimators.training.history import TrainingHistory
    from epiboost._typing import Estimator, Floats


class LearningCurveDisplay(Display):
    """Losses of a training by number of trees.

    The black line is the loss of the ensemble on ``eval_set``, or on the rows held out; thin grey lines are those of
    single members. An orange line is the loss estimated from the out-of-fold chains, on the axis on the right. The
    dashed line is the number of trees that the model uses.

    Parameters
    ----------
    history : TrainingHistory
        ``history_`` of a fitted estimator.
    members : array of shape (chains, trees) or None, default=None
        ``evaluation_loss_`` of it: the loss of each member after each tree.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : dict of matplotlib Line2D
        ``"validation"`` and ``"out_of_fold"``, as far as there are such losses, and ``"used"``.

    Examples
    --------
    >>> import matplotlib, numpy as np
    >>> from epiboost import EpiBoostRegressor
    >>> matplotlib.use("agg")
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = EpiBoostRegressor(n_members=2, n_estimators=50, validation_fraction=0.2, random_state=0)
    >>> display = LearningCurveDisplay.from_estimator(model.fit(X, X[:, 0]))
    >>> sorted(display.lines_)
    ['used', 'validation']
    """

    lines_: dict[str, Line2D]

    def __init__(self, history: TrainingHistory, *, members: Floats | None = None) -> None:
        self.history = history
        self.members = members

    @classmethod
    def from_estimator(cls, estimator: Estimator, *, ax: Axes | None = None) -> Self:
        """Draw the losses of a fitted estimator.

        Parameters
        ----------
        estimator : EpiBoostRegressor or EpiBoostClassifier, alone, calibrated, in a pipeline or in a search
            Fitted with an ``eval_set`` or with early stopping; otherwise no loss was measured.
        ax : matplotlib Axes or None
        """
        found: Estimator = unwrap(estimator, "predict_posterior").estimator
        model: Estimator = getattr(found, "estimator_", found)  # inside a calibrated model
        history = getattr(model, "history_", None)
        if history is None:
            message = (
                "no loss was measured during training; fit with an eval_set, with early_stopping=True or with "
                "validation_fraction"
            )
            raise ValueError(message)
        return cls(history, members=model.evaluation_loss_).plot(ax)

    def _draw(self) -> None:
        history, self.lines_, of_members = self.history, {}, []
        if history.validation_loss is not None:
            for losses in [] if self.members is None else self.members:
                trees = np.arange(1, len(losses) + 1)
                of_members += self.ax_.plot(trees, losses, color=GREY, linewidth=0.6, alpha=0.6, label="members")
            (line,) = self.ax_.plot(history.n_trees, history.validation_loss, color=BLACK, label="ensemble")
            self.lines_["validation"] = line
            self.ax_.set_ylabel("negative log-likelihood")
        if history.out_of_fold_loss is not None:
            axes = self.ax_.twinx() if self.lines_ else self.ax_
            (line,) = axes.plot(history.n_trees, history.out_of_fold_loss, color=ORANGE, label="out-of-fold estimate")
            axes.set_ylabel("out-of-fold loss")
            self.lines_["out_of_fold"] = line
        self.lines_["used"] = self.ax_.axvline(history.n_used, color=BLUE, linestyle="--", label="trees in use")
        self.ax_.set_xlabel("trees per member")
        self.ax_.legend(handles=[*of_members[:1], *self.lines_.values()], frameon=False)
        hide_spines(self.ax_)
