"""Training time against held-out loss: ten members of ours beside one CatBoost model, each at several settings.

EPIBOOST_DATA=folder python benchmarks/time_and_loss.py [--tables protein kin8nm]

A model is on the front if no other is both faster and better. Two threads each, the first standard split, one run each.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from catboost import CatBoostRegressor
from uci import Split, splits

from epiboost import EpiBoostRegressor, Posterior

THREADS = 2
DEPTHS, TREES = (6, 8, 10), (300, 1000, 3000)
OURS: dict[str, dict[str, object]] = {
    "default": {},
    "default, no out-of-fold chains": {"out_of_fold": 0},
    "depth 6, 1000 trees": {"max_depth": 6, "n_estimators": 1000, "learning_rate": 0.1},
    "64 leaves, 400 trees": {"max_leaves": 64, "n_estimators": 400},
    "255 leaves, 400 trees": {"max_leaves": 255, "n_estimators": 400},
}


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds of training, RMSE and NLL of a model on held-out rows."""

    name: str
    seconds: float
    rmse: float
    nll: float

    def is_beaten_by(self, other: "Run") -> bool:
        """Return whether another model is faster and has the lower NLL."""
        return other.seconds < self.seconds and other.nll < self.nll


def catboost(depth: int, trees: int, split: Split) -> Callable[[], Posterior]:
    """Train CatBoost's model of mean and variance at its own learning rate; return its prediction."""
    model = CatBoostRegressor(
        loss_function="RMSEWithUncertainty",
        iterations=trees,
        depth=depth,
        thread_count=THREADS,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    ).fit(split.X_train, split.y_train)
    return lambda: Posterior(model.predict(split.X_test)[np.newaxis], "normal")


def ours(settings: dict[str, object], split: Split) -> Callable[[], Posterior]:
    """Train ten members; return their prediction."""
    model = EpiBoostRegressor(n_jobs=THREADS, random_state=0, **settings).fit(split.X_train, split.y_train)
    return lambda: model.predict_posterior(split.X_test)


def runs(split: Split) -> Iterator[Run]:
    """Yield every model of both libraries."""
    trainings = {f"ours, {name}": (ours, (settings,)) for name, settings in OURS.items()}
    trainings |= {
        f"CatBoost, depth {depth}, {trees} trees": (catboost, (depth, trees)) for depth in DEPTHS for trees in TREES
    }
    for name, (train, arguments) in trainings.items():
        start = perf_counter()
        predict = train(*arguments, split)
        seconds = perf_counter() - start
        posterior = predict()
        rmse = float(np.sqrt(np.mean((posterior.mean - split.y_test) ** 2)))
        yield Run(name, seconds, rmse, -float(posterior.logpdf(split.y_test).mean()))


def main() -> None:
    """Print the table of each dataset, ordered by time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=["protein", "kin8nm"])
    for name in parser.parse_args().tables:
        (split,) = splits(name, 1)
        found = sorted(runs(split), key=lambda run: run.seconds)
        print(f"\n{name}, {len(split.y_train):,} rows")
        print("| model | seconds | RMSE | NLL | on the front |\n|---|---|---|---|---|")
        for run in found:
            front = "" if any(run.is_beaten_by(other) for other in found) else "yes"
            print(f"| {run.name} | {run.seconds:.1f} | {run.rmse:.4g} | {run.nll:.3f} | {front} |", flush=True)


if __name__ == "__main__":
    main()
