"""The paper's tables, and the one it lacks, as entries: each figure of ours beside the published one.

A table is a list of entries; `epiboost.paper.tables.render` makes Markdown, LaTeX and CSV of them.
"""

from dataclasses import dataclass

import numpy as np

from epiboost.paper.cells.results import Results
from epiboost.paper.problem import CLASSIFICATION, REGRESSION, n_folds
from epiboost.paper.tables.published import Published, published

BOOSTED = ("sgb_single", "sglb_single", "sgb_ensemble", "sglb_ensemble", "vsglb")
PRR = ("prr_total", "prr_knowledge")
AUC = ("ood_auc_total", "ood_auc_knowledge")

HEADINGS = {
    "sgb_single": "SGB",
    "sglb_single": "SGLB",
    "sgb_ensemble": "SGB ensemble",
    "sglb_ensemble": "SGLB ensemble",
    "vsglb": "vSGLB",
    "rf_single": "RF",
    "rf_ensemble": "RF ensemble",
    "vrf": "vRF",
    "deep_ensembles": "Deep Ensembles",
    "ngboost": "NGBoost",
    "catboost_sgb": "SGB",
    "single": "one model",
    "short_10": "10 chains of 100 trees",
    "short_20": "20 chains of 50 trees",
}
METRICS = {
    "nll": "NLL",
    "rmse": "RMSE",
    "error_percent": "error, %",
    "prr_total": "PRR, total",
    "prr_knowledge": "PRR, knowledge",
    "ood_auc_total": "OOD AUC, total",
    "ood_auc_knowledge": "OOD AUC, knowledge",
    "train_seconds": "training, CPU s",
}
NAMES = {
    "adult": "Adult",
    "amazon": "Amazon",
    "click": "Click",
    "internet": "Internet",
    "appetency": "KDD-Appetency",
    "churn": "KDD-Churn",
    "upselling": "KDD-Upselling",
    "kick": "Kick",
    "boston": "Boston",
    "concrete": "Concrete",
    "energy": "Energy",
    "kin8nm": "Kin8nm",
    "naval": "Naval",
    "power": "Power",
    "protein": "Protein",
    "wine": "Wine",
    "yacht": "Yacht",
    "year": "Year MSD",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a table: datasets, metrics and methods.

    Attributes
    ----------
    source : str
        The published table, as the CSV file calls it; empty if the paper has none.
    groups : tuple of tuples
        Metrics; those of a group are compared with each other, as the paper does with total and knowledge uncertainty.
    ours : dict
        The method of ours that stands beside a published one, where they have different names.
    """

    title: str
    source: str
    datasets: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    methods: tuple[str, ...]
    ours: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One figure.

    Attributes
    ----------
    value, spread : float or None
        Ours: mean and standard deviation over folds; None if there is none.
    folds : int
        Of how many.
    best : bool
        Not told apart from the best of ours.
    published : Published or None
    """

    block: str
    dataset: str
    metric: str
    method: str
    value: float | None
    spread: float | None
    folds: int
    best: bool
    published: Published | None

    @property
    def difference(self) -> float | None:
        """Ours less the published; none where ours is of other folds."""
        if self.value is None or self.published is None or not self.all_folds:
            return None
        return self.value - self.published.value

    @property
    def all_folds(self) -> bool:
        """Whether every standard split is in it."""
        return self.folds == n_folds(self.dataset)


TABLES: dict[str, tuple[Block, ...]] = {
    "uncertainty": (
        Block("Classification", "uncertainty", CLASSIFICATION, (PRR, AUC), BOOSTED),
        Block("Regression", "uncertainty", REGRESSION, (PRR, AUC), BOOSTED),
    ),
    "prediction": (
        Block("Classification", "prediction", CLASSIFICATION, (("nll",), ("error_percent",)), BOOSTED),
        Block("Regression", "prediction", REGRESSION, (("nll",), ("rmse",)), BOOSTED),
    ),
    "comparison": (
        Block(
            "Regression",
            "comparison",
            REGRESSION,
            (("rmse",), ("nll",)),
            ("deep_ensembles", "ngboost", "catboost_sgb"),
            (("catboost_sgb", "sgb_single"),),
        ),
    ),
    "forest": (
        Block(
            "Classification: NLL and error",
            "rf_classification",
            CLASSIFICATION,
            (("nll",), ("error_percent",)),
            ("sglb_single", "rf_single", "sglb_ensemble", "rf_ensemble"),
        ),
        Block(
            "Regression: RMSE",
            "rf_regression",
            REGRESSION,
            (("rmse",),),
            ("sglb_single", "rf_single", "sglb_ensemble", "rf_ensemble"),
        ),
        Block(
            "Classification: detection",
            "uncertainty_rf",
            CLASSIFICATION,
            (PRR, AUC),
            ("vsglb", "vrf", "sglb_ensemble", "rf_ensemble"),
        ),
        Block(
            "Regression: detection",
            "uncertainty_rf",
            REGRESSION,
            (PRR, AUC),
            ("vsglb", "vrf", "sglb_ensemble", "rf_ensemble"),
        ),
    ),
    "budget": tuple(
        Block(
            title,
            "",
            datasets,
            (("nll",), (error,), PRR, AUC, ("train_seconds",)),
            ("single", "vsglb", "short_10", "short_20"),
        )
        for title, datasets, error in (
            ("Classification", CLASSIFICATION, "error_percent"),
            ("Regression", REGRESSION, "rmse"),
        )
    ),
}

TITLES = {
    "uncertainty": "Detection of errors (PRR) and of foreign rows (OOD AUC)",
    "prediction": "Negative log-likelihood, RMSE and error",
    "comparison": "Beside NGBoost and Deep Ensembles",
    "forest": "Beside random forests",
    "budget": "A thousand trees in all",
}


def build(name: str, results: Results) -> list[Entry]:
    """Return the entries of a table, those of datasets without cells among them.

    Parameters
    ----------
    name : str
        One of `TABLES`.
    results : Results
    """
    entries = []
    for block in TABLES[name]:
        for dataset in block.datasets:
            for group in block.groups:
                entries += _group(block, dataset, group, results)
    return entries


def _group(block: Block, dataset: str, group: tuple[str, ...], results: Results) -> list[Entry]:
    own = dict(block.ours)
    best = results.best(dataset, group, [own.get(method, method) for method in block.methods])
    entries = []
    for metric in group:
        for method in block.methods:
            ours = own.get(method, method)
            values = results.values(dataset, metric, ours)
            finite = np.empty(0) if values is None else values[np.isfinite(values)]
            entries.append(
                Entry(
                    block=block.title,
                    dataset=dataset,
                    metric=metric,
                    method=method,
                    value=float(finite.mean()) if len(finite) else None,
                    spread=float(finite.std()) if len(finite) > 1 else None,
                    folds=len(finite),
                    best=(metric, ours) in best and metric != "train_seconds",
                    published=published().get((block.source, dataset, metric, method)),
                )
            )
    return entries
