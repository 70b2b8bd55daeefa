"""Jobs that predict."""

from functools import partial

import mixed
import numpy as np
import tables
from clock import interleaved
from peers import THREADS, Model
from results import Result

from jobs.comparison import compared_by_set, compared_with_catboost, prediction_runs
from jobs.effort import Effort
from jobs.models import MEMBERS, catboost_trained, ours_trained, trained_on_categories

SINGLE_ROW_CALLS = 200


def predict_ten(effort: Effort) -> list[Result]:
    """Predict with ten members; compare with one CatBoost model."""
    trees, X = effort.trees(1000, 300), tables.protein_twice()
    ours, peer = ours_trained(trees), catboost_trained(trees)
    runs = prediction_runs(effort.sets, ours, X)
    if peer is not None:
        runs["CatBoost"] = lambda: peer.predict(X, thread_count=THREADS)
    times = interleaved(runs, effort.predictions, warm_up=True)
    what = f"predict_uncertainty of {MEMBERS} members of {trees} trees, {len(X):,} rows"
    bars = {"avx512": 0.55, "avx2": 1.0, "portable": 4.0}
    return compared_by_set(6, what, times, effort.sets, bars=bars)


def predict_virtual(effort: Effort) -> list[Result]:
    """Predict with a virtual ensemble; compare with CatBoost's virtual ensemble."""
    trees, X = effort.trees(1000, 300), tables.protein_twice()
    ours, peer = ours_trained(trees, "virtual"), catboost_trained(trees)
    runs = prediction_runs(effort.sets, ours, X)
    if peer is not None:
        runs["CatBoost"] = lambda: _virtual_ensembles(peer, X, THREADS)
    times = interleaved(runs, effort.predictions, warm_up=True)
    what = f"predict_uncertainty of a virtual ensemble of {trees} trees, {len(X):,} rows"
    bars = {"avx512": 0.15, "avx2": 0.25, "portable": 1.0}
    return compared_by_set(7, what, times, effort.sets, bars=bars, peer_name="CatBoost, virtual ensemble")


def predict_one_row(effort: Effort) -> list[Result]:
    """Predict one row, many times."""
    trees, X = effort.trees(1000, 300), tables.protein_twice()[:1]
    ours, peer = ours_trained(trees), catboost_trained(trees)
    runs = {"ours": lambda: ours.predict_uncertainty(X)}
    if peer is not None:
        runs["CatBoost"] = lambda: _virtual_ensembles(peer, X, THREADS)
        runs["CatBoost, one thread"] = lambda: _virtual_ensembles(peer, X, 1)
    times = interleaved(runs, SINGLE_ROW_CALLS, warm_up=True, pause=0)
    what = f"predict_uncertainty of one row, {MEMBERS} members of {trees} trees"
    alone = {"ours": times["ours"], "CatBoost": times.get("CatBoost, one thread", ())}
    return [
        compared_with_catboost(8, what, times, bar=1.0, peer_name="CatBoost, virtual ensemble"),
        compared_with_catboost(8, what, alone, peer_name="CatBoost, virtual ensemble, one thread"),
    ]


def predict_categories(effort: Effort) -> list[Result]:
    """Predict from a pandas frame with categories; compare with the probabilities of one CatBoost model."""
    lines = []
    for name in mixed.NAMES if mixed.is_available() else ():
        data, trees = mixed.load(name), effort.trees(1000, 50)
        ours, peer = (trained.model for trained in trained_on_categories(name, trees))
        runs = prediction_runs(effort.sets, ours, data.X_test)
        runs["CatBoost"] = partial(peer.predict_proba, data.X_test, thread_count=THREADS)
        times = interleaved(runs, 3 * effort.predictions, warm_up=True)
        what = f"predict_uncertainty of {MEMBERS} members of {trees} trees, {name}, {len(data.y_test):,} rows of pandas"
        lines.extend(compared_by_set(12, what, times, effort.sets, bars={"avx512": 1.0, "avx2": 1.0}))
    return lines


def _virtual_ensembles(model: Model, X: np.ndarray, threads: int) -> np.ndarray:
    return model.virtual_ensembles_predict(
        X, prediction_type="TotalUncertainty", virtual_ensembles_count=MEMBERS, thread_count=threads
    )
