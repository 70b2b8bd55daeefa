"""Prediction with other trees than those of depth 6: deeper ones, of ten classes, and leaf-wise ones.

No ratio is required. They show whether any path of the predictor is much slower than the usual one. All trees and all
instruction sets take turns in the same rounds.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import tables
from clock import Times, interleaved
from peers import DEPTH, THREADS, training
from results import Result
from tables import Table

from jobs.comparison import Runs, prediction_runs
from jobs.effort import Effort
from jobs.models import MEMBERS, estimator

CATBOOST_MAX_DEPTH = 16
PICO = 1e12


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees to predict with: our settings, and those of CatBoost models to compare with, by name."""

    name: str
    table: Callable[[], Table]
    ours: dict[str, object]
    peers: dict[str, dict[str, object]]


def _symmetric(depth: int, table: Callable[[], Table] = tables.protein, name: str = "") -> Trees:
    peer = {f"CatBoost, one model of depth {depth}": {"depth": depth}}
    return Trees(name or f"depth {depth}", table, {"max_depth": depth}, peer)


def _leaf_wise(leaves: int, depth: int) -> Trees:
    lossguide = {"grow_policy": "Lossguide", "max_leaves": leaves, "depth": CATBOOST_MAX_DEPTH}
    peers = {
        f"CatBoost, one model of depth {depth}": {"depth": depth},
        f"CatBoost, one leaf-wise model of {leaves} leaves": lossguide,
    }
    return Trees(f"{leaves} leaves, leaf-wise", tables.protein, {"max_depth": None, "max_leaves": leaves}, peers)


USUAL = _symmetric(DEPTH)
OTHERS = (
    _symmetric(7),
    _symmetric(8),
    _symmetric(DEPTH, tables.protein_classes, f"ten classes, depth {DEPTH}"),
    _leaf_wise(64, 6),
    _leaf_wise(255, 8),
)


def predict_other_trees(effort: Effort) -> list[Result]:
    """Predict with other trees; compare with CatBoost models of as many leaves, and with our trees of depth 6."""
    count, X = effort.trees(200, 50), tables.protein_twice()
    runs: Runs = {}
    for trees in (USUAL, *OTHERS):
        data = trees.table()
        model = estimator(data, count, **trees.ours).fit(data.X, data.y)
        runs |= {f"{name}, {trees.name}": run for name, run in prediction_runs(effort.sets, model, X).items()}
        new = {peer: own for peer, own in trees.peers.items() if f"{peer}, {data}" not in runs}
        runs |= {f"{peer}, {data}": run for peer, run in _catboost_runs(new, data, count, X).items()}
    times = interleaved(runs, effort.predictions, warm_up=True)
    size = f"{MEMBERS} members of {count} trees, {len(X):,} rows"
    lines = (_lines(trees, name, times, size, MEMBERS * count * len(X)) for name in effort.sets for trees in OTHERS)
    return [line for own in lines for line in own]


def _catboost_runs(peers: dict[str, dict[str, object]], data: Table, count: int, X: np.ndarray) -> Runs:
    """Train CatBoost models and return their predictions; none if CatBoost is not installed."""
    runs: Runs = {}
    for name, settings in peers.items():
        peer = training("CatBoost", data, count, **settings)
        if peer is not None:
            model = peer.run()
            predict = model.predict_proba if data.y.dtype.kind == "i" else model.predict
            runs[name] = partial(predict, X, thread_count=THREADS)
    return runs


def _lines(trees: Trees, instructions: str, times: Times, size: str, work: int) -> list[Result]:
    """Return the lines of some trees and one instruction set; the work is the number of trees times rows."""
    ours, usual = times[f"{instructions}, {trees.name}"], times[f"{instructions}, {USUAL.name}"]
    compared = Result(
        job=13,
        what=f"predict_uncertainty, {trees.name}, {size}",
        peer_name="",
        ours=ours,
        peer=(),
        instructions=instructions,
    )
    relative = replace(
        compared,
        what=f"the same per tree and row, {trees.name}",
        peer_name=f"ours, {USUAL.name}",
        ours=tuple(PICO * seconds / work for seconds in ours),
        peer=tuple(PICO * seconds / work for seconds in usual),
        unit="ps",
    )
    found = {peer: times.get(f"{peer}, {trees.table()}", ()) for peer in trees.peers}
    return [*(replace(compared, peer_name=peer, peer=theirs) for peer, theirs in found.items()), relative]
