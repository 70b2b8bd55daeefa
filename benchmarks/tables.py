"""Tables of the speed benchmark: the paper's if EPIBOOST_DATA is set, else generated ones of the same shape."""

import os
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from uci import Split, splits

PROTEIN = (41_157, 4_573, 9)
KIN8NM = (7_373, 819, 8)
YEAR_ROWS, YEAR_HELD_OUT, YEAR_FEATURES, YEAR_FACTORS = 463_715, 50_000, 90, 12
CLASSES, CLASS_ROWS, CLASS_FEATURES = 7, 100_000, 20


@dataclass(frozen=True, slots=True)
class Table:
    """Features, target and name."""

    name: str
    X: np.ndarray
    y: np.ndarray

    def __str__(self) -> str:
        """Return name and shape."""
        return f"{self.name} ({len(self.y):,} × {self.X.shape[1]})"


def protein() -> Table:
    """Return the training rows of split 0 of protein."""
    name, split = _first_split("protein", *PROTEIN)
    return Table(name, split.X_train, split.y_train)


def protein_twice() -> np.ndarray:
    """Return all rows of protein, twice."""
    _, split = _first_split("protein", *PROTEIN)
    return np.concatenate([split.X_train, split.X_test] * 2)


def kin8nm() -> Table:
    """Return the training rows of split 0 of kin8nm."""
    name, split = _first_split("kin8nm", *KIN8NM)
    return Table(name, split.X_train, split.y_train)


@cache
def year() -> tuple[Table, Table]:
    """Generate a table with the shape of Year MSD, and held-out rows.

    Twelve hidden factors make ninety correlated features, similar to timbre: twelve averages, and products in place of
    covariances. The target is a nonlinear function of a few features, with noise that depends on features.
    """
    rng = np.random.default_rng(20_111_922)
    rows = YEAR_ROWS + YEAR_HELD_OUT
    factors = rng.standard_normal((rows, YEAR_FACTORS)) @ (np.eye(YEAR_FACTORS) + 0.2)
    X = rng.standard_normal((rows, YEAR_FEATURES))
    X[:, :YEAR_FACTORS] *= 0.3
    X[:, :YEAR_FACTORS] += factors
    for column in range(YEAR_FACTORS, YEAR_FEATURES):
        first, second = rng.integers(YEAR_FACTORS, size=2)
        X[:, column] += factors[:, first] * factors[:, second] + factors[:, second]
    mean = 4 * np.tanh(X[:, 0]) + 2 * X[:, 1] * X[:, 2] / (1 + X[:, 3] ** 2) + 3 * np.sin(X[:, 4]) + np.abs(X[:, 20])
    spread = 3 + 3 / (1 + np.exp(-X[:, 5])) + 0.5 * np.abs(X[:, 6])
    y = 1990 + mean + spread * rng.standard_normal(rows)
    name = "generated like songs' years"
    return Table(name, X[:YEAR_ROWS], y[:YEAR_ROWS]), Table(name, X[YEAR_ROWS:], y[YEAR_ROWS:])


def classes() -> Table:
    """Generate seven overlapping classes."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((CLASS_ROWS, CLASS_FEATURES))
    features = np.concatenate([X, np.sin(2 * X), X[:, ::-1] * X], axis=1)
    score = features @ rng.normal(scale=0.6, size=(features.shape[1], CLASSES)) + rng.gumbel(size=(CLASS_ROWS, CLASSES))
    return Table("generated, seven classes", X, score.argmax(axis=1))


def digits() -> Table:
    """Return three quarters of scikit-learn's digits: few rows, ten classes."""
    X, y = load_digits(return_X_y=True)
    train, _ = train_test_split(np.arange(len(y)), random_state=0)
    return Table("digits, ten classes", X[train], y[train])


def protein_classes() -> Table:
    """Return protein with the tenths of its target as classes."""
    data = protein()
    borders = np.quantile(data.y, np.linspace(0, 1, 11)[1:-1])
    return Table(f"{data.name}, ten classes", data.X, np.searchsorted(borders, data.y))


def generated(rows: int, features: int) -> Table:
    """Generate a regression table of any shape."""
    rng = np.random.default_rng(rows + features)
    X = rng.standard_normal((rows, features))
    mean = np.tanh(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.2 * X[:, 4:].sum(axis=1)
    y = mean + (0.3 + 0.2 * np.abs(X[:, 5])) * rng.standard_normal(rows)
    return Table("generated", X, y)


@cache
def _first_split(name: str, n_train: int, n_test: int, features: int) -> tuple[str, Split]:
    if os.environ.get("EPIBOOST_DATA"):
        return f"{name}, split 0", next(splits(name, 1))
    table = generated(n_train + n_test, features)
    split = Split(table.X[:n_train], table.y[:n_train], table.X[n_train:], table.y[n_train:])
    return f"generated in place of {name}", split
