"""Compare quality and speed with CatBoost's on datasets with categories, each at the better of two learning rates.

The rate of each library is chosen on validation rows, by one CatBoost model and by two members of ours. Then both are
trained on all training rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from time import perf_counter
from typing import Any

import mixed
import numpy as np
from mixed import Mixed
from sklearn.metrics import log_loss

from epiboost import EpiBoostClassifier
from epiboost.metrics import expected_calibration_error

TREES, DEPTH, L2, THREADS, MEMBERS = 1000, 6, 3.0, 2, 10
RATES = (0.1, 0.03)
CATBOOST_ENSEMBLES = ("adult", "amazon")

Model = Any


@dataclass(frozen=True, slots=True)
class Run:
    """A trained model, its learning rate, its training time and its negative log-likelihood on test rows."""

    model: Model
    rate: float
    seconds: float
    loss: float


def ours(data: Mixed, rate: float, members: int = MEMBERS, trees: int = TREES) -> Run:
    """Train SGLB members."""
    model = EpiBoostClassifier(
        n_members=members,
        n_estimators=trees,
        learning_rate=rate,
        max_depth=DEPTH,
        l2=L2,
        n_jobs=THREADS,
        random_state=0,
        out_of_fold=0,
    )
    return _timed(lambda: model.fit(data.X_train, data.y_train), data, rate)


def catboost(data: Mixed, rate: float, seed: int = 0, trees: int = TREES) -> Run:
    """Train CatBoost's SGLB model; its pool is built before timing starts."""
    library = import_module("catboost")
    pool = library.Pool(data.X_train, data.y_train, cat_features=data.categories)
    model = library.CatBoostClassifier(
        posterior_sampling=True,
        bootstrap_type="No",
        iterations=trees,
        depth=DEPTH,
        learning_rate=rate,
        l2_leaf_reg=L2,
        thread_count=THREADS,
        random_seed=seed,
        verbose=False,
        allow_writing_files=False,
    )
    return _timed(lambda: model.fit(pool), data, rate)


@cache
def compared(name: str) -> tuple[Run, Run]:
    """Return our model and CatBoost's, each at its better rate."""
    data, part = mixed.load(name), mixed.load(name).validation()
    our_rate = min(RATES, key=lambda rate: ours(part, rate, members=2).loss)
    their_rate = min(RATES, key=lambda rate: catboost(part, rate).loss)
    return ours(data, our_rate), catboost(data, their_rate)


def compare(_: int) -> None:
    """Print ten members of ours, one CatBoost model and, on two datasets, ten CatBoost models."""
    print(f"{MEMBERS} SGLB members compared with CatBoost, {TREES} trees, depth {DEPTH}, the better of rates {RATES}")
    print("| table | NLL CatBoost | ten CatBoost | ours | ratio | rate CatBoost | ours | one member of ours |")
    print("|---|---|---|---|---|---|---|---|")
    for name in mixed.NAMES:
        mine, theirs = compared(name)
        data = mixed.load(name)
        ten = f"{_ten_catboost(name, theirs):.4f}" if name in CATBOOST_ENSEMBLES else ""
        members = mine.model.predict_posterior(data.X_test).parameters
        single = np.mean([log_loss(data.y_test, own) for own in members])
        print(
            f"| {data} | {theirs.loss:.4f} | {ten} | {mine.loss:.4f} | {mine.loss / theirs.loss:.3f} | {theirs.rate} "
            f"| {mine.rate} | {single:.4f} |",
            flush=True,
        )


def compare_defaults(_: int) -> None:
    """Print the default classifier, and the same with fixed trees and without out-of-fold chains."""
    print("the default classifier, ten members, held-out log-loss, calibration error and seconds of training")
    print(f"| table | default | calibration error | seconds | trees | {TREES} of depth {DEPTH} | calibration error |")
    print("|---|---|---|---|---|---|---|")
    for name in mixed.NAMES:
        data = mixed.load(name)
        model = EpiBoostClassifier(n_jobs=THREADS, random_state=0)
        chosen = _timed(lambda: model.fit(data.X_train, data.y_train), data, 0.0)  # noqa: B023
        fixed = ours(data, RATES[0])
        errors = [
            expected_calibration_error(data.y_test, run.model.predict_posterior(data.X_test)) for run in (chosen, fixed)
        ]
        size = f"{model.n_iter_[0]} of {model.capacity_.n_estimators}, {model.capacity_.size}"
        print(
            f"| {data} | {chosen.loss:.4f} | {errors[0]:.4f} | {chosen.seconds:.1f} | {size} | {fixed.loss:.4f} "
            f"| {errors[1]:.4f} |",
            flush=True,
        )


def _ten_catboost(name: str, first: Run) -> float:
    data = mixed.load(name)
    models = [first.model, *(catboost(data, first.rate, seed).model for seed in range(1, MEMBERS))]
    return float(log_loss(data.y_test, np.mean([model.predict_proba(data.X_test) for model in models], axis=0)))


def _timed(train: Callable[[], Model], data: Mixed, rate: float) -> Run:
    start = perf_counter()
    model = train()
    seconds = perf_counter() - start
    return Run(model, rate, seconds, float(log_loss(data.y_test, model.predict_proba(data.X_test))))
