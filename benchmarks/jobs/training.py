"""Jobs that train."""

from statistics import median

import mixed
import numpy as np
import tables
from clock import interleaved
from peers import TRAININGS, Training, training
from results import Result
from tables import Table

from epiboost import EpiBoostRegressor
from epiboost._native import instruction_set
from jobs.comparison import Bars, compared_by_set, compared_with_catboost, required, training_runs
from jobs.effort import Effort
from jobs.models import MEMBERS, estimator, regressor, trained_on_categories


def train_ten_on_protein(effort: Effort) -> list[Result]:
    """Train ten members; compare with one CatBoost model."""
    bars = {"avx512": 0.55, "avx2": 0.8, "portable": 1.2}
    return _train_ten(1, tables.protein(), effort.trees(1000, 100), effort, bars, sets=effort.sets)


def train_one_chain(effort: Effort) -> list[Result]:
    """Train one chain on all cores; compare with every other library."""
    data, trees = tables.protein(), effort.trees(1000, 100)
    prepared = {peer: training(peer, data, trees) for peer in TRAININGS}
    installed = {peer: own for peer, own in prepared.items() if own is not None}
    ours = regressor(trees, ensemble="virtual")
    runs = {"ours": lambda: ours.fit(data.X, data.y), **{peer: own.run for peer, own in installed.items()}}
    times = interleaved(runs, effort.repeats)
    scaled = {peer: tuple(own.scale * seconds for seconds in times[peer]) for peer, own in installed.items()}

    def line(peer: str, name: str, bar: float | None) -> Result:
        what = f"train one chain of {trees} trees (virtual ensemble), {data}"
        return Result(job=2, what=what, peer_name=name, ours=times["ours"], peer=scaled.get(peer, ()), bar=bar)

    bars = {"CatBoost": 0.09} if instruction_set() == "avx512" else {}
    lines = [line(peer, _named(peer, own), bars.get(peer)) for peer, own in prepared.items()]
    fastest = min(scaled, key=lambda peer: median(scaled[peer]), default="none")
    return [*lines, line(fastest, f"the fastest of them: {fastest}", 0.2)]


def train_ten_on_kin8nm(effort: Effort) -> list[Result]:
    """Train ten members on a small table."""
    return _train_ten(3, tables.kin8nm(), effort.trees(1000, 100), effort, required(1.0))


def train_ten_on_year(effort: Effort) -> list[Result]:
    """Train ten members on a large table; compare the loss with that of splits chosen on all rows."""
    trees = effort.trees(200, 10)
    data, held_out = tables.year()
    lines = _train_ten(4, data, trees, effort, required(2.0))
    by_sample = _held_out_losses(regressor(trees), data, held_out)
    by_all = _held_out_losses(regressor(trees, structure_rows=None), data, held_out)
    for loss, ours in by_sample.items():
        lines.append(
            Result(
                job=4,
                what=f"{loss} on {len(held_out.y):,} held-out rows",
                peer_name="ours with structure_rows=None",
                ours=(ours,),
                peer=(by_all[loss],),
                bar=1.005,
                unit="",
            )
        )
    return lines


def train_ten_on_classes(effort: Effort) -> list[Result]:
    """Train ten members on seven classes."""
    return _train_ten(5, tables.classes(), effort.trees(200, 20), effort, required(2.0))


def train_ten_on_digits(effort: Effort) -> list[Result]:
    """Train ten members on a small table of ten classes."""
    return _train_ten(14, tables.digits(), effort.trees(1000, 100), effort, required(1.0), sets=effort.sets)


def train_ten_on_categories(effort: Effort) -> list[Result]:
    """Train ten members on datasets with categories; compare with one CatBoost model."""
    lines = []
    for name in mixed.NAMES if mixed.is_available() else ():
        trees = effort.trees(1000, 50)
        ours, peer = trained_on_categories(name, trees)
        times = {"ours": (ours.seconds,), "CatBoost": (peer.seconds,)}  # one round, because CatBoost takes minutes
        what = f"train {MEMBERS} members of {trees} trees, {mixed.load(name)}"
        lines.append(compared_with_catboost(11, what, times, bar=0.5))
    return lines


def _train_ten(
    job: int, data: Table, trees: int, effort: Effort, bars: Bars, *, sets: tuple[str, ...] | None = None
) -> list[Result]:
    """Train ten members, by instruction set if sets are given; with out-of-fold chains on the set in use only."""
    usual, sets = effort.usual_set, effort.usual_set if sets is None else sets
    runs = training_runs(sets, estimator(data, trees), data.X, data.y)
    calibrated = training_runs(usual, estimator(data, trees, out_of_fold="auto"), data.X, data.y)
    runs |= {f"{name}, calibrated": run for name, run in calibrated.items()}
    peer = training("CatBoost", data, trees)
    if peer is not None:
        runs["CatBoost"] = peer.run
    times = interleaved(runs, effort.repeats)
    with_folds = {**times, **{name: times[f"{name}, calibrated"] for name in usual}}
    return [
        *compared_by_set(job, f"train {MEMBERS} members of {trees} trees, {data}", times, sets, bars=bars),
        *compared_by_set(job, f"the same with out-of-fold chains, {data}", with_folds, usual),
    ]


def _held_out_losses(model: EpiBoostRegressor, data: Table, held_out: Table) -> dict[str, float]:
    posterior = model.fit(data.X, data.y).predict_posterior(held_out.X)
    return {
        "RMSE": float(np.sqrt(np.mean((posterior.mean - held_out.y) ** 2))),
        "negative log-likelihood": -float(np.mean(posterior.logpdf(held_out.y))),
    }


def _named(peer: str, prepared: Training | None) -> str:
    return f"{peer} ({prepared.note})" if prepared is not None and prepared.note else peer
