"""Datasets as the experiments use them: one numeric array, folds, and out-of-domain rows."""

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
DATASETS = (*REGRESSION, *CLASSIFICATION)
_OOD_FROM_SLICES = ("appetency", "churn", "upselling", "year")
_FEWER_FOLDS = {"protein": 5, "year": 1}
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
"""Number of rows per dataset, as in the paper."""


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """One split of a dataset.

    Attributes
    ----------
    task : {"regression", "classification"}
    X, y : arrays of shape (n_train, n_features), (n_train,)
        Training rows.
    fit, validation : arrays of int
        Training rows on which the models of the grid are trained, and those on which they are evaluated.
    X_test, y_test : arrays of shape (n_test, n_features), (n_test,)
        In-domain test rows.
    X_ood : array of shape (n_test, n_features) or None
        Out-of-domain rows; None if their source is not available.
    categorical : tuple of int
        Columns that hold category codes.
    single_split : bool
        Whether the dataset has one split only, so that significance is tested over its test rows.
    """

    task: Task
    X: Floats
    y: AnyArray
    fit: Integers
    validation: Integers
    X_test: Floats
    y_test: AnyArray
    X_ood: Floats | None
    categorical: tuple[int, ...]
    single_split: bool


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A dataset as one numeric array, with categories replaced by codes, and its splits."""

    name: str
    task: Task
    X: Floats
    y: AnyArray
    splits: tuple[tuple[Integers, Integers], ...]
    categorical: tuple[int, ...]

    def fold(self, number: int) -> Fold:
        """Return one split, with validation rows and out-of-domain rows."""
        train, test = self.splits[number]
        X, y = self.X[train], self.y[train]
        rows = np.arange(len(train))
        if self.task == "regression":
            n_fit = int((1.0 - VALIDATION_SHARE) * len(train))
            fit, validation = rows[:n_fit], rows[n_fit:]
        else:
            fit, validation = train_test_split(rows, test_size=CLASS_VALIDATION_SHARE, stratify=y, random_state=0)
        return Fold(
            task=self.task,
            X=X,
            y=y,
            fit=fit,
            validation=validation,
            X_test=self.X[test],
            y_test=self.y[test],
            X_ood=out_of_domain_rows(X, self.categorical, len(test), dataset=self.name, seed=number),
            categorical=self.categorical,
            single_split=len(self.splits) == 1,
        )


def n_folds(name: str) -> int:
    """Return the number of standard splits of a dataset, without reading it."""
    return _FEWER_FOLDS.get(name, 20) if name in REGRESSION else 1


def load_problem(name: str) -> Problem:
    """Load a dataset and replace its categories by codes, in alphabetical order."""
    return _read(name, str(data_folder()))


@cache
def _read(name: str, _folder: str) -> Problem:
    table = load(name)
    X, categorical = _numeric(table)
    splits = table.splits
    if not splits:
        rows = np.arange(len(table.y))
        splits = (tuple(train_test_split(rows, test_size=TEST_SHARE, stratify=table.y, random_state=0)),)
    return Problem(name, table.task, X, table.y, splits, categorical)


def out_of_domain_rows(
    X: Floats, categorical: tuple[int, ...], n_rows: int, *, dataset: str, seed: int
) -> Floats | None:
    """Draw rows from another dataset and rescale them to the means and deviations of the training columns.

    Column j comes from column j of the source. Categories are drawn uniformly from those of the training rows. If the
    source has too few rows, they are repeated.

    Parameters
    ----------
    X : array of shape (n_train, n_features)
        Training rows.
    categorical : tuple of int
        Columns that hold category codes.
    n_rows : int
        Number of rows to draw.
    dataset : str
        The dataset whose domain the rows are outside of.
    seed : int

    Returns
    -------
    array of shape (n_rows, n_features) or None
        None if the source is missing or damaged.
    """
    try:
        source = out_of_domain_source(dataset)
    except (MissingDataError, DamagedDataError):
        return None
    rng = np.random.default_rng([seed, zlib.crc32(dataset.encode())])
    order = np.resize(rng.permutation(len(source)), n_rows)
    columns = np.arange(X.shape[1]) % source.shape[1]
    rows = source[np.ix_(order, columns)]
    deviation = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    with np.errstate(invalid="ignore"):
        X_ood: Floats = rows * np.nanstd(X, axis=0) + np.nanmean(X, axis=0)
    for column in categorical:
        X_ood[:, column] = rng.choice(np.unique(X[:, column]), size=n_rows)
    return X_ood


def out_of_domain_source(dataset: str) -> Floats:
    """Return the rows from which out-of-domain rows of a dataset are drawn, before rescaling."""
    return _read_source(dataset in _OOD_FROM_SLICES, str(data_folder()))


def out_of_domain_file(dataset: str) -> str:
    """Return the name of the file from which out-of-domain rows of a dataset are drawn."""
    return SLICES if dataset in _OOD_FROM_SLICES else songs_file()


@cache
def _read_source(from_slices: bool, _folder: str) -> Floats:
    return slices() if from_slices else songs()


def _numeric(table: Table) -> tuple[Floats, tuple[int, ...]]:
    """Return the features as one array, and the positions of the columns that hold category codes."""
    if isinstance(table.X, np.ndarray):
        return table.X, ()
    X = np.empty(table.X.shape)
    categories = set(table.categories)
    for position, name in enumerate(table.X.columns):
        values = table.X[name].to_numpy()
        X[:, position] = np.unique(values.astype(str), return_inverse=True)[1] if name in categories else values
    return X, tuple(position for position, name in enumerate(table.X.columns) if name in categories)
