"""Other libraries as peers of our defaults: how each is trained, and its search space.

The spaces have the ranges that users of the libraries search: depth or leaves, learning rate, L2 regularisation, shares
of rows and of columns. With at most 2000 trees, lower learning rates would stop too early.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import outside_splits
from outside_splits import Rows
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeRegressor

VALIDATION_SHARE = 0.2
PATIENCE = 100

Features = Any
Model = Any
Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Data:
    """Features in the form that a library reads, target, and names of categorical columns."""

    X: Features
    y: np.ndarray
    categories: tuple[str, ...]

    @property
    def is_classification(self) -> bool:
        """Whether the target is of classes."""
        return self.y.dtype.kind == "i"

    def take(self, rows: Rows) -> "Data":
        """Return some of the rows."""
        X = self.X[rows] if isinstance(self.X, np.ndarray) else self.X.iloc[rows]
        return Data(X, self.y[rows], self.categories)

    def split(self, seed: int) -> tuple["Data", "Data"]:
        """Split the rows at random, four to one; classes keep their shares."""
        classes = self.y if self.is_classification else None
        rows = np.arange(len(self.y))
        kept, held_out = train_test_split(rows, test_size=VALIDATION_SHARE, stratify=classes, random_state=seed)
        return self.take(kept), self.take(held_out)


@dataclass(frozen=True, slots=True)
class Training:
    """What all trainings of one model have in common; without `trees`, the library chooses their number."""

    seed: int
    threads: int
    trees: int | None = None


@dataclass(frozen=True, slots=True)
class Peer:
    """Another library.

    Attributes
    ----------
    fit : callable
        Trains a model, with early stopping if there are validation rows; returns it with its number of trees.
    draw : callable
        Draws settings from the search space.
    dtype : str
        Type of categorical columns.
    """

    fit: Callable[[Data, Data | None, Settings, Training], tuple[Model, int]]
    draw: Callable[[np.random.Generator], Settings]
    dtype: str = "category"

    def read(self, name: str) -> Data:
        """Load a dataset in the form that the library reads."""
        table = outside_splits.table(name)
        categories = tuple(table.categories)
        X = table.X.astype(dict.fromkeys(categories, self.dtype)) if categories else table.X
        return Data(X, table.y, categories)


def fit_catboost(
    data: Data, validation: Data | None, settings: Settings, training: Training, loss: str = "RMSEWithUncertainty"
) -> tuple[Model, int]:
    """Train CatBoost; the loss is that of regression."""
    library = import_module("catboost")
    estimator = library.CatBoostClassifier if data.is_classification else library.CatBoostRegressor
    model = estimator(
        loss_function="Logloss" if data.is_classification else loss,
        iterations=training.trees,
        cat_features=list(data.categories),
        thread_count=training.threads,
        random_seed=training.seed,
        verbose=False,
        allow_writing_files=False,
        **settings,
    )
    stop = {"eval_set": (validation.X, validation.y), "early_stopping_rounds": PATIENCE} if validation else {}
    model.fit(data.X, data.y, **stop)
    return model, model.tree_count_


def fit_lightgbm(data: Data, validation: Data | None, settings: Settings, training: Training) -> tuple[Model, int]:
    """Train LightGBM."""
    library = import_module("lightgbm")
    estimator = library.LGBMClassifier if data.is_classification else library.LGBMRegressor
    trees = {} if training.trees is None else {"n_estimators": training.trees}
    model = estimator(n_jobs=training.threads, random_state=training.seed, verbosity=-1, **trees, **settings)
    if validation is None:
        return model.fit(data.X, data.y), model.n_estimators
    stop = library.early_stopping(PATIENCE, verbose=False)
    model.fit(data.X, data.y, eval_X=validation.X, eval_y=validation.y, callbacks=[stop])
    return model, model.best_iteration_


def fit_xgboost(data: Data, validation: Data | None, settings: Settings, training: Training) -> tuple[Model, int]:
    """Train XGBoost."""
    library = import_module("xgboost")
    estimator = library.XGBClassifier if data.is_classification else library.XGBRegressor
    model = estimator(
        n_estimators=training.trees,
        early_stopping_rounds=PATIENCE if validation else None,
        enable_categorical=True,
        n_jobs=training.threads,
        random_state=training.seed,
        **settings,
    )
    if validation is None:
        return model.fit(data.X, data.y), model.get_booster().num_boosted_rounds()
    model.fit(data.X, data.y, eval_set=[(validation.X, validation.y)], verbose=False)
    return model, model.best_iteration + 1


@dataclass(frozen=True, slots=True)
class NormalModel:
    """A model with a Normal per row, of which `predict` returns mean and variance, shape (n, 2)."""

    normals: Callable[[Features], tuple[np.ndarray, np.ndarray]]

    def predict(self, X: Features) -> np.ndarray:
        """Return mean and variance of each row."""
        mean, std = self.normals(X)
        return np.column_stack([mean, np.square(std)])


def fit_ngboost(data: Data, validation: Data | None, settings: Settings, training: Training) -> tuple[Model, int]:
    """Train NGBoost."""
    library = import_module("ngboost")
    settings = dict(settings)
    depth = settings.pop("max_depth", 3)
    tree = DecisionTreeRegressor(max_depth=depth, random_state=training.seed)
    trees = {} if training.trees is None else {"n_estimators": training.trees}
    model = library.NGBRegressor(Base=tree, random_state=training.seed, verbose=False, **trees, **settings)
    stop = {"X_val": validation.X, "Y_val": validation.y, "early_stopping_rounds": PATIENCE} if validation else {}
    model.fit(data.X, data.y, **stop)
    n_trees = len(model.base_models) if model.best_val_loss_itr is None else model.best_val_loss_itr + 1

    def normals(X: Features) -> tuple[np.ndarray, np.ndarray]:
        found = model.pred_dist(X, max_iter=n_trees)
        return found.loc, found.scale

    return NormalModel(normals), n_trees


def fit_hessboost(data: Data, validation: Data | None, settings: Settings, training: Training) -> tuple[Model, int]:
    """Train hessboost's regression of mean and variance."""
    library = import_module("hessboost.sklearn")
    trees = {} if training.trees is None else {"n_estimators": training.trees}
    stop = {"early_stopping_rounds": PATIENCE} if validation else {}
    model = library.HessboostDistributionRegressor(
        n_jobs=training.threads, random_state=training.seed, **trees, **stop, **settings
    )
    model.fit(data.X, data.y, **({"eval_set": [(validation.X, validation.y)]} if validation else {}))
    n_trees = model.best_iteration + 1 if validation else model.n_estimators

    def normals(X: Features) -> tuple[np.ndarray, np.ndarray]:
        found = model.predict_distribution(X)
        return found.mean(), found.std()

    return NormalModel(normals), n_trees


