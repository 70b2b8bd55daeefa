"""The nine UCI regression datasets of the paper with their standard splits."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from epiboost.datasets import MissingDataError, load

NAMES = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine", "yacht")


@dataclass(frozen=True, slots=True)
class Split:
    """One standard split of a dataset."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def splits(name: str, count: int) -> Iterator[Split]:
    """Yield the first standard splits of a dataset."""
    try:
        table = load(name)
    except MissingDataError as error:
        raise SystemExit(str(error)) from error
    for train, test in table.splits[:count]:
        yield Split(table.X[train], table.y[train], table.X[test], table.y[test])
