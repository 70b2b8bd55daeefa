"""The history of a training: losses of the ensemble by number of trees."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from epiboost._posterior.frames import Frame, make_frame
from epiboost._typing import AnyArray, Floats, Integers

StoppingRows = Literal["eval_set", "validation", "out_of_fold"]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingHistory:
    """Losses of the ensemble by number of trees.

    Attributes
    ----------
    n_trees : array of shape (k,)
        Trees per chain at which losses were measured.
    validation_loss : array of shape (k,) or None
        Mean negative log-likelihood of ``eval_set``, or of the rows held out, by the mixture of the members, before it
        is recalibrated. None without such rows.
    out_of_fold_loss : array of shape (k,) or None
        Loss of the ensemble as estimated from the out-of-fold chains: mean squared error of a regressor, negative
        log-likelihood of a classifier. None if they did not say when to stop.
    stopped_by : {"eval_set", "validation", "out_of_fold"} or None
        Rows that say when to stop, whether or not all trees were needed; None without early stopping.
    n_used : int
        Number of trees per chain that the model uses.
    """

    n_trees: Integers
    validation_loss: Floats | None
    out_of_fold_loss: Floats | None
    stopped_by: StoppingRows | None
    n_used: int

    def __repr__(self) -> str:
        """Return a summary."""
        stopped = "no early stopping" if self.stopped_by is None else f"early stopping by {self.stopped_by}"
        last = int(self.n_trees[-1]) if len(self.n_trees) else 0
        return f"TrainingHistory({len(self.n_trees)} measurements up to {last} trees, {self.n_used} in use, {stopped})"

    def to_frame(self) -> Frame:
        """Return the losses as a pandas frame, one row per measurement."""
        columns: dict[str, AnyArray] = {"n_trees": self.n_trees}
        columns |= {name: values for name, values in self._losses().items() if values is not None}
        return make_frame(columns, "pandas")

    def to_file(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Return the header and the arrays for a model file."""
        arrays: dict[str, AnyArray] = {"history_n_trees": self.n_trees.astype(np.int64)}
        arrays |= {f"history_{name}": values for name, values in self._losses().items() if values is not None}
        return {"stopped_by": self.stopped_by, "n_used": self.n_used}, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any] | None, arrays: dict[str, AnyArray]) -> Self | None:
        """Return the history of a model file, None if it has none; a ValueError if its parts do not fit together."""
        if header is None:
            return None
        n_trees = arrays["history_n_trees"]
        validation, expected = (arrays.get(f"history_{name}") for name in ("validation_loss", "out_of_fold_loss"))
        fits = n_trees.ndim == 1 and all(one is None or one.shape == n_trees.shape for one in (validation, expected))
        if not fits or header["stopped_by"] not in {None, "eval_set", "validation", "out_of_fold"}:
            message = "the history must have one loss per measurement"
            raise ValueError(message)
        return cls(n_trees, validation, expected, header["stopped_by"], int(header["n_used"]))

    def _losses(self) -> dict[str, Floats | None]:
        return {"validation_loss": self.validation_loss, "out_of_fold_loss": self.out_of_fold_loss}
