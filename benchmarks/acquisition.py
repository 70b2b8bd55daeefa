"""Compare the choice of rows to label: by knowledge uncertainty, by total uncertainty and at random.

EPIBOOST_DATA=folder python benchmarks/acquisition.py [--seeds 5] [--threads 2] [--tables boston digits]

A third of the rows, at most 2,000, are for the test; of the others at most 3,000 are the pool. A model is trained on 50
random rows of the pool, then `acquire` chooses 30 more, five times, and after each batch a new model is trained on all
labelled rows. The test error is the root mean squared error, or the log-loss of a classifier. All strategies have the
same rows and start with the same labels. Ratios are of the last error, and of its mean over the five batches.
"""

import argparse
from collections.abc import Callable
from typing import Final

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.metrics import log_loss

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.datasets import load
from epiboost.decisions import acquire
from epiboost.decisions.acquisition import Strategy

STRATEGIES: Final[tuple[Strategy, ...]] = ("random", "total", "knowledge")
UCI = ("boston", "concrete", "energy", "wine", "power", "kin8nm")
BUNDLED: Final[dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]]] = {
    "diabetes": load_diabetes,
    "digits": load_digits,
    "breast cancer": load_breast_cancer,
}
CLASSIFICATION = ("digits", "breast cancer")
N_START, BATCH, N_BATCHES = 50, 30, 5
TEST_SHARE, MAX_TEST, MAX_POOL = 1 / 3, 2_000, 3_000
OPTIONS = {"n_members": 10, "n_estimators": 200, "learning_rate": 0.1, "max_depth": 4}


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and target of a table."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    table = load(name)
    return table.X, table.y


def draw(y: np.ndarray, seed: int, *, classifies: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows of the test, of the pool, and the first labelled ones, which hold every class."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(y))
    n_test = min(MAX_TEST, round(TEST_SHARE * len(order)))
    test, pool = order[:n_test], order[n_test : n_test + MAX_POOL]
    while True:
        start = random.choice(len(pool), N_START, replace=False)
        if not classifies or len(np.unique(y[pool[start]])) == len(np.unique(y)):
            return test, pool, start


def errors(name: str, strategy: Strategy, seed: int, n_jobs: int) -> list[float]:
    """Return the test error at the start and after each batch of labels."""
    X, y = read(name)
    classifies = name in CLASSIFICATION
    test, pool, labelled = draw(y, seed, classifies=classifies)
    found = []
    for batch in range(N_BATCHES + 1):
        estimator = EpiBoostClassifier if classifies else EpiBoostRegressor
        model = estimator(**OPTIONS, n_jobs=n_jobs, random_state=seed).fit(X[pool[labelled]], y[pool[labelled]])
        if classifies:
            found.append(float(log_loss(y[test], model.predict_proba(X[test]))))
        else:
            found.append(float(np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2))))
        rest = np.setdiff1d(np.arange(len(pool)), labelled)
        chosen = acquire(model, X[pool[rest]], BATCH, strategy, random_state=1000 * seed + batch)
        labelled = np.concatenate([labelled, rest[chosen]])
    return found


def compared(runs: np.ndarray, random: np.ndarray) -> str:
    """Return the mean ratio of two errors, its standard error, and in how many seeds it is below one."""
    ratios = runs / random
    n_seeds = len(ratios)
    error = ratios.std(ddof=1) / np.sqrt(n_seeds) if n_seeds > 1 else np.nan
    return f"{ratios.mean():.3f} ± {error:.3f} ({(ratios < 1.0).sum()} of {n_seeds})"


def main() -> None:
    """Print one row per table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="number of random draws of test, pool and first labels")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tables", nargs="+", choices=[*UCI, *BUNDLED], default=[*UCI, *BUNDLED])
    options = parser.parse_args()
    labels = N_START + N_BATCHES * BATCH
    print(
        f"test error with {N_START} and {labels} labels; ratios to random choice: mean over {options.seeds} seeds "
        "± standard error (seeds below one)"
    )
    ratios = [f"{strategy} / random, {part}" for part in ("last", "mean") for strategy in STRATEGIES[1:]]
    print(f"| table | pool | {N_START} labels | {' | '.join([*STRATEGIES, *ratios])} |")
    print("|---" * (6 + len(ratios)) + "|")
    for name in options.tables:
        runs = {
            strategy: np.array([errors(name, strategy, seed, options.threads) for seed in range(options.seeds)])
            for strategy in STRATEGIES
        }
        n_pool = len(draw(read(name)[1], 0, classifies=name in CLASSIFICATION)[1])
        last = {strategy: run[:, -1] for strategy, run in runs.items()}
        mean = {strategy: run[:, 1:].mean(axis=1) for strategy, run in runs.items()}
        columns = [
            f"{runs['random'][:, 0].mean():.4g}",
            *(f"{last[strategy].mean():.4g}" for strategy in STRATEGIES),
            *(compared(part[strategy], part["random"]) for part in (last, mean) for strategy in STRATEGIES[1:]),
        ]
        print(f"| {name} | {n_pool:,} | {' | '.join(columns)} |", flush=True)


if __name__ == "__main__":
    main()
