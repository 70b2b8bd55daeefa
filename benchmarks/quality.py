"""Compare quality on held-out rows with CatBoost's, on the paper's datasets.

EPIBOOST_DATA=folder python benchmarks/quality.py catboost     regression: one SGLB model of each, same settings
EPIBOOST_DATA=folder python benchmarks/quality.py defaults     regression: the default, ten members, untuned
EPIBOOST_DATA=folder python benchmarks/quality.py few-rows     classification of few rows, half an hour
EPIBOOST_DATA=folder python benchmarks/quality.py knowledge    knowledge uncertainty as an amount
EPIBOOST_DATA=folder python benchmarks/quality.py categories   classification with categories, half an hour
EPIBOOST_DATA=folder python benchmarks/quality.py default-classifier   the default on the same tables
EPIBOOST_DATA=folder python benchmarks/quality.py price        time that random structures and out-of-fold chains take
python benchmarks/quality.py heart                             knowledge uncertainty around a heart-shaped hole
python benchmarks/quality.py mixed-regression                  regression on generated tables of numbers and categories
"""

import argparse
from collections.abc import Callable

import categories
import defaults
import few_rows
import heart
import mixed_regression
import numpy as np
import price
from catboost import CatBoostRegressor
from uci import Split, splits

from epiboost import EpiBoostRegressor, Posterior

TREES, DEPTH, RATE, L2, THREADS = 1000, 6, 0.1, 3.0, 2
COMPARED = ("concrete", "kin8nm", "power", "protein", "wine")

Model = Callable[[Split, int], Posterior]


def catboost(split: Split, seed: int) -> Posterior:
    """Train CatBoost's SGLB model of mean and variance."""
    model = CatBoostRegressor(
        loss_function="RMSEWithUncertainty",
        posterior_sampling=True,
        bootstrap_type="No",
        iterations=TREES,
        depth=DEPTH,
        learning_rate=RATE,
        l2_leaf_reg=L2,
        thread_count=THREADS,
        random_seed=seed,
        verbose=False,
        allow_writing_files=False,
    ).fit(split.X_train, split.y_train)
    return Posterior(model.predict(split.X_test)[np.newaxis], "normal")


def ours(**parameters: float) -> Model:
    """Return a function that trains our regressor with its defaults and the given parameters."""

    def train(split: Split, seed: int) -> Posterior:
        size = {"n_estimators": TREES, "learning_rate": RATE, "max_depth": DEPTH}
        model = EpiBoostRegressor(n_jobs=THREADS, random_state=seed, out_of_fold=0, **{**size, **parameters})
        return model.fit(split.X_train, split.y_train).predict_posterior(split.X_test)

    return train


def scores(model: Model, name: str, n_splits: int) -> tuple[float, float]:
    """Return RMSE and negative log-likelihood on held-out rows, averaged over splits."""
    results = []
    for seed, split in enumerate(splits(name, n_splits)):
        posterior = model(split, seed)
        error = float(np.sqrt(np.mean((posterior.mean - split.y_test) ** 2)))
        results.append((error, -float(np.mean(posterior.logpdf(split.y_test)))))
    rmse, nll = np.mean(results, axis=0)
    return float(rmse), float(nll)


def compare(n_splits: int) -> None:
    """Print one SGLB model of ours and one of CatBoost."""
    print(f"one SGLB model, {TREES} trees, depth {DEPTH}, rate {RATE}, l2 {L2}, mean of {n_splits} standard splits")
    print("| table | RMSE CatBoost | ours | ratio | ours, guard off | ratio | NLL CatBoost | ours | ours, guard off |")
    print("|---|---|---|---|---|---|---|---|---|")
    same = {"n_members": 1, "n_estimators": TREES, "max_depth": DEPTH, "learning_rate": RATE, "l2": L2}
    for name in COMPARED:
        theirs = scores(catboost, name, n_splits)
        guarded = scores(ours(**same), name, n_splits)
        plain = scores(ours(**same, variance_guard=0), name, n_splits)
        print(
            f"| {name} | {theirs[0]:.4f} | {guarded[0]:.4f} | {guarded[0] / theirs[0]:.3f} | {plain[0]:.4f} "
            f"| {plain[0] / theirs[0]:.3f} | {theirs[1]:.3f} | {guarded[1]:.3f} | {plain[1]:.3f} |",
            flush=True,
        )


JOBS = {
    "catboost": compare,
    "defaults": defaults.compare,
    "few-rows": lambda _: few_rows.classifiers(),
    "knowledge": lambda _: few_rows.knowledge(),
    "categories": categories.compare,
    "default-classifier": categories.compare_defaults,
    "price": lambda _: price.compare(),
    "heart": lambda _: heart.compare(),
    "mixed-regression": mixed_regression.compare,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("jobs", nargs="*", metavar="job", help=f"one of {', '.join(JOBS)}; default: the first two")
    jobs = parser.parse_args().jobs or list(JOBS)[:2]
    if unknown := [job for job in jobs if job not in JOBS]:
        parser.error(f"there is no job {unknown[0]!r}; choose from {', '.join(JOBS)}")
    for job in jobs:
        JOBS[job](5)
