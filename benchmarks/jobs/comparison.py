"""Comparison of our times with CatBoost's, for each instruction set."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import instructions
import numpy as np
from clock import Times
from results import Result

from epiboost import EpiBoostClassifier, EpiBoostRegressor

Estimator = EpiBoostClassifier | EpiBoostRegressor
Runs = dict[str, Callable[[], object]]
Bars = Mapping[str, float]


def required(ratio: float) -> Bars:
    """Return a requirement for every instruction set."""
    return dict.fromkeys(instructions.TITLES, ratio)


def prediction_runs(sets: tuple[str, ...], model: Estimator, X: object) -> Runs:
    """Return the prediction of a fitted model, by instruction set."""
    copies = {name: instructions.copied(name, model) for name in sets}
    return {name: instructions.forcing(name, partial(own.predict_uncertainty, X)) for name, own in copies.items()}


def training_runs(sets: tuple[str, ...], model: Estimator, X: np.ndarray, y: np.ndarray) -> Runs:
    """Return the training of a model, by instruction set."""
    return {name: instructions.forcing(name, partial(model.fit, X, y)) for name in sets}


def compared_by_set(
    job: int,
    what: str,
    times: Times,
    sets: tuple[str, ...],
    *,
    bars: Bars | None = None,
    peer_name: str = "CatBoost, one model",
) -> list[Result]:
    """Return one line per instruction set, all beside the same times of CatBoost."""
    return [
        replace(
            compared_with_catboost(job, what, {**times, "ours": times[name]}, peer_name=peer_name),
            bar=(bars or {}).get(name),
            instructions=name,
        )
        for name in sets
    ]


def compared_with_catboost(
    job: int,
    what: str,
    times: Times,
    *,
    bar: float | None = None,
    peer_name: str = "CatBoost, one model",
    unit: str = "s",
) -> Result:
    """Return the line of our times beside CatBoost's, which are empty if it is not installed."""
    peer = times.get("CatBoost", ())
    return Result(job=job, what=what, peer_name=peer_name, ours=times["ours"], peer=peer, bar=bar, unit=unit)
