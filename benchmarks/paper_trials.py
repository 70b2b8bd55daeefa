"""Trials that docs/paper.md mentions: virtual ensembles at other rates, and out-of-domain columns of kick.

python benchmarks/paper_trials.py rates kick     (a minute on two cores; EPIBOOST_DATA names the data folder)
"""

import sys

import numpy as np

from epiboost.paper.cells.cell import CellKey
from epiboost.paper.cells.provenance import seed_of
from epiboost.paper.methods.boosted import Model, Trainer
from epiboost.paper.methods.evaluation import evaluate
from epiboost.paper.problem import load_problem
from epiboost.paper.protocol import PAPER

VIRTUAL = {"amazon": (6, 1), "adult": (5, 1), "internet": (3, 1), "energy": (6, 5), "yacht": (6, 5)}
"""The depth that the grid chose most often, and the number of folds of the trial."""

RATES = (0.01, 0.03, 0.1, 0.3)
METRICS = ("nll", "prr_total", "prr_knowledge", "ood_auc_total", "ood_auc_knowledge")


def trainer(name: str, number: int = 0) -> Trainer:
    """Return the trainer of a fold, with the seed of its cells."""
    seed = seed_of(CellKey("native", name, number, "sglb"))
    return Trainer(load_problem(name).fold(number), PAPER, engine="native", seed=seed, n_jobs=None)


def virtual_ensemble(own: Trainer, depth: int, rate: float) -> Model:
    """Train a virtual ensemble on all training rows of a fold."""
    parameters = {"ensemble": "virtual", "n_members": 10, "max_depth": depth, "learning_rate": rate}
    return own.train_on_all_rows(parameters)


def rates() -> None:
    """Print the scores of the virtual ensemble by rate."""
    for name, (depth, n_folds) in VIRTUAL.items():
        for rate in RATES:
            trainers = [trainer(name, fold) for fold in range(n_folds)]
            scores = [own.evaluate(virtual_ensemble(own, depth, rate)) for own in trainers]
            means = {metric: np.mean([one[metric] for one in scores]) for metric in METRICS}
            print(f"{name}, depth {depth}, rate {rate}:", *(f"{metric} {value:.3g}" for metric, value in means.items()))


def kick() -> None:
    """Print the AUC if only some columns of the test rows are replaced by out-of-domain ones."""
    own = trainer("kick")
    fold, model = own.fold, virtual_ensemble(own, 3, 0.1)
    posterior = model.predict_posterior(fold.X_test)
    categories = list(fold.categorical)
    numbers = [column for column in range(fold.X.shape[1]) if column not in categories]
    for name, columns in {"all": categories + numbers, "numbers": numbers, "categories": categories}.items():
        rows = fold.X_test.copy()
        rows[:, columns] = fold.X_ood[:, columns]
        scores = evaluate(posterior, model.predict_posterior(rows), fold)
        areas = f"total {scores['ood_auc_total']:.1f}, knowledge {scores['ood_auc_knowledge']:.1f}"
        print(f"kick, {name} out of domain: {areas}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        {"rates": rates, "kick": kick}[name]()
