"""The price of random structures and of out-of-fold chains in training time: ten members on protein.

Runs are interleaved, and one CatBoost model takes part.
"""

import os
from statistics import median

import tables
from clock import interleaved
from jobs.models import MEMBERS, regressor
from peers import DEPTH, RATE, THREADS, training

TREES, ROUNDS = 1000, 3
STRUCTURES_BAR, CHAINS_BAR = 1.05, 1.5


def compare() -> None:
    """Print the median time of each setting, relative to neither and to CatBoost."""
    data = tables.protein()
    models = {
        "neither": (regressor(TREES, random_strength=0.0), None),
        "random structures": (regressor(TREES), STRUCTURES_BAR),
        "random structures and out-of-fold chains": (regressor(TREES, out_of_fold="auto"), CHAINS_BAR),
    }
    runs = {name: lambda model=model: model.fit(data.X, data.y) for name, (model, _) in models.items()}
    peer = training("CatBoost", data, TREES)
    if peer is not None:
        runs["CatBoost, one model"] = peer.run
    load = os.getloadavg()[0]
    times = {name: median(seconds) for name, seconds in interleaved(runs, ROUNDS, warm_up=True).items()}
    print(f"training {MEMBERS} members on {data}: {TREES} trees, depth {DEPTH}, rate {RATE}, {THREADS} threads")
    print(f"median of {ROUNDS} interleaved rounds; load of the machine before them: {load:.1f}")
    print("| members with | seconds | relative to neither | at most | relative to CatBoost |\n|---|---|---|---|---|")
    for name, seconds in times.items():
        bar = models.get(name, (None, None))[1]
        theirs = f"{seconds / times['CatBoost, one model']:.3f}" if peer is not None else ""
        print(f"| {name} | {seconds:.2f} | {seconds / times['neither']:.3f} | {bar or ''} | {theirs} |")
