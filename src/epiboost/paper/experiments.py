"""The experiments by name, and the cells that each needs."""

from collections.abc import Sequence
from dataclasses import dataclass

from epiboost.paper.cells.cell import CellKey
from epiboost.paper.methods.registry import METHODS
from epiboost.paper.problem import CLASSIFICATION, DATASETS, REGRESSION, n_folds

ENGINES = ("native", "catboost", "lightgbm", "xgboost")
"""Engines of the boosted methods."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table or a figure of the paper, or a group of tables.

    Attributes
    ----------
    description : str
        One line for the list of experiments.
    methods : tuple of str
        Methods whose cells it needs; empty for a figure, which trains its own models.
    datasets : tuple of str
        Datasets whose cells it needs.
    """

    description: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...] = ()


EXPERIMENTS = {
    "table:uncertainty": Experiment("detection of errors and of out-of-domain rows", ("sgb", "sglb"), DATASETS),
    "table:prediction": Experiment("likelihood, RMSE and error", ("sgb", "sglb"), DATASETS),
    "table:comparison": Experiment(
        "comparison with NGBoost and Deep Ensembles", ("sgb", "ngboost", "deep"), REGRESSION
    ),
    "table:forest": Experiment("comparison with random forests", ("sglb", "forest", "forests"), DATASETS),
    "table:budget": Experiment("four ways to spend a budget of one thousand trees", ("sglb", "budget"), DATASETS),
    "figure:heart": Experiment("regression on a table with a heart-shaped hole", ()),
    "figure:spiral": Experiment("classification of three spiral arms", ()),
    "figure:virtual": Experiment("true and virtual ensembles", ()),
}
GROUPS = {
    "regression": Experiment("boosted methods on all regression datasets", ("sgb", "sglb", "budget"), REGRESSION),
    "classification": Experiment(
        "boosted methods on all classification datasets", ("sgb", "sglb", "budget"), CLASSIFICATION
    ),
}


def experiment_of(name: str) -> Experiment:
    """Return an experiment or a group by name."""
    return EXPERIMENTS.get(name) or GROUPS[name]


def expand_name(name: str) -> list[str]:
    """Return the experiments that a name stands for.

    >>> expand_name("figure:heart")
    ['figure:heart']
    """
    if name == "all":
        return list(EXPERIMENTS)
    if name in EXPERIMENTS or name in GROUPS:
        return [name]
    message = f"there is no experiment {name!r}; choose from {', '.join([*EXPERIMENTS, *GROUPS, 'all'])}"
    raise ValueError(message)


def is_figure(name: str) -> bool:
    """Return whether an experiment is a figure, which has no cells."""
    return name.startswith("figure:")


def cell_keys(
    name: str, *, engine: str, datasets: Sequence[str] | None = None, folds: int | None = None
) -> list[CellKey]:
    """Return the keys of the cells that an experiment needs.

    Parameters
    ----------
    name : str
    engine : str
        Engine of the boosted methods.
    datasets : sequence of str, optional
        Restrict to these datasets.
    folds : int, optional
        Restrict to the first folds of each dataset, this many.
    """
    experiment = experiment_of(name)
    keys = []
    for dataset in experiment.datasets:
        if datasets is not None and dataset not in datasets:
            continue
        for fold in range(min(folds or n_folds(dataset), n_folds(dataset))):
            for method_name in experiment.methods:
                method = METHODS[method_name]
                if method.is_installed and not (method.regression_only and dataset in CLASSIFICATION):
                    keys.append(CellKey(method.engine or engine, dataset, fold, method_name))
    return keys
