"""Compare regression on generated tables of numbers and categories with CatBoost, at the better of two learning rates.

A table has five numeric columns and four categorical ones, with 6, 12, 300 and 3000 categories; the last two have
common and rare categories. One tenth of two numeric columns is missing, and one twentieth of two categorical columns.
The target is nonlinear in the numbers, depends on categories and on a pair of categories, and has noise that depends on
a category.

The rate of each library is chosen on a fifth of the training rows, by one CatBoost model and by two members of ours.
Then both are trained on all training rows. Runs of ours and of CatBoost are interleaved.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from catboost import CatBoostRegressor, Pool
from categories import DEPTH, L2, MEMBERS, RATES, THREADS, TREES

from epiboost import EpiBoostRegressor, Posterior

TRAINING_ROWS, HELD_OUT_ROWS = 12_000, 8_000
SEEDS = (0, 1, 2)
CATEGORIES = {"colour": 6, "make": 12, "city": 300, "shop": 3000}


@dataclass(frozen=True, slots=True)
class Rows:
    """Training and test rows."""

    X_train: pd.DataFrame
    y_train: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray

    def validation(self) -> "Rows":
        """Return the training rows split four to one; they are in random order."""
        cut = len(self.y_train) * 4 // 5
        return Rows(self.X_train[:cut], self.y_train[:cut], self.X_train[cut:], self.y_train[cut:])


@dataclass(frozen=True, slots=True)
class Run:
    """Training time of a model, its errors on test rows, and the mean errors of single members."""

    seconds: float
    rmse: float
    nll: float
    member_rmse: float
    member_nll: float


def draw(seed: int) -> Rows:
    """Generate a table."""
    rng = np.random.default_rng(seed)
    n = TRAINING_ROWS + HELD_OUT_ROWS
    numbers = rng.normal(size=(n, 5))
    codes = {name: _codes(rng, size, n) for name, size in CATEGORIES.items()}
    effects = {name: rng.normal(size=size) for name, size in CATEGORIES.items()}
    pairs = rng.normal(scale=0.7, size=(CATEGORIES["colour"], CATEGORIES["make"]))
    mean = (
        np.sin(2 * numbers[:, 0])
        + 0.5 * numbers[:, 1] * np.abs(numbers[:, 2])
        + 0.5 * effects["colour"][codes["colour"]] * numbers[:, 3]
        + pairs[codes["colour"], codes["make"]]
        + effects["city"][codes["city"]]
        + 0.7 * effects["shop"][codes["shop"]]
    )
    spread = np.exp(0.5 * effects["make"][codes["make"]] + 0.3 * numbers[:, 4] - 0.7)
    y = mean + spread * rng.normal(size=n)
    numbers[:, :2][rng.random((n, 2)) < 0.1] = np.nan  # noqa: PLR2004 (a tenth)
    frame = pd.DataFrame(numbers, columns=[f"x{column}" for column in range(5)])
    for name in CATEGORIES:
        frame[name] = np.char.add(name, codes[name].astype(str)).astype(object)
    for name in ("colour", "city"):
        frame.loc[rng.random(n) < 0.05, name] = None  # noqa: PLR2004 (a twentieth)
    cut = TRAINING_ROWS
    return Rows(frame[:cut], y[:cut], frame[cut:], y[cut:])


def ours(rows: Rows, rate: float, members: int = MEMBERS) -> Run:
    """Train SGLB members."""
    model = EpiBoostRegressor(
        n_members=members,
        n_estimators=TREES,
        learning_rate=rate,
        max_depth=DEPTH,
        l2=L2,
        n_jobs=THREADS,
        random_state=0,
        out_of_fold=0,
    )
    return _evaluate(lambda: model.fit(rows.X_train, rows.y_train), lambda: model.predict_posterior(rows.X_test), rows)


def catboost(rows: Rows, rate: float) -> Run:
    """Train one SGLB model of CatBoost; its pool is built before timing starts."""
    train, test = (X.fillna(dict.fromkeys(CATEGORIES, "missing")) for X in (rows.X_train, rows.X_test))
    pool = Pool(train, rows.y_train, cat_features=list(CATEGORIES))
    model = CatBoostRegressor(
        loss_function="RMSEWithUncertainty",
        posterior_sampling=True,
        bootstrap_type="No",
        iterations=TREES,
        depth=DEPTH,
        learning_rate=rate,
        l2_leaf_reg=L2,
        thread_count=THREADS,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )
    return _evaluate(lambda: model.fit(pool), lambda: Posterior(model.predict(test)[np.newaxis], "normal"), rows)


def compare(_: int) -> None:
    """Print ten members of ours and one CatBoost model, for each table."""
    print(f"{TRAINING_ROWS:,} rows of mixed columns, {HELD_OUT_ROWS:,} held out; {MEMBERS} SGLB members and CatBoost")
    print(f"{TREES} trees, depth {DEPTH}, the better of rates {RATES} on a validation part")
    print(
        "| table | RMSE CatBoost | ours | ratio | one member | NLL CatBoost | ours | difference | one member | rates "
        "| training CatBoost | ours | ratio |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for seed in SEEDS:
        rows = draw(seed)
        part = rows.validation()
        trials = {rate: (catboost(part, rate), ours(part, rate, members=2)) for rate in RATES}
        their_rate, our_rate = (min(RATES, key=lambda rate, who=who: trials[rate][who].nll) for who in (0, 1))
        theirs, mine = catboost(rows, their_rate), ours(rows, our_rate)
        print(
            f"| {seed} | {theirs.rmse:.4f} | {mine.rmse:.4f} | {mine.rmse / theirs.rmse:.3f} | {mine.member_rmse:.4f} "
            f"| {theirs.nll:.4f} | {mine.nll:.4f} | {mine.nll - theirs.nll:+.4f} | {mine.member_nll:.4f} "
            f"| {their_rate}, {our_rate} | {theirs.seconds:.1f} s | {mine.seconds:.1f} s "
            f"| {mine.seconds / theirs.seconds:.2f} |",
            flush=True,
        )


def _codes(rng: np.random.Generator, size: int, n: int) -> np.ndarray:
    """Draw categories; if there are many, some are common and most are rare."""
    share = np.ones(size) if size <= CATEGORIES["make"] else 1 / np.arange(10, size + 10)
    return rng.choice(size, size=n, p=share / share.sum())


def _evaluate(train: Callable[[], Any], predict: Callable[[], Posterior], rows: Rows) -> Run:
    start = perf_counter()
    train()
    seconds = perf_counter() - start
    posterior = predict()
    members = [_errors(Posterior(own[np.newaxis], "normal"), rows.y_test) for own in posterior.parameters]
    return Run(seconds, *_errors(posterior, rows.y_test), *map(float, np.mean(members, axis=0)))


def _errors(posterior: Posterior, y: np.ndarray) -> tuple[float, float]:
    """Return RMSE and negative log-likelihood."""
    return float(np.sqrt(np.mean((posterior.mean - y) ** 2))), -float(np.mean(posterior.logpdf(y)))
