"""A dataset as the experiments see it: one array of numbers, folds, and rows from outside the domain."""

import zlib
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.model_selection import train_test_split

from epiboost._typing import AnyArray, Floats, Integers
from epiboost.datasets import DamagedDataError, MissingDataError, Table, load
from epiboost.datasets.layouts import SLICES, slices, songs, songs_file
from epiboost.datasets.registry import data_folder
from epiboost.datasets.table import Task
from epiboost.paper.protocol import CLASS_VALIDATION_SHARE, TEST_SHARE, VALIDATION_SHARE

REGRESSION = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine", "yacht", "year")
CLASSIFICATION = ("adult", "amazon", "click", "internet", "appetency", "churn", "upselling", "kick")
_FROM_SLICES = ("appetency", "churn", "upselling", "year")
_MOST_FOLDS = {"protein": 5, "year": 1}
ROWS = {
    "boston": 506,
    "concrete": 1030,
    "energy": 768,
    "kin8nm": 8192,
    "naval": 11_934,
    "power": 9568,
    "protein": 45_730,
    "wine": 1599,
    "yacht": 308,
    "year": 515_345,
    "adult": 48_842,
    "amazon": 32_769,
    "click": 399_482,
    "internet": 10_108,
    "appetency": 50_000,
    "churn": 50_000,
    "upselling": 50_000,
    "kick": 72_983,
}
"""The sizes that the paper gives."""


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """One split of a dataset.

    Attributes
    ----------
    X, y : arrays of shape (n, features), (n,)
        The training part.
    fit, validation : arrays of int
        Rows of the training part that the grid learns from, and those it is judged on.
    X_test, y_test : arrays
        The in-domain rows that everything is judged on.
    X_out : array of shape (n_test, features) or None
        Rows from outside; None if their source is not here.
    categorical : tuple of int
        Columns that hold codes of categories.
    """

    task: Task
    X: Floats
    y: AnyArray
    fit: Integers
    validation: Integers
    X_test: Floats
    y_test: AnyArray
    X_out: Floats | None
    categorical: tuple[int, ...]
    by_rows: bool


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A dataset in numbers; categories are codes."""

    name: str
    task: Task
    X: Floats
    y: AnyArray
    splits: tuple[tuple[Integers, Integers], ...]
    categorical: tuple[int, ...]

    def fold(self, number: int) -> Fold:
        """Return a split, with validation rows and rows from outside."""
        train, test = self.splits[number]
        X, y = self.X[train], self.y[train]
        rows = np.arange(len(train))
        if self.task == "regression":
            edge = int((1.0 - VALIDATION_SHARE) * len(train))
            fit, validation = rows[:edge], rows[edge:]
        else:
            fit, validation = train_test_split(rows, test_size=CLASS_VALIDATION_SHARE, stratify=y, random_state=0)
        outside = outside_rows(X, self.categorical, len(test), source_of=self.name, seed=number)
        return Fold(
            task=self.task,
            X=X,
            y=y,
            fit=fit,
            validation=validation,
            X_test=self.X[test],
            y_test=self.y[test],
            X_out=outside,
            categorical=self.categorical,
            by_rows=len(self.splits) == 1,
        )


def n_folds(name: str) -> int:
    """Return how many standard splits a dataset has, without reading it."""
    return _MOST_FOLDS.get(name, 20) if name in REGRESSION else 1


def problem(name: str) -> Problem:
    """Read a dataset and turn its categories into codes, in the order of their names."""
    return _read(name, str(data_folder()))


@cache
def _read(name: str, _folder: str) -> Problem:
    table = load(name)
    X, categorical = _in_numbers(table)
    splits = table.splits
    if not splits:
        rows = np.arange(len(table.y))
        splits = (tuple(train_test_split(rows, test_size=TEST_SHARE, stratify=table.y, random_state=0)),)
    return Problem(name, table.task, X, table.y, splits, categorical)


def outside_rows(X: Floats, categorical: tuple[int, ...], n: int, *, source_of: str, seed: int) -> Floats | None:
    """Draw rows from another dataset and give them the means and deviations of the training columns.

    Column j comes from column j of the source, categories are drawn uniformly from those of the training part. Where
    the source has fewer rows than are wanted, it is gone through again.

    Parameters
    ----------
    X : array of shape (n_train, features)
        The training part.
    categorical : tuple of int
        Columns of codes.
    n : int
        Rows wanted.
    source_of : str
        The dataset they are to lie outside of.
    seed : int

    Returns
    -------
    array of shape (n, features) or None
        None if the source is not here, or not whole.
    """
    try:
        source = outside_source(source_of)
    except (MissingDataError, DamagedDataError):
        return None
    rng = np.random.default_rng([seed, zlib.crc32(source_of.encode())])
    order = np.resize(rng.permutation(len(source)), n)
    columns = np.arange(X.shape[1]) % source.shape[1]
    rows = source[np.ix_(order, columns)]
    spread = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    with np.errstate(invalid="ignore"):
        outside: Floats = rows * np.nanstd(X, axis=0) + np.nanmean(X, axis=0)
    for column in categorical:
        outside[:, column] = rng.choice(np.unique(X[:, column]), size=n)
    return outside


def outside_source(dataset: str) -> Floats:
    """Return the rows that lie outside of a dataset, before they are rescaled."""
    return _external(dataset in _FROM_SLICES, str(data_folder()))


def outside_file(dataset: str) -> str:
    """Return the file that the rows outside of a dataset come from."""
    return SLICES if dataset in _FROM_SLICES else songs_file()


@cache
def _external(from_slices: bool, _folder: str) -> Floats:
    return slices() if from_slices else songs()


def _in_numbers(table: Table) -> tuple[Floats, tuple[int, ...]]:
    if isinstance(table.X, np.ndarray):
        return table.X, ()
    X = np.empty(table.X.shape)
    categories = set(table.categories)
    for position, name in enumerate(table.X.columns):
        values = table.X[name].to_numpy()
        X[:, position] = np.unique(values.astype(str), return_inverse=True)[1] if name in categories else values
    return X, tuple(position for position, name in enumerate(table.X.columns) if name in categories)
