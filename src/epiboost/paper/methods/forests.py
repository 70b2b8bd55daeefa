"""Random forests and their virtual ensembles, as in the paper's appendix."""

from typing import Any

import numpy as np

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.recipe import EnsembleKind
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Floats
from epiboost.paper.methods.boosted import parameters_of
from epiboost.paper.methods.clock import Clock
from epiboost.paper.methods.measures import measure
from epiboost.paper.problem import Fold
from epiboost.paper.protocol import Protocol

_NOISE = 0.3
"""Spread of the factor on training statistics; without it a row's own target can be read off its statistic."""


def forest(fold: Fold, protocol: Protocol, seed: int, n_jobs: int | None, clock: Clock) -> dict[str, Any]:
    """One forest, as single model and in parts."""
    train, test, outside = _encoded(fold, seed)
    with clock("vrf"):
        model = _model(fold, protocol, seed, n_jobs, "virtual").fit(train, fold.y)
    with clock("judge"):
        inside = model.predict_posterior(test)
        out = None if outside is None else model.predict_posterior(outside)
        results = {
            "vrf": measure(inside, out, fold),
            "rf_single": measure(_joined(inside), None if out is None else _joined(out), fold),
        }
    return {
        "chosen": {"max_depth": protocol.forest_depth},
        "parameters": {"vrf": parameters_of(model)},
        "results": results,
    }


def forests(fold: Fold, protocol: Protocol, seed: int, n_jobs: int | None, clock: Clock) -> dict[str, Any]:
    """Train an ensemble of independent forests."""
    train, test, outside = _encoded(fold, seed)
    with clock("rf_ensemble"):
        model = _model(fold, protocol, seed, n_jobs, "sgb").fit(train, fold.y)
    with clock("judge"):
        out = None if outside is None else model.predict_posterior(outside)
        results = {"rf_ensemble": measure(model.predict_posterior(test), out, fold)}
    return {
        "chosen": {"max_depth": protocol.forest_depth},
        "parameters": {"rf_ensemble": parameters_of(model)},
        "results": results,
    }


def _model(
    fold: Fold, protocol: Protocol, seed: int, n_jobs: int | None, ensemble: EnsembleKind
) -> EpiBoostRegressor | EpiBoostClassifier:
    kind = EpiBoostRegressor if fold.task == "regression" else EpiBoostClassifier
    return kind(
        ensemble=ensemble,
        engine="forest",
        engine_params={"max_depth": protocol.forest_depth},
        n_estimators=protocol.n_estimators,
        n_members=protocol.n_members,
        categorical_features=None,
        n_jobs=n_jobs,
        random_state=seed,
    )


def leave_one_out(codes: AnyArray, y: AnyArray, *others: AnyArray, seed: int) -> list[Floats]:
    """Replace each code by the mean target of the other training rows that have it.

    Training rows get that mean times a random factor of mean 1 and spread 0.3; of other rows it is the plain mean. A
    code of a single training row, or of none, gets the mean of all.

    Parameters
    ----------
    codes : array of shape (n,)
        Of the training rows.
    y : array of shape (n,)
    others : arrays of codes
        Of other rows.
    seed : int

    Returns
    -------
    list of arrays
        For the training rows, and for each of the others.

    Examples
    --------
    >>> import numpy as np
    >>> train, test = leave_one_out(np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1]), np.array([0, 1, 2]), seed=0)
    >>> test.round(2)
    array([0.67, 0.75, 0.75])
    """
    known, index = np.unique(codes, return_inverse=True)
    sums, counts = np.bincount(index, y), np.bincount(index)
    overall = float(np.mean(y))
    with np.errstate(invalid="ignore", divide="ignore"):
        own = np.where(counts[index] > 1, (sums[index] - y) / (counts[index] - 1), overall)
        means = np.where(counts > 1, sums / counts, overall)
    own = own * np.random.default_rng(seed).normal(1.0, _NOISE, size=len(own))
    found = []
    for other in others:
        place = np.minimum(np.searchsorted(known, other), len(known) - 1)
        found.append(np.where(known[place] == other, means[place], overall))
    return [own, *found]


def _encoded(fold: Fold, seed: int) -> tuple[Floats, Floats, Floats | None]:
    """Return training, test and outside rows in numbers; missing numbers are zero, as in the paper's code."""
    tables = [fold.X.copy(), fold.X_test.copy(), *([] if fold.X_out is None else [fold.X_out.copy()])]
    for column in fold.categorical:
        encoded = leave_one_out(
            *(tables[0][:, column], fold.y), *(t[:, column] for t in tables[1:]), seed=seed + column
        )
        for table, values in zip(tables, encoded, strict=True):
            table[:, column] = values
    train, test, *outside = (np.nan_to_num(table) for table in tables)
    return train, test, (outside[0] if outside else None)


def _joined(posterior: Posterior) -> Posterior:
    """Return one member in place of parts of the same size: the whole forest."""
    return Posterior(posterior.parameters.mean(axis=0, keepdims=True), posterior.family)
