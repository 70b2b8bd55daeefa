"""The uncertainty of each sample: total, data and knowledge.

The members of an ensemble are equally weighted draws from a posterior over models. The average of their predictive
distributions is the predictive distribution of the ensemble.

- **Total** uncertainty is the uncertainty of that average.
- **Data** uncertainty is the average uncertainty of the members: noise that more training rows would not remove.
- **Knowledge** uncertainty is the difference: how much the members disagree. It shrinks as training rows are added.

Total is always the sum of the two parts. `epiboost._posterior.decomposition` computes them.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from epiboost._posterior.frames import Frame, FrameBackend, make_frame
from epiboost._typing import Floats

Unit: TypeAlias = Literal["variance", "nats"]
"""Unit of an uncertainty: squared units of the target, or nats of entropy."""

Measure: TypeAlias = Literal["total", "data", "knowledge"]
"""A part of the uncertainty."""


def check_measure(measure: str) -> None:
    """Raise a ValueError if ``measure`` is not total, data or knowledge.

    >>> check_measure("knowledge")
    """
    if measure not in get_args(Measure):
        message = f"measure must be one of {get_args(Measure)}, got {measure!r}"
        raise ValueError(message)


@dataclass(frozen=True, slots=True, eq=False)
class Uncertainty:
    """Uncertainty of each sample, in total and by cause.

    Parameters
    ----------
    total : array of shape (samples,)
        Uncertainty of the ensemble's prediction, ``data + knowledge``.
    data : array of shape (samples,)
        The part that more training rows would not remove: noise and overlap of classes.
    knowledge : array of shape (samples,)
        The part that comes from missing training rows: the disagreement of the members.
    unit : {"variance", "nats"}
        Variance of the target (regression) or entropy in nats (classification).

    Examples
    --------
    >>> import numpy as np
    >>> uncertainty = Uncertainty(np.array([1.5, 1.0]), np.array([1.0, 1.0]), np.array([0.5, 0.0]), unit="variance")
    >>> len(uncertainty)
    2
    >>> uncertainty.to_frame()
       total  data  knowledge
    0    1.5   1.0        0.5
    1    1.0   1.0        0.0
    """

    total: Floats
    data: Floats
    knowledge: Floats
    unit: Unit

    def __post_init__(self) -> None:
        """Convert the arrays to float64 and check their shapes and the unit."""
        for name in get_args(Measure):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        shapes = {self.total.shape, self.data.shape, self.knowledge.shape}
        if len(shapes) > 1 or self.total.ndim != 1:
            message = (
                f"total, data and knowledge must have the same shape (samples,), got "
                f"{self.total.shape}, {self.data.shape} and {self.knowledge.shape}"
            )
            raise ValueError(message)
        if self.unit not in get_args(Unit):
            message = f"unit must be one of {get_args(Unit)}, got {self.unit!r}"
            raise ValueError(message)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.knowledge)

    def __repr__(self) -> str:
        """Return the number of samples, the unit and the mean of each part."""
        columns = self._columns()
        means = ", ".join(f"{name}={part.mean() if len(self) else np.nan:.4g}" for name, part in columns.items())
        label = "means" if len(columns) > 1 else "mean"
        return f"{type(self).__name__}({len(self)} samples, in {self.unit}; {label}: {means})"

    def to_frame(self, backend: FrameBackend = "pandas") -> Frame:
        """Return a data frame with one row per sample and one column per part of the uncertainty.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            The library that makes the frame; it must be installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns ``total``, ``data`` and ``knowledge``.
        """
        return make_frame(self._columns(), backend)

    def _columns(self) -> dict[str, Floats]:
        return {"total": self.total, "data": self.data, "knowledge": self.knowledge}
