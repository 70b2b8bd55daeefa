"""Trials behind docs/paper.md: a virtual ensemble at other rates, and which columns give kick's foreign rows away.

python benchmarks/paper_trials.py rates kick     (a minute on two cores; EPIBOOST_DATA names the data)
"""

import sys

import numpy as np

from epiboost.paper.cells.cell import CellKey
from epiboost.paper.cells.provenance import seed_of
from epiboost.paper.methods.boosted import Model, Trainer
from epiboost.paper.methods.evaluation import evaluate
from epiboost.paper.problem import problem
from epiboost.paper.protocol import PAPER

VIRTUAL = {"amazon": (6, 1), "adult": (5, 1), "internet": (3, 1), "energy": (6, 5), "yacht": (6, 5)}
"""The depth that the grid chose most often, and on how many folds a trial is made."""

RATES = (0.01, 0.03, 0.1, 0.3)
FIGURES = ("nll", "prr_total", "prr_knowledge", "ood_auc_total", "ood_auc_knowledge")


def trainer(name: str, number: int = 0) -> Trainer:
    """Return what trains on a fold, with the seed of its cells."""
    return Trainer(problem(name).fold(number), PAPER, "native", seed_of(CellKey("native", name, number, "sglb")), None)


def chain(own: Trainer, depth: int, rate: float) -> Model:
    """Return a virtual ensemble."""
    return own.train(own.fold.X, own.fold.y, ensemble="virtual", n_members=10, max_depth=depth, learning_rate=rate)


def rates() -> None:
    """Print the figures of the virtual ensemble by rate."""
    for name, (depth, n_folds) in VIRTUAL.items():
        for rate in RATES:
            found = [own.judge(chain(own, depth, rate)) for own in (trainer(name, fold) for fold in range(n_folds))]
            means = {metric: np.mean([one[metric] for one in found]) for metric in FIGURES}
            print(f"{name}, depth {depth}, rate {rate}:", *(f"{metric} {value:.3g}" for metric, value in means.items()))


def kick() -> None:
    """Print the areas when only some columns of the test rows are made foreign."""
    own = trainer("kick")
    fold, model = own.fold, chain(own, 3, 0.1)
    inside = model.predict_posterior(fold.X_test)
    categories = list(fold.categorical)
    numbers = [column for column in range(fold.X.shape[1]) if column not in categories]
    for name, columns in {"all": categories + numbers, "numbers": numbers, "categories": categories}.items():
        rows = fold.X_test.copy()
        rows[:, columns] = fold.X_ood[:, columns]
        found = measure(inside, model.predict_posterior(rows), fold)
        print(f"kick, foreign {name}: total {found['ood_auc_total']:.1f}, knowledge {found['ood_auc_knowledge']:.1f}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        {"rates": rates, "kick": kick}[name]()
