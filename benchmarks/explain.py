"""Measure speed and accuracy of the attribution of uncertainties to features.

python benchmarks/explain.py [--rows 200] [--features 20] [--members 10] [--trees 1000] [--threads 2]

Speed: Shapley values of one measure with default settings, including the first call of an interpreter, compared with
`shap`'s PermutationExplainer on the same predictor (on a few rows, scaled up); and the exact values of the mean, by
size of the trees. Accuracy: on twelve features, where all
4096 coalitions can be evaluated, the distance of the default settings from the exact values. Range: how often a feature
outside its training range is the most important one for knowledge, over seeds.
"""

import argparse
from time import perf_counter

import numpy as np

from epiboost import EpiBoostRegressor
from epiboost.explain import attribute
from epiboost.explain.shapley import import_shap

FEW_ROWS = 5
N_EXACT = 12


def table(rows: int, features: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a table with interactions and noise that depends on a feature."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features))
    noise = 0.3 * np.exp(0.5 * X[:, 3]) * random.normal(size=rows)
    return X, 3 * X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3] + noise


def speed(options: argparse.Namespace) -> None:
    """Print run times."""
    X, y = table(5000, options.features, 0)
    model = EpiBoostRegressor(
        n_members=options.members, n_estimators=options.trees, n_jobs=options.threads, random_state=0
    ).fit(X, y)
    rows = X[: options.rows]
    for number in ("first", "second"):
        start = perf_counter()
        found = attribute(model, rows, "knowledge", background=X)
        seconds = perf_counter() - start
        gap = np.abs(found.output / model.predict_uncertainty(rows).knowledge - 1).max()
        size = f"{options.rows} rows x {options.features} features x {options.members} members of {options.trees} trees"
        print(f"{size}: {seconds:.1f} s ({number} time); sums are off by {gap:.1e} at most")
    background = X[np.random.default_rng(0).choice(len(X), 50, replace=False)]
    explainer = import_shap().PermutationExplainer(lambda Z: model.predict_uncertainty(Z).knowledge, background, seed=0)
    explainer(rows[:1], silent=True)
    start = perf_counter()
    explainer(rows[:FEW_ROWS], silent=True)
    seconds = (perf_counter() - start) * options.rows / FEW_ROWS
    print(f"shap.PermutationExplainer over the same predictor, as many predictions: {seconds:.1f} s (scaled up)")


def exact_speed(options: argparse.Namespace) -> None:
    """Print run times of the exact values of the mean."""
    X, y = table(3000, 10, 2)
    for size in ({"max_depth": 4}, {"max_depth": 6}, {"max_depth": 8}, {"max_leaves": 64}, {"max_leaves": 255}):
        model = EpiBoostRegressor(
            n_members=10, n_estimators=600, out_of_fold=0, n_jobs=options.threads, random_state=0, **size
        ).fit(X, y)
        start = perf_counter()
        attribute(model, X[:1000], "mean", background=X[:1000])
        print(f"mean, exact: 1000 rows x 10 features x 10 members of 600 trees, {size}: {perf_counter() - start:.2f} s")


def accuracy() -> None:
    """Print the distance from exact values."""
    X, y = table(3000, N_EXACT, 1)
    model = EpiBoostRegressor(n_members=5, n_estimators=200, random_state=0).fit(X, y)
    for measure in ("knowledge", "data", "total"):
        exact = attribute(model, X[:50], measure, background=X, n_coalitions=2**N_EXACT)
        default = attribute(model, X[:50], measure, background=X)
        distance = np.sqrt(np.square(default.values - exact.values).mean() / np.square(exact.values).mean())
        first = (default.values.argmax(axis=1) == exact.values.argmax(axis=1)).mean()
        print(f"{measure}: root mean square distance {distance:.1%} of the values; the same feature first {first:.0%}")


def leaving_the_range(seeds: int) -> None:
    """Print how often the feature outside its training range is the most important one."""
    for name, steep in (("the target depends on it strongly", 3.0), ("as on the others", 1.0)):
        shares = []
        for seed in range(seeds):
            random = np.random.default_rng(seed)
            X = random.normal(size=(3000, 5))
            y = X.sum(axis=1) + (steep - 1.0) * X[:, 0] + 0.3 * random.normal(size=3000)
            model = EpiBoostRegressor(n_members=10, n_estimators=200, random_state=seed).fit(X, y)
            rows = random.normal(size=(200, 5))
            rows[:, 0] = X[:, 0].max() * random.uniform(1.1, 3.0, size=200)
            shares.append((attribute(model, rows, background=X).first(1)[:, 0] == "x0").mean())
        print(f"first for knowledge, {name}: {np.mean(shares):.1%} of rows, {min(shares):.1%} in the worst of {seeds}")


def main() -> None:
    """Run all measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    speed(options)
    exact_speed(options)
    accuracy()
    leaving_the_range(options.seeds)


if __name__ == "__main__":
    main()
