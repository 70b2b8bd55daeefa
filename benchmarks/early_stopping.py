"""Compare models that stop early with models that do not: loss on test rows, and time.

EPIBOOST_DATA=folder python benchmarks/early_stopping.py [--splits 2] [--rows 8000] [--threads 2] [tables]

Each table is trained three ways on the training part of its first splits (a random three quarters where it has none):
without early stopping, with that of the defaults, by out-of-fold chains, and with a tenth of the rows held out and a
refit. Then the same with 2,000 trees at half the usual rate, far too many for most tables. A number is the ratio to the
training without early stopping: RMSE or log-loss, and time of a thread; differences of the negative log-likelihood of
a regression. Of large tables, random rows are taken.
"""

import argparse
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import train_test_split

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.datasets import load
from epiboost.metrics import negative_log_likelihood_loss

BUNDLED = {"diabetes": load_diabetes, "breast cancer": load_breast_cancer, "digits": load_digits}
PAPER = (
    "boston",
    "concrete",
    "energy",
    "kin8nm",
    "naval",
    "power",
    "protein",
    "wine",
    "yacht",
    "adult",
    "internet",
    "kick",
)
MAX_CLASSES = 10
WAYS = {"whole": {"early_stopping": False}, "default": {}, "held out": {"validation_fraction": 0.1, "refit": True}}
LENGTHS = {"auto": {}, "2000 trees": {"n_estimators": 2000, "learning_rate": 0.1, "early_stopping": True}}


def parts_of(name: str, split: int, max_rows: int) -> list[Any]:
    """Return training and test rows of a split."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        return list(train_test_split(X, y, test_size=0.25, random_state=split))
    table = load(name)
    X, y = table.X, np.asarray(table.y)
    if split < len(table.splits):
        train, test = table.splits[split]
    else:
        train, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=split)
    rng = np.random.default_rng(split)
    train, test = (np.sort(rng.permutation(rows)[:max_rows]) for rows in (train, test))
    take = X.iloc.__getitem__ if hasattr(X, "iloc") else X.__getitem__
    return [take(train), take(test), y[train], y[test]]


def measure(parts: list[Any], options: dict[str, Any], threads: int) -> tuple[float, float, float, int]:
    """Return the error, the negative log-likelihood, the time of a thread and the number of trees."""
    X_train, X_test, y_train, y_test = parts
    is_regression = y_train.dtype.kind == "f" and len(np.unique(y_train)) > MAX_CLASSES
    estimator = EpiBoostRegressor if is_regression else EpiBoostClassifier
    start = time.process_time()
    model = estimator(random_state=0, n_jobs=threads, **options).fit(X_train, y_train)
    seconds = time.process_time() - start
    posterior = model.predict_posterior(X_test)
    loss = negative_log_likelihood_loss(y_test, posterior)
    error = float(np.sqrt(np.mean(np.square(posterior.mean - y_test)))) if is_regression else loss
    return error, loss, seconds, int(model.n_iter_[0])


def main() -> None:
    """Print one row per table and length."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("tables", nargs="*", default=[*PAPER, *BUNDLED])
    arguments = parser.parse_args()
    print("| table | length | trees | default: error | NLL | time | trees | held out: error | NLL | time | trees |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in arguments.tables:
        for length, changes in LENGTHS.items():
            found = {way: [] for way in WAYS}
            for split in range(arguments.splits):
                parts = parts_of(name, split, arguments.rows)
                for way, options in WAYS.items():
                    found[way].append(measure(parts, {**changes, **options}, arguments.threads))
            whole, *others = (np.array(one).mean(axis=0) for one in found.values())
            cells = [
                f"{other[0] / whole[0]:.3f} | {other[1] - whole[1]:+.3f} | {other[2] / whole[2]:.2f} | {other[3]:.0f}"
                for other in others
            ]
            print(f"| {name} | {length} | {whole[3]:.0f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
