"""Count what the report finds among rows like the training rows: outliers, flagged rows and drift.

EPIBOOST_DATA=folder python benchmarks/outliers.py [--seeds 3] [--threads 2]

A random half of each table, at most 2,000 rows, trains a model. Of the other rows, at most 2,000, those are counted
whose knowledge uncertainty is an outlier by the definition of the report, and those that a `DomainDetector` flags at a
false alarm rate of 0.05, by the combined measure and by novelty alone. None of them is out of domain. The tables are
compared with the training rows that the model keeps.
"""

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from uci import NAMES

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.datasets import load
from epiboost.decisions import DomainDetector
from epiboost.report.measurements.new_values import NewValues
from epiboost.report.measurements.out_of_domain import measure_out_of_domain
from epiboost.report.predictions import Predictions

MAX_ROWS = 2_000
OPTIONS = {"n_members": 10, "n_estimators": 100, "learning_rate": 0.1, "max_depth": 4}
BUNDLED = {"diabetes": load_diabetes, "breast cancer": load_breast_cancer, "digits": load_digits}
CLASSIFICATION = ("breast cancer", "digits", "adult")
NOTHING_NEW = NewValues(ranges=False, n_rows=0, n_unseen=0, columns=(), share_by_chance=0.0)


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the numeric features and the target of a table."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    table = load(name)
    return (table.X.select_dtypes("number").to_numpy() if name == "adult" else table.X), table.y


def measure(name: str, seed: int, n_jobs: int) -> tuple[float, float, float, float, int]:
    """Return shares of held-out rows, the p-value of drift, and the number of kept rows.

    The shares are those of outliers, of rows flagged by the combined measure, and of rows flagged by novelty.
    """
    X, y = read(name)
    order = np.random.default_rng(seed).permutation(len(y))
    n_train = min(len(y) // 2, MAX_ROWS)
    train, held_out = order[:n_train], order[n_train : n_train + MAX_ROWS]
    estimator = EpiBoostClassifier if name in CLASSIFICATION else EpiBoostRegressor
    model = estimator(**OPTIONS, n_jobs=n_jobs, random_state=0).fit(X[train], y[train])
    predictions = Predictions.from_posterior(model.predict_posterior(X[held_out]))
    found = measure_out_of_domain(predictions, NOTHING_NEW, np.zeros(len(held_out), dtype=bool))
    combined = DomainDetector(model).fit().drift(X[held_out])
    novelty = DomainDetector(model, measure="novelty").fit().predict(X[held_out]) == -1
    outliers = (found.n_outliers or 0) / len(held_out)
    return outliers, combined.share_outside, float(novelty.mean()), combined.p_value, len(model.reference_rows_)


def main() -> None:
    """Print one row per table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="number of random halves")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    print("| table | kept rows | outliers, per half | flagged, combined | flagged, novelty | p-value of drift |")
    print("|---|---|---|---|---|---|")
    for name in (*NAMES, *BUNDLED, "adult"):
        *shares, p_values, kept = zip(
            *(measure(name, seed, options.threads) for seed in range(options.seeds)), strict=True
        )
        texts = [", ".join(f"{100 * share:.2f} %" for share in part) for part in shares]
        drift = ", ".join(f"{p_value:.3f}" for p_value in p_values)
        print(f"| {name} | {min(kept):,} | {' | '.join(texts)} | {drift} |", flush=True)


if __name__ == "__main__":
    main()
