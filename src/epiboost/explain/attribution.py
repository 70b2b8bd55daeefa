"""What each feature adds to an uncertainty, row by row: the result of `attribute`."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw
import numpy as np

from epiboost._optional import require
from epiboost._posterior.frames import Frame, FrameBackend
from epiboost._typing import AnyArray, Floats, Integers
from epiboost.explain.game import Explained

Unit: TypeAlias = Literal["variance", "nats", "probability", "target"]
"""What the values are measured in: squared units of the target, nats, a probability, or units of the target."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """What each feature adds to a measure, and what it is added to.

    ``base + values.sum(axis=1)`` is the measure of each row.

    Attributes
    ----------
    values : array of shape (n, features)
        Shapley values: above zero where the feature's value makes the measure larger than it is on average.
    base : float
        Mean of the measure over the background.
    names : tuple of str
        Names of the features.
    data : array of shape (n, features)
        The values of the features, as they were given.
    of : {"knowledge", "data", "total", "mean"}
        What is explained.
    unit : {"variance", "nats", "probability", "target"}
    label : object
        The class whose probability is explained; None if it is something else.

    Examples
    --------
    >>> import numpy as np
    >>> found = Attribution(np.array([[0.5, -0.1]]), 0.2, ("age", "pay"), np.array([[90, 3]]), of="knowledge",
    ...                     unit="nats")
    >>> found.measure.round(3), found.first(1)
    (array([0.6]), array([['age']], dtype=object))
    """

    values: Floats
    base: float
    names: tuple[str, ...]
    data: AnyArray
    of: Explained
    unit: Unit
    label: Any = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def __repr__(self) -> str:
        """Say what is explained, and which features matter most."""
        leading = ", ".join(self.leading) or "none"
        rows = f"{len(self)} row{'' if len(self) == 1 else 's'}"
        return f"Attribution of {self.of} ({self.unit}): {rows}, {len(self.names)} features, first {leading}"

    @property
    def leading(self) -> tuple[str, ...]:
        """Names of the features that matter most, three at most; those that add nothing anywhere are none of them."""
        return tuple(self.names[feature] for feature in self.order[:3] if self.importance[feature] > 0.0)

    @property
    def measure(self) -> Floats:
        """What is explained, the base and all values together, shape (n,)."""
        measure: Floats = self.base + self.values.sum(axis=1)
        return measure

    @property
    def importance(self) -> Floats:
        """Mean size of each feature's values, shape (features,)."""
        importance: Floats = np.abs(self.values).mean(axis=0)
        return importance

    @property
    def order(self) -> Integers:
        """Positions of the features, most important first, shape (features,)."""
        return np.argsort(-self.importance, kind="stable")

    def first(self, n: int = 3) -> AnyArray:
        """Name the features that make each row's measure large.

        Parameters
        ----------
        n : int, default=3
            How many; at most all.

        Returns
        -------
        array of str, of shape (rows, n)
            Largest value first; empty where no other feature adds anything.
        """
        order = np.argsort(-self.values, axis=1, kind="stable")[:, :n]
        named: AnyArray = np.array(self.names, dtype=object)[order]
        named[np.take_along_axis(self.values, order, axis=1) <= 0.0] = ""
        return named

    def to_frame(self, backend: FrameBackend = "pandas") -> Frame:
        """Give the values as a data frame: one row a row, one column a feature.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"

        Returns
        -------
        data frame of that library

        Raises
        ------
        ImportError
            If the library is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> found = Attribution(np.array([[0.5, -0.1]]), 0.2, ("age", "pay"), np.array([[90, 3]]), of="data",
        ...                     unit="nats")
        >>> found.to_frame()
           age  pay
        0  0.5 -0.1
        """
        if backend not in get_args(FrameBackend):
            message = f"backend must be one of {get_args(FrameBackend)}, got {backend!r}"
            raise ValueError(message)
        require(backend, extra="frames", purpose=f"to_frame(backend={backend!r})")
        columns = dict(zip(self.names, self.values.T, strict=True))
        return nw.from_dict(columns, backend=backend).to_native()