def draw_ngboost(random: np.random.Generator) -> Settings:
    """Draw settings of NGBoost."""
    return {
        "max_depth": int(random.integers(2, 7)),
        "learning_rate": log_uniform(random, 0.01, 0.3),
        "minibatch_frac": random.uniform(0.5, 1),
        "col_sample": random.uniform(0.5, 1),
    }


def draw_catboost(random: np.random.Generator) -> Settings:
    """Draw settings of CatBoost."""
    return {
        "depth": int(random.integers(4, 9)),
        "learning_rate": log_uniform(random, 0.01, 0.3),
        "l2_leaf_reg": log_uniform(random, 0.1, 30),
        "bootstrap_type": "Bernoulli",
        "subsample": random.uniform(0.5, 1),
        "rsm": random.uniform(0.5, 1),
    }


def draw_lightgbm(random: np.random.Generator) -> Settings:
    """Draw settings of LightGBM."""
    return {
        "num_leaves": round(log_uniform(random, 4, 256)),
        "learning_rate": log_uniform(random, 0.01, 0.3),
        "min_child_samples": round(log_uniform(random, 1, 64)),
        "reg_lambda": log_uniform(random, 1e-3, 30),
        "subsample": random.uniform(0.5, 1),
        "subsample_freq": 1,
        "colsample_bytree": random.uniform(0.5, 1),
    }


def draw_xgboost(random: np.random.Generator) -> Settings:
    """Draw settings of XGBoost."""
    return {
        "max_depth": int(random.integers(3, 11)),
        "learning_rate": log_uniform(random, 0.01, 0.3),
        "min_child_weight": log_uniform(random, 0.1, 30),
        "reg_lambda": log_uniform(random, 1e-3, 30),
        "subsample": random.uniform(0.5, 1),
        "colsample_bytree": random.uniform(0.5, 1),
    }


def log_uniform(random: np.random.Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


PEERS = {
    "CatBoost": Peer(fit_catboost, draw_catboost, "str"),
    "CatBoost RMSE": Peer(partial(fit_catboost, loss="RMSE"), draw_catboost, "str"),
    "LightGBM": Peer(fit_lightgbm, draw_lightgbm),
    "XGBoost": Peer(fit_xgboost, draw_xgboost),
    "NGBoost": Peer(fit_ngboost, draw_ngboost),
    "hessboost": Peer(fit_hessboost, draw_xgboost),
}
NORMALS = ("CatBoost", "NGBoost", "hessboost")
"""Peers that predict a variance; the last two train on regressions alone here."""
