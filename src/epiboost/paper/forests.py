"""Random forests and their virtual ensembles, as in the paper's appendix."""

from typing import Any

import numpy as np

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._typing import AnyArray, Floats
from epiboost.paper.clock import Clock
from epiboost.paper.measures import measure
from epiboost.paper.problem import Fold
from epiboost.paper.protocol import Protocol
from epiboost.posterior import Posterior

_NOISE = 0.3
"""Spread of the factor on training statistics; without it a row's own target can be read off its statistic."""


def forests(fold: Fold, protocol: Protocol, seed: int, n_jobs: int | None, clock: Clock) -> dict[str, Any]:
    """One forest as single model and in parts, and an ensemble of independent forests."""
    tables = _encoded(fold, seed)
    options: dict[str, Any] = {
        "engine": "forest",
        "engine_params": {"max_depth": protocol.forest_depth},
        "n_estimators": protocol.n_estimators,
        "n_members": protocol.n_members,
        "categorical_features": None,
        "n_jobs": n_jobs,
        "random_state": seed,
    }
    kind = EpiBoostRegressor if fold.task == "regression" else EpiBoostClassifier
    with clock("vrf"):
        one = kind(ensemble="virtual", **options).fit(tables[0], fold.y)
    with clock("rf_ensemble"):
        many = kind(ensemble="sgb", **options).fit(tables[0], fold.y)
    with clock("judge"):
        parts = [None if table is None else one.predict_posterior(table) for table in tables[1:]]
        results = {
            "vrf": measure(parts[0], parts[1], fold),  # type: ignore[arg-type]  # the test rows are always there
            "rf_single": measure(_joined(parts[0]), _joined(parts[1]), fold),  # type: ignore[arg-type]
            "rf_ensemble": measure(
                many.predict_posterior(tables[1]),
                None if tables[2] is None else many.predict_posterior(tables[2]),
                fold,
            ),
        }
    return {"chosen": {"max_depth": protocol.forest_depth}, "results": results}


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


def _joined(posterior: Posterior | None) -> Posterior | None:
    """Return one member in place of parts of the same size: the whole forest."""
    if posterior is None:
        return None
    return Posterior(posterior.parameters.mean(axis=0, keepdims=True), posterior.family)
