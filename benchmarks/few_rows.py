"""Models of few rows: a classifier that is not too sure, and knowledge uncertainty as an amount.

Rows are drawn from a dataset and the model is judged on others. `classifiers` compares log-loss with CatBoost's default
and with the shares of the classes. `knowledge` compares mean knowledge uncertainty with the disagreement between five
default models that are trained on other rows: the variance of their predictions, or their mutual information.
"""

import numpy as np
from catboost import CatBoostClassifier
from sklearn.metrics import log_loss

from epiboost import EpiBoostClassifier, EpiBoostRegressor, Posterior
from epiboost.datasets import Table, load
from epiboost.metrics import expected_calibration_error

THREADS = 2
ROWS = (300, 1000, 3000)
TEST_ROWS = 5000
CLASSIFICATION = ("adult", "internet", "kick")
REGRESSION = ("protein", "power", "kin8nm")
MODELS = 5


def draw(table: Table, n: int, seed: int, n_parts: int = 1) -> tuple[list[np.ndarray], np.ndarray]:
    """Return rows of some models, disjoint where the table is large enough, and other rows for the test."""
    random = np.random.default_rng([n, seed])
    order = random.permutation(len(table.y))
    n_test = min(TEST_ROWS, len(order) // 5)
    test, pool = order[:n_test], order[n_test:]
    if n_parts * n <= len(pool):
        return np.split(pool[: n_parts * n], n_parts), test
    return [random.choice(pool, n, replace=False) for _ in range(n_parts)], test


def catboost(table: Table, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """Return the probabilities of CatBoost's default classifier."""
    X = table.X.copy()
    X[list(table.categories)] = X[list(table.categories)].astype(str)
    options = {"verbose": False, "allow_writing_files": False, "thread_count": THREADS, "random_seed": seed}
    model = CatBoostClassifier(cat_features=list(table.categories), **options).fit(X.iloc[train], table.y[train])
    return model.predict_proba(X.iloc[test])


def classifiers(n_draws: int = 10) -> None:
    """Print log-loss, calibration error and total uncertainty of the default classifier."""
    print(f"the default classifier on few rows, mean of {n_draws} draws")
    print("| table | rows | log-loss | CatBoost | ratio | class shares | calibration error | CatBoost | total |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in CLASSIFICATION:
        table = load(name)
        for n in ROWS:
            found = []
            for seed in range(n_draws):
                (train,), test = draw(table, n, seed)
                classes, codes = np.unique(table.y[train], return_inverse=True)
                test = test[np.isin(table.y[test], classes)]
                model = EpiBoostClassifier(n_jobs=THREADS, random_state=seed).fit(table.X.iloc[train], table.y[train])
                posterior = model.predict_posterior(table.X.iloc[test])
                shares = np.tile(np.bincount(codes) / n, (len(test), 1))
                theirs = catboost(table, train, test, seed)
                y = table.y[test]
                found.append(
                    [
                        *(log_loss(y, one, labels=classes) for one in (posterior.mean, theirs, shares)),
                        expected_calibration_error(y, posterior),
                        expected_calibration_error(y, Posterior(theirs[np.newaxis], "categorical", classes)),
                        posterior.uncertainty().total.mean(),
                    ]
                )
            ours, peer, chance, error, their_error, total = np.mean(found, axis=0)
            print(
                f"| {name} | {n} | {ours:.4f} | {peer:.4f} | {ours / peer:.3f} | {chance:.4f} | {error:.4f} "
                f"| {their_error:.4f} | {total:.4f} |",
                flush=True,
            )


def knowledge() -> None:
    """Print mean knowledge uncertainty beside the disagreement between models on other rows."""
    print(f"mean knowledge uncertainty, and the disagreement between {MODELS} default models on other rows")
    print("| table | rows | knowledge | disagreement | ratio |")
    print("|---|---|---|---|---|")
    for name in (*REGRESSION, "adult"):
        table = load(name)
        estimator = EpiBoostClassifier if name == "adult" else EpiBoostRegressor
        for n in ROWS:
            parts, test = draw(table, n, 0, MODELS)
            rows = (lambda index: table.X.iloc[index]) if name == "adult" else (lambda index: table.X[index])  # noqa: B023
            posteriors = [
                estimator(n_jobs=THREADS, random_state=seed)
                .fit(rows(part), table.y[part])
                .predict_posterior(rows(test))
                for seed, part in enumerate(parts)
            ]
            own = float(np.mean([posterior.uncertainty().knowledge.mean() for posterior in posteriors]))
            means = np.stack([posterior.mean for posterior in posteriors])
            if name == "adult":
                between = float(Posterior(means, "categorical").uncertainty().knowledge.mean())
            else:
                between = float(means.var(axis=0, ddof=1).mean())
            print(f"| {name} | {n} | {own:.4g} | {between:.4g} | {own / between:.2f} |", flush=True)
