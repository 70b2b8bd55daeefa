"""Prints hashes of trees, predictions and explanations, one line per model: ``python -m fuzz.bits``.

Compilers and processors that compute the same bits print the same lines. All numbers of the tables are multiples of
1/64, and the core is called without the functions of NumPy that round differently on other processors, as ``np.log``.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._estimators.out_of_fold.categorical import CategoricalRecalibration
from epiboost._estimators.out_of_fold.normal import NormalRecalibration
from epiboost._native import native
from epiboost._typing import AnyArray, Floats
from epiboost.engines.native.forest import NativeForest

ROWS = 700  # several blocks, and a last one that is not full


@dataclass(frozen=True)
class Model:
    """A model to train; each takes another path through the core.

    Attributes
    ----------
    options
        Of the estimator.
    classes
        Number of classes; 0 for a regression.
    weighted
        Whether rows have weights.
    threads
        Number of threads.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    classes: int = 0
    weighted: bool = False
    threads: int = 1


MODELS = {
    "normal": Model(),
    "normal, 3 threads": Model(threads=3),
    "normal, weights": Model(weighted=True),
    "normal, subsamples": Model({"ensemble": "sgb"}, weighted=True),
    "normal, prefixes of one chain": Model({"ensemble": "virtual", "n_members": 3, "n_estimators": 30}),
    "normal, few rows for the splits": Model({"structure_rows": 200}),
    "normal, monotone": Model({"monotonic_constraints": [1, 0, -1, 0, 0]}),
    "normal, depth 8": Model({"max_depth": 8}),
    "normal, leaf-wise": Model({"max_depth": None, "max_leaves": 40}),
    "normal, early stopping": Model({"early_stopping": True, "early_stopping_rounds": 2, "learning_rate": 0.5}),
    "2 classes": Model(classes=2),
    "2 classes, categories": Model({"categorical_features": [3, 4]}, classes=2),
    "3 classes, leaf-wise": Model({"max_depth": None, "max_leaves": 20}, classes=3),
    "12 classes": Model(classes=12),
}


def table_of(classes: int) -> tuple[Floats, AnyArray]:
    """Return a table with missing values and its target."""
    random = np.random.default_rng(classes)
    X = random.integers(-256, 256, size=(ROWS, 5)) / 64
    X[:, 3:] = X[:, 3:].round()
    signal = X[:, 0] * X[:, 1] + X[:, 2] + X[:, 4] / 2 + random.integers(-64, 64, size=ROWS) / 64
    X[random.integers(0, 10, size=X.shape) == 0] = np.nan
    return X, np.argsort(np.argsort(signal, kind="stable")) * classes // ROWS if classes else signal


def hashes_of(model: Model) -> list[str]:
    """Train a model; return the hashes of its trees, of its predictions and of Shapley values of its first chain."""
    X, y = table_of(model.classes)
    estimator = EpiBoostClassifier if model.classes else EpiBoostRegressor
    usual: dict[str, Any] = {"n_members": 2, "n_estimators": 20, "max_depth": 6, "learning_rate": 0.125}
    trained = estimator(**{**usual, **model.options}, n_jobs=model.threads, random_state=5)
    weight = np.random.default_rng(9).integers(16, 256, size=ROWS) / 64 if model.weighted else None
    trained.fit(X, y, sample_weight=weight)
    forest = cast("NativeForest", trained.forest_)
    trees = [forest.bins.borders, forest.feature, forest.threshold, forest.parent, forest.leaf, forest.count]
    other = np.roll(X, 1, axis=1)
    predictions = [trained.predict_posterior(rows).parameters for rows in (other, other[:1])]
    return [_hash_of(trees), _hash_of(predictions), _hash_of([_shapley_values(forest, other[:100])])]


def _shapley_values(forest: NativeForest, table: Floats) -> Floats:
    """Return the Shapley values of the first output of the first chain, against the same rows."""
    bins, _ = forest.binned(table)
    columns = np.ascontiguousarray(bins.T)
    values = np.zeros(bins.shape)
    trees = forest.feature[0], forest.threshold[0], forest.parent[0], forest.leaf[0, :, :, 0].astype(np.float64)
    players = np.arange(bins.shape[1], dtype=np.int32)
    native().tree_shapley_values(*trees, players, columns, columns, 1, values)
    return values


def _nearest_rows() -> list[AnyArray]:
    """Return distances of rows to the nearest other row, and which rows these are."""
    table = np.nan_to_num(table_of(0)[0]).astype(np.float32)
    weight = np.array([0, 0, 0, 1.5, 3], dtype=np.float32)
    return list(native().nearest_rows(table, np.ascontiguousarray(table.T), weight, np.arange(ROWS)))


def _recalibrated() -> list[AnyArray]:
    """Return recalibrated parameters of three members, and the uncertainty of classes."""
    random = np.random.default_rng(2)
    parameters = random.integers(1, 4096, size=(3, ROWS, 2)) / 64
    classes = random.integers(0, 4096, size=(3, ROWS, 4)) / 64
    classes /= classes.sum(axis=2, keepdims=True)
    recalibration = CategoricalRecalibration(1.25, 2.5)
    uncertainty = recalibration.uncertainty(classes, threads=2)
    normal = NormalRecalibration(0.75, 1.25, 1.125, 2.5, 1024.0).apply(parameters, threads=2)
    return [normal, recalibration.apply(classes, threads=2), uncertainty.data, uncertainty.knowledge]


def _hash_of(arrays: list[AnyArray]) -> str:
    hashed = hashlib.sha256()
    for array in arrays:
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()[:16]


def main() -> None:
    """Print one line per model."""
    print(f"{'nearest rows':<34}", _hash_of(_nearest_rows()))
    print(f"{'recalibration':<34}", _hash_of(_recalibrated()))
    for name, model in MODELS.items():
        print(f"{name:<34}", *hashes_of(model), flush=True)


if __name__ == "__main__":
    main()
