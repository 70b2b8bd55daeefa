"""What more members are good for: likelihood, detection of foreign rows, and their Monte-Carlo errors.

Many members are trained at once, on a GPU if there is one, and divided into ensembles of 10, 30, 100 and 300 members.
Ensembles of one size differ by chance alone: the deviation between them is the Monte-Carlo error of that size. Rows,
splits and foreign rows are those of the paper. Prints the tables of docs/more-members.md.

    EPIBOOST_DATA=... python benchmarks/members.py --folds 3
"""

import argparse
from collections.abc import Iterator

import numpy as np

from epiboost import EpiBoostRegressor, Posterior
from epiboost.metrics import ood_auc_score
from epiboost.paper.problem import Fold, load_problem

NAMES = ("boston", "concrete", "energy", "kin8nm", "power", "wine", "yacht")
SIZES = (10, 30, 100, 300)
MEMBERS = 600  # two ensembles of the largest size
MEASURES = ("NLL", "error of NLL", "AUC", "error of AUC", "error of knowledge")


def folds(name: str, count: int) -> Iterator[Fold]:
    """Yield the first splits of a dataset."""
    problem = load_problem(name)
    for number in range(count):
        yield problem.fold(number)


def measure(fold: Fold, device: str) -> dict[int, np.ndarray]:
    """Return the measures of one split for each number of members."""
    model = EpiBoostRegressor(n_members=MEMBERS, out_of_fold=0, reference_rows=0, random_state=0, device=device)
    model.fit(fold.X, fold.y)
    inside = model.predict_posterior(fold.X_test).parameters
    outside = model.predict_posterior(fold.X_ood).parameters
    return {size: of_size(inside, outside, fold.y_test, size) for size in SIZES}


def of_size(inside: np.ndarray, outside: np.ndarray, y: np.ndarray, size: int) -> np.ndarray:
    """Return the measures of all disjoint ensembles of so many members: means, and deviations between them."""
    losses, areas, knowledge = [], [], []
    for first in range(0, MEMBERS, size):
        members = slice(first, first + size)
        test, foreign = (Posterior(np.ascontiguousarray(part[members]), "normal") for part in (inside, outside))
        losses.append(-test.logpdf(y).mean())
        knowledge.append(test.uncertainty().knowledge)
        both = np.concatenate([knowledge[-1], foreign.uncertainty().knowledge])
        areas.append(ood_auc_score(np.arange(len(both)) >= len(y), both))
    relative = np.std(knowledge, axis=0, ddof=1) / np.mean(knowledge, axis=0)
    error = np.sqrt(np.mean(relative**2))
    return np.array([np.mean(losses), np.std(losses, ddof=1), np.mean(areas), np.std(areas, ddof=1), error])


def table_of(measured: dict[str, list[dict[int, np.ndarray]]]) -> str:
    """Return a table with one row per dataset and number of members; errors are root mean squares over splits."""
    lines = [f"| dataset | members | {' | '.join(MEASURES)} |", f"|---|---|{'---|' * len(MEASURES)}"]
    for name, of_folds in measured.items():
        for size in SIZES:
            values = np.array([fold[size] for fold in of_folds])
            combined = np.where([0, 1, 0, 1, 1], np.sqrt((values**2).mean(axis=0)), values.mean(axis=0))
            cells = [f"{value:.4f}" for value in combined[:4]] + [f"{combined[4]:.1%}"]
            lines.append(f"| {name} | {size} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure all datasets."""
    parser = argparse.ArgumentParser(description="Compare ensembles of 10 to 300 members.")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--datasets", nargs="+", default=NAMES)
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    options = parser.parse_args()
    measured: dict[str, list[dict[int, np.ndarray]]] = {}
    for name in options.datasets:
        measured[name] = [measure(fold, options.device) for fold in folds(name, options.folds)]
        print(table_of({name: measured[name]}), flush=True)
    print(table_of(measured))


if __name__ == "__main__":
    main()
