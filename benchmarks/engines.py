"""Compare the SGLB ensembles of the boosting engines: likelihood, and detection of out-of-domain rows.

EPIBOOST_DATA=folder python benchmarks/engines.py

Out-of-domain rows are rows of another dataset, rescaled to the means and deviations of this one.
"""

import sys

import numpy as np
from sklearn.metrics import roc_auc_score
from uci import Split, splits

from epiboost import EpiBoostRegressor

ENGINES = ("native", "catboost", "lightgbm", "xgboost")
OTHER = {"concrete": "kin8nm", "kin8nm": "concrete"}
SETTINGS = {"n_members": 5, "n_estimators": 100, "max_depth": 4, "learning_rate": 0.1, "n_jobs": 2}


def scores(engine: str, split: Split, X_ood: np.ndarray, seed: int, guard: float = 0.0) -> tuple[float, float]:
    """Return the negative log-likelihood of test rows, and the AUC of knowledge for out-of-domain rows."""
    guards = {} if engine == "catboost" else {"variance_guard": guard}
    model = EpiBoostRegressor(engine=engine, random_state=seed, **SETTINGS, **guards).fit(split.X_train, split.y_train)
    nll = -float(model.predict_posterior(split.X_test).logpdf(split.y_test).mean())
    known, unknown = (model.predict_uncertainty(table).knowledge for table in (split.X_test, X_ood))
    truth = np.repeat([0, 1], [len(known), len(unknown)])
    return nll, float(roc_auc_score(truth, np.concatenate([known, unknown])))


def out_of_domain_rows(split: Split, other: Split) -> np.ndarray:
    """Return as many rows of another dataset as this one has test rows, rescaled to this one."""
    rows = other.X_test[: len(split.X_test)]
    rows = (rows - other.X_train.mean(axis=0)) / other.X_train.std(axis=0)
    return rows * split.X_train.std(axis=0) + split.X_train.mean(axis=0)


def compare(n_splits: int) -> None:
    """Print one row per dataset and engine: means over splits, and deviations over as many seeds on the first split."""
    print(f"{SETTINGS}, no variance guard, mean of {n_splits} standard splits (± over as many seeds on the first)")
    print("| table | engine | NLL | AUC of knowledge | NLL, AUC with the guard (catboost has none) |")
    print("|---|---|---|---|---|")
    for name, other in OTHER.items():
        pairs = zip(splits(name, n_splits), splits(other, n_splits), strict=True)
        folds = [(split, out_of_domain_rows(split, other_split)) for split, other_split in pairs]
        for engine in ENGINES:
            over_splits = [scores(engine, *fold, 0) for fold in folds]
            over_seeds = [scores(engine, *folds[0], seed) for seed in range(n_splits)]
            (nll, auc), (nll_spread, auc_spread) = np.mean(over_splits, axis=0), np.std(over_seeds, axis=0, ddof=1)
            guarded = np.mean([scores(engine, *fold, 0, 1.0) for fold in folds], axis=0)
            row = f"| {name} | {engine} | {nll:.3f} ± {nll_spread:.3f} | {auc:.3f} ± {auc_spread:.3f} |"
            print(f"{row} {guarded[0]:.3f}, {guarded[1]:.3f} |", flush=True)


if __name__ == "__main__":
    compare(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
