"""A dataset of the paper: features, target and standard splits."""

from dataclasses import dataclass
from typing import Literal

from epiboost._display import short_repr
from epiboost._typing import AnyArray, Integers
from epiboost._typing import Table as AnyTable

Task = Literal["regression", "classification"]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A dataset of the paper, as `load` returns it.

    Its text form is the name with the numbers of rows and columns.

    Attributes
    ----------
    name : str
    task : {"regression", "classification"}
    X : array or data frame of shape (n_samples, n_features)
        Numbers, or a pandas frame whose text columns are categories.
    y : array of shape (n_samples,)
        Numbers, or the labels 0 and 1.
    splits : tuple of (train, test)
        Row numbers of each standard split; empty if there is none.
    """

    name: str
    task: Task
    X: AnyTable
    y: AnyArray
    splits: tuple[tuple[Integers, Integers], ...]

    __repr__ = short_repr

    @property
    def categories(self) -> list[str]:
        """Names of the categorical columns."""
        if not hasattr(self.X, "columns"):
            return []
        return [name for name, dtype in self.X.dtypes.items() if dtype.kind == "O"]

    def __str__(self) -> str:
        """Return the name and the shape."""
        return f"{self.name} ({len(self.y):,} × {self.X.shape[1]})"
