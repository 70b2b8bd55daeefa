"""The other libraries, each training one SGLB chain with the settings that its users would choose.

CatBoost and hessboost have SGLB. LightGBM and XGBoost get it as an objective, on the rescaled score G = F / c^t with
c = 1 − ε / 2N: the noisy natural gradient is evaluated at F = c^(t−1) G, and step t has the rate ε / c^t. Hessians are
one, so the factor c^−t is applied to the gradient instead, which gives the same trees at a constant rate.

NGBoost has no SGLB; it trains its natural gradient boosting. Datasets are built before timing starts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
from tables import Table

DEPTH, RATE, L2, THREADS = 6, 0.1, 3.0, 2
LEAVES = 2**DEPTH
NGBOOST_TREES = 10
PROBE_ROUNDS, PROBE_TREES = 2, 30

Model = Any


@dataclass(frozen=True, slots=True)
class Training:
    """Training of one model, ready to be timed.

    Attributes
    ----------
    scale : float
        Factor of the time, if fewer trees are trained than requested.
    note : str
        Note for the reader.
    """

    run: Callable[[], Model]
    note: str = ""
    scale: float = 1.0


def training(peer: str, table: Table, trees: int, **settings: object) -> Training | None:
    """Build a library's dataset and return its training of one chain; None if it is not installed.

    CatBoost takes settings, which replace those of the comparison.
    """
    try:
        return TRAININGS[peer](table, trees, **settings)
    except ModuleNotFoundError as error:
        if error.name != peer.lower():
            raise
        return None


def catboost(table: Table, trees: int, **settings: object) -> Training:
    """Return CatBoost's SGLB, on a pool; a classifier if the target is of integers."""
    library = import_module("catboost")
    pool = library.Pool(table.X, table.y)
    classes = table.y.dtype.kind == "i"
    estimator = library.CatBoostClassifier if classes else library.CatBoostRegressor
    options = {
        "loss_function": "MultiClass" if classes else "RMSEWithUncertainty",
        "posterior_sampling": True,
        "bootstrap_type": "No",
        "iterations": trees,
        "depth": DEPTH,
        "learning_rate": RATE,
        "l2_leaf_reg": L2,
        "thread_count": THREADS,
        "random_seed": 0,
        "verbose": False,
        "allow_writing_files": False,
        **settings,
    }
    return Training(lambda: estimator(**options).fit(pool))


def lightgbm(table: Table, trees: int) -> Training:
    """Return LightGBM with the SGLB objective, on binned data."""
    library = import_module("lightgbm")
    settings = {
        "num_leaves": LEAVES,
        "max_depth": DEPTH,
        "learning_rate": RATE,
        "lambda_l2": L2,
        "num_threads": THREADS,
        "seed": 0,
        "verbosity": -1,
    }
    data = library.Dataset(table.X, label=table.y, params=settings, free_raw_data=False).construct()

    def train() -> Model:
        return library.train({**settings, "num_class": 2, "objective": Langevin(table.y)}, data, trees)

    return Training(train)


def xgboost(table: Table, trees: int) -> Training:
    """Return XGBoost with the SGLB objective, on binned data, with the faster of its strategies for two outputs."""
    library = import_module("xgboost")
    data = library.QuantileDMatrix(table.X, label=np.column_stack([table.y, table.y]), nthread=THREADS)

    def train(strategy: str, trees: int) -> Model:
        settings = {
            "tree_method": "hist",
            "multi_strategy": strategy,
            "max_depth": DEPTH,
            "learning_rate": RATE,
            "reg_lambda": L2,
            "base_score": 0.0,
            "nthread": THREADS,
            "seed": 0,
            "verbosity": 0,
        }
        return library.train(settings, data, trees, obj=Langevin(table.y))

    strategy = _fastest(train, ("one_output_per_tree", "multi_output_tree"), trees)
    return Training(lambda: train(strategy, trees), note=strategy)


def hessboost(table: Table, trees: int) -> Training:
    """Return hessboost's SGLB, with the fastest of its strategies for two outputs."""
    library = import_module("hessboost")
    data = library.DMatrix(table.X, label=table.y)
    strategies = {
        "one_output_per_tree": {"multi_strategy": "one_output_per_tree"},
        "multi_output_tree": {"multi_strategy": "multi_output_tree"},
        "symmetric": {"grow_policy": "symmetric"},
    }

    def train(strategy: str, trees: int) -> Model:
        settings = {
            "objective": "dist:normal",
            "dist_gradient": "natural",
            "posterior_sampling": True,
            "max_depth": DEPTH,
            "learning_rate": RATE,
            "reg_lambda": L2,
            "nthread": THREADS,
            "seed": 0,
            **strategies[strategy],
        }
        return library.train(settings, data, trees)

    strategy = _fastest(train, tuple(strategies), trees)
    return Training(lambda: train(strategy, trees), note=strategy)


def ngboost(table: Table, trees: int) -> Training:
    """Return NGBoost's natural gradient boosting of a Normal, with few trees; its time is scaled up."""
    library = import_module("ngboost")
    learner = import_module("sklearn.tree").DecisionTreeRegressor(max_depth=DEPTH)
    few = min(NGBOOST_TREES, trees)

    def train() -> Model:
        model = library.NGBRegressor(Base=learner, n_estimators=few, learning_rate=RATE, verbose=False, random_state=0)
        return model.fit(table.X, table.y)

    return Training(train, note=f"{few} trees, scaled up", scale=trees / few)


class Langevin:
    """The SGLB objective of a Normal on the rescaled score, for LightGBM and XGBoost.

    The target is standardised, so that the chain starts at zero.
    """

    def __init__(self, y: np.ndarray) -> None:
        self.target = ((y - y.mean()) / y.std()).astype(np.float32)
        self.noise = np.float32(np.sqrt(2 / (len(y) * RATE)))
        self.shrink = 1 - RATE / (2 * len(y))
        self.hessian = np.ones((len(y), 2), dtype=np.float32)
        self.rng = np.random.default_rng(0)
        self.step = 0

    def __call__(self, scores: np.ndarray, _: object) -> tuple[np.ndarray, np.ndarray]:
        """Return gradients and hessians, shape (n, 2), at the scores, shape (n, 2)."""
        scores = scores.astype(np.float32, copy=False) * np.float32(self.shrink**self.step)
        self.step += 1
        residual = self.target - scores[:, 0]
        gradient = np.empty_like(scores)
        gradient[:, 0] = -residual
        gradient[:, 1] = 0.5 - 0.5 * np.square(residual * np.exp(-scores[:, 1]))
        for output in range(2):
            gradient[:, output] += self.noise * self.rng.standard_normal(len(residual), dtype=np.float32)
        gradient *= np.float32(self.shrink**-self.step)
        return gradient, self.hessian


TRAININGS: dict[str, Callable[..., Training]] = {
    "CatBoost": catboost,
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "hessboost": hessboost,
    "NGBoost": ngboost,
}


def _fastest(train: Callable[[str, int], Model], strategies: Sequence[str], trees: int) -> str:
    """Return the strategy that trains a few trees in the shortest time, best of a few rounds."""
    best = dict.fromkeys(strategies, float("inf"))
    for _ in range(PROBE_ROUNDS):
        for strategy in strategies:
            start = perf_counter()
            train(strategy, min(PROBE_TREES, trees))
            best[strategy] = min(best[strategy], perf_counter() - start)
    return min(strategies, key=best.__getitem__)
