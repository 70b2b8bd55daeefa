"""The experiments by name: which cells each needs."""

from collections.abc import Sequence
from dataclasses import dataclass

from epiboost.paper.cells.cell import Key
from epiboost.paper.methods.registry import METHODS
from epiboost.paper.problem import CLASSIFICATION, REGRESSION, n_folds

ENGINES = ("native", "catboost", "lightgbm", "xgboost")
"""Engines that can run the boosted methods."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table or a figure.

    Attributes
    ----------
    about : str
        A line for the list.
    methods : tuple of str
        Whose cells it is made of; none for a figure, which is drawn from a model of its own.
    datasets : tuple of str
    """

    about: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...] = ()


_BOTH = (*REGRESSION, *CLASSIFICATION)
EXPERIMENTS = {
    "table:uncertainty": Experiment("detection of errors and of foreign rows", ("sgb", "sglb"), _BOTH),
    "table:prediction": Experiment("likelihood, RMSE and error", ("sgb", "sglb"), _BOTH),
    "table:comparison": Experiment("beside NGBoost and Deep Ensembles", ("sgb", "ngboost", "deep"), REGRESSION),
    "table:forest": Experiment("beside random forests", ("sglb", "forest", "forests"), _BOTH),
    "table:budget": Experiment("a thousand trees in all, spent in four ways", ("sglb", "budget"), _BOTH),
    "figure:heart": Experiment("a regression table with a heart-shaped hole", ()),
    "figure:spiral": Experiment("three classes in a spiral", ()),
    "figure:virtual": Experiment("true against virtual ensembles", ()),
}
GROUPS = {
    "regression": Experiment("boosted methods on every regression set", ("sgb", "sglb", "budget"), REGRESSION),
    "classification": Experiment(
        "boosted methods on every classification set", ("sgb", "sglb", "budget"), CLASSIFICATION
    ),
}


def named(name: str) -> list[str]:
    """Return the experiments that a name stands for.

    >>> named("figure:heart")
    ['figure:heart']
    """
    if name == "all":
        return list(EXPERIMENTS)
    if name in EXPERIMENTS or name in GROUPS:
        return [name]
    message = f"there is no experiment {name!r}; there are {', '.join([*EXPERIMENTS, *GROUPS, 'all'])}"
    raise ValueError(message)


def keys_of(name: str, *, engine: str, datasets: Sequence[str] | None = None, folds: int | None = None) -> list[Key]:
    """Return the cells of an experiment.

    Parameters
    ----------
    name : str
    engine : str
        Of the boosted methods.
    datasets : sequence of str, optional
        Only these.
    folds : int, optional
        The first so many; None is all.
    """
    experiment = EXPERIMENTS.get(name) or GROUPS[name]
    keys = []
    for dataset in experiment.datasets:
        if datasets is not None and dataset not in datasets:
            continue
        for fold in range(min(folds or n_folds(dataset), n_folds(dataset))):
            for method in experiment.methods:
                known = METHODS.get(method)
                if known is not None and known.is_there and not (known.regression_only and dataset in CLASSIFICATION):
                    keys.append(Key(known.engine or engine, dataset, fold, method))
    return keys
