"""Deep trees: ten members of ours beside one LightGBM model on generated tables whose thresholds interact.

python benchmarks/deep_trees.py [--rows 100000 500000]

The table is like that of forest covers: ten columns of numbers, 44 flags, and seven classes that follow a random tree
of many leaves, with a few labels at random. LightGBM is trained with {31, 127, 255} leaves and {300, 1000} trees, ours
with leaf-wise trees of a few sizes and by its defaults. Log-loss is that of 20,000 other rows.
"""

import argparse
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.metrics import log_loss

from epiboost import EpiBoostClassifier

THREADS = 2
TEST_ROWS = 20_000
NUMBERS, FLAGS, CLASSES = 10, 44, 7
SHARES = np.array([0.36, 0.30, 0.12, 0.08, 0.06, 0.05, 0.03])
NOISE = 0.03
NUMBER_SHARE = 0.75  # of the splits
DEPTH = 10
LEAVES, TREES = (31, 127, 255), (300, 1000)
OURS = (
    {"max_leaves": 127, "n_estimators": 100, "learning_rate": 0.3, "out_of_fold": 0},
    {"max_leaves": 255, "n_estimators": 100, "learning_rate": 0.3, "out_of_fold": 0},
    {"max_leaves": 255, "n_estimators": 75, "learning_rate": 0.4, "out_of_fold": 0},
    {},
)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows to train on, and rows to test."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def table(n: int, seed: int = 0) -> Rows:
    """Return a generated table."""
    random = np.random.default_rng(seed)
    total = n + TEST_ROWS
    numbers = random.normal(size=(total, NUMBERS)) @ (np.eye(NUMBERS) + 0.3 * random.normal(size=(NUMBERS, NUMBERS)))
    numbers[:, 3] = np.exp(0.5 * numbers[:, 3])
    numbers[:, 7] = np.round(20.0 * numbers[:, 7])
    flags = np.zeros((total, FLAGS))
    quarter = np.digitize(numbers[:, 0], np.quantile(numbers[:, 0], [0.25, 0.5, 0.75]))
    flags[np.arange(total), 10 * quarter + random.integers(0, 10, total)] = 1.0
    flags[np.arange(total), 40 + random.integers(0, 4, total)] = 1.0
    X = np.hstack([numbers, flags])
    y = np.zeros(total, dtype=int)
    _label(X, y, np.arange(total), DEPTH, random)
    changed = random.random(total) < NOISE
    y[changed] = random.integers(0, CLASSES, changed.sum())
    return Rows(X[:n], y[:n], X[n:], y[n:])


def _label(X: np.ndarray, y: np.ndarray, rows: np.ndarray, depth: int, random: np.random.Generator) -> None:
    """Give the rows of a node their classes, by random splits."""
    if depth == 0 or len(rows) < len(y) // 3000:
        y[rows] = random.choice(CLASSES, p=SHARES / SHARES.sum())
        return
    is_number = random.random() < NUMBER_SHARE
    column = int(random.integers(0, NUMBERS) if is_number else NUMBERS + random.integers(0, FLAGS))
    threshold = np.quantile(X[rows, column], random.uniform(0.2, 0.8)) if is_number else 0.5
    above = X[rows, column] > threshold
    for side in (rows[above], rows[~above]):
        if len(side):
            _label(X, y, side, depth - 1, random)


def measure(model: LGBMClassifier | EpiBoostClassifier, rows: Rows) -> tuple[float, float, float]:
    """Return seconds of training, log-loss and error on the test rows."""
    start = perf_counter()
    model.fit(rows.X, rows.y)
    seconds = perf_counter() - start
    probability = model.predict_proba(rows.X_test)
    error = float((model.classes_[probability.argmax(axis=1)] != rows.y_test).mean())
    return seconds, float(log_loss(rows.y_test, probability, labels=model.classes_)), error


def main() -> None:
    """Print the table of each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 500_000])
    options = parser.parse_args()
    for n in options.rows:
        rows = table(n)
        print(f"\n{n:,} x {NUMBERS + FLAGS}, {CLASSES} classes, {THREADS} threads")
        print("| model | seconds | log-loss | error |\n|---|---|---|---|")
        for leaves in LEAVES:
            for trees in TREES:
                peer = LGBMClassifier(n_estimators=trees, num_leaves=leaves, n_jobs=THREADS, verbose=-1)
                _print(f"LightGBM, {leaves} leaves, {trees} trees", *measure(peer, rows))
        for settings in OURS:
            model = EpiBoostClassifier(n_jobs=THREADS, random_state=0, **settings)
            found = measure(model, rows)
            used = model.capacity_
            words = f"{used.size}, {used.n_estimators} trees, learning rate {used.learning_rate:g}"
            _print(f"ten of ours, {'' if settings else 'default: '}{words}", *found)


def _print(name: str, seconds: float, loss: float, error: float) -> None:
    print(f"| {name} | {seconds:.1f} | {loss:.4f} | {error:.4f} |", flush=True)


if __name__ == "__main__":
    main()
