"""The paper's classification datasets with categories.

Amazon, internet and kick have standard splits; adult is split four to one, stratified. Training rows are split in the
same way to choose a learning rate.
"""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from epiboost import datasets

NAMES = ("adult", "amazon", "internet", "kick")


@dataclass(frozen=True, slots=True)
class Mixed:
    """A dataset with its split; text columns are categories, all others are numbers."""

    name: str
    X_train: pd.DataFrame
    y_train: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray

    @property
    def categories(self) -> list[str]:
        """Names of the categorical columns."""
        return [name for name, dtype in self.X_train.dtypes.items() if dtype.kind == "O"]

    def validation(self) -> "Mixed":
        """Return the training rows split four to one."""
        train, test = _four_to_one(self.y_train)
        X, y = self.X_train, self.y_train
        return Mixed(self.name, X.iloc[train], y[train], X.iloc[test], y[test])

    def __str__(self) -> str:
        """Return name and shape."""
        return f"{self.name} ({len(self.y_train):,} × {self.X_train.shape[1]}, {len(self.categories)} of categories)"


@cache
def load(name: str) -> Mixed:
    """Load a dataset."""
    table = datasets.load(name)
    train, test = table.splits[0] if table.splits else _four_to_one(table.y)
    return Mixed(name, table.X.iloc[train], table.y[train], table.X.iloc[test], table.y[test])


def is_available() -> bool:
    """Return whether the datasets are available."""
    return (Path(os.environ.get("EPIBOOST_DATA", "")) / "amazon" / "train.csv").is_file()


def _four_to_one(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    return train, test
