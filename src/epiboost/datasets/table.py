"""A dataset of the paper: a table, its target, and its standard splits."""

from dataclasses import dataclass
from typing import Any, Literal

from epiboost._typing import AnyArray, Integers

Task = Literal["regression", "classification"]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A dataset of the paper.

    Attributes
    ----------
    name : str
    task : {"regression", "classification"}
    X : array of shape (n, features), or data frame
        Numbers, or a frame whose columns of text are categories.
    y : array of shape (n,)
        Numbers, or labels 0 and 1.
    splits : tuple of (train, test)
        Row numbers of each standard split; empty if there is none.
    """

    name: str
    task: Task
    X: Any
    y: AnyArray
    splits: tuple[tuple[Integers, Integers], ...]

    @property
    def categories(self) -> list[str]:
        """Names of the columns that hold categories."""
        dtypes = getattr(self.X, "dtypes", None)
        return [] if not hasattr(self.X, "columns") else [n for n, kind in dtypes.items() if kind.kind == "O"]  # type: ignore[union-attr]

    def __str__(self) -> str:
        """Say what it is and how large."""
        return f"{self.name} ({len(self.y):,} × {self.X.shape[1]})"
