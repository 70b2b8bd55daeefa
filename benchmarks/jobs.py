"""The jobs of the speed benchmark, by number. Each returns lines of the table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import categories
import mixed
import numpy as np
import tables
from clock import Times, import_script, interleaved, interleaved_scripts, memory_script
from peers import THREADS, TRAININGS, Model, Training, training
from results import Result
from tables import Table

from epiboost import EpiBoostClassifier, EpiBoostRegressor

MEMBERS = 10
MEMORY_TREES = 20
SINGLE_ROW_CALLS = 200
IMPORTS = 7


@dataclass(frozen=True, slots=True)
class Effort:
    """Size of a measurement: number of rounds, and whether fewer trees are trained."""

    repeats: int
    quick: bool

    def trees(self, full: int, quick: int) -> int:
        """Return the number of trees."""
        return quick if self.quick else full


def train_ten_on_protein(effort: Effort) -> list[Result]:
    """Train ten members; compare with one CatBoost model."""
    return _train_ten(1, tables.protein(), effort.trees(1000, 100), effort, bar=0.8, aim=0.5)


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

    lines = [line(peer, _named(peer, own), 0.1 if peer == "CatBoost" else None) for peer, own in prepared.items()]
    fastest = min(scaled, key=lambda peer: median(scaled[peer]), default="none")
    return [*lines, line(fastest, f"the fastest of them: {fastest}", 0.2)]


def train_ten_on_kin8nm(effort: Effort) -> list[Result]:
    """Train ten members on a small table."""
    return _train_ten(3, tables.kin8nm(), effort.trees(1000, 100), effort, bar=1.0)


def train_ten_on_year(effort: Effort) -> list[Result]:
    """Train ten members on a large table; compare the loss with that of splits chosen on all rows."""
    trees = effort.trees(200, 10)
    data, held_out = tables.year()
    lines = _train_ten(4, data, trees, effort, bar=2.0)
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
    return _train_ten(5, tables.classes(), effort.trees(200, 20), effort, bar=2.0)


def predict_ten(effort: Effort) -> list[Result]:
    """Predict with ten members; compare with one CatBoost model."""
    trees, X = effort.trees(1000, 300), tables.protein_twice()
    ours, peer = _ours_trained(trees), _catboost_trained(trees)
    runs = {"ours": lambda: ours.predict_uncertainty(X)}
    if peer is not None:
        runs["CatBoost"] = lambda: peer.predict(X, thread_count=THREADS)
    times = interleaved(runs, _predictions(effort), warm_up=True)
    what = f"predict_uncertainty of {MEMBERS} members of {trees} trees, {len(X):,} rows"
    return [_compared_with_catboost(6, what, times, bar=0.7, peer_name="CatBoost, one model")]


def predict_virtual(effort: Effort) -> list[Result]:
    """Predict with a virtual ensemble; compare with CatBoost's virtual ensemble."""
    trees, X = effort.trees(1000, 300), tables.protein_twice()
    ours, peer = _ours_trained(trees, "virtual"), _catboost_trained(trees)
    runs = {"ours": lambda: ours.predict_uncertainty(X)}
    if peer is not None:
        runs["CatBoost"] = lambda: _virtual_ensembles(peer, X, THREADS)
    times = interleaved(runs, _predictions(effort), warm_up=True)
    what = f"predict_uncertainty of a virtual ensemble of {trees} trees, {len(X):,} rows"
    return [_compared_with_catboost(7, what, times, bar=0.15, peer_name="CatBoost, virtual ensemble")]


def predict_one_row(effort: Effort) -> list[Result]:
    """Predict one row, many times."""
    trees, X = effort.trees(1000, 300), tables.protein_twice()[:1]
    ours, peer = _ours_trained(trees), _catboost_trained(trees)
    runs = {"ours": lambda: ours.predict_uncertainty(X)}
    if peer is not None:
        runs["CatBoost"] = lambda: _virtual_ensembles(peer, X, THREADS)
        runs["CatBoost, one thread"] = lambda: _virtual_ensembles(peer, X, 1)
    times = interleaved(runs, SINGLE_ROW_CALLS, warm_up=True, pause=0)
    what = f"predict_uncertainty of one row, {MEMBERS} members of {trees} trees"
    alone = {"ours": times["ours"], "CatBoost": times.get("CatBoost, one thread", ())}
    return [
        _compared_with_catboost(8, what, times, bar=1.0, peer_name="CatBoost, virtual ensemble"),
        _compared_with_catboost(8, what, alone, peer_name="CatBoost, virtual ensemble, one thread"),
    ]


def memory(effort: Effort) -> list[Result]:
    """Measure the peak memory of training on a large table, above that of the table."""
    data, _ = tables.year()
    installed = training("CatBoost", Table("tiny", data.X[:2], data.y[:2]), 1) is not None
    with TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "X.npy", data.X)
        np.save(folder / "y.npy", data.y)
        trainers = ("ours", "CatBoost") if installed else ("ours",)
        scripts = {trainer: memory_script(trainer, folder, MEMORY_TREES) for trainer in trainers}
        peaks = interleaved_scripts(scripts, effort.repeats)
    what = f"peak memory of training {MEMBERS} members of {MEMORY_TREES} trees, above the table, {data}"
    return [_compared_with_catboost(9, what, peaks, bar=1.0, peer_name="CatBoost, one model", unit="MiB")]


def imports(effort: Effort) -> list[Result]:
    """Measure the import in new interpreters."""
    scripts = {module: import_script(module) for module in ("epiboost", "sklearn.ensemble")}
    times = interleaved_scripts(scripts, max(IMPORTS, effort.repeats))
    peer = "sklearn.ensemble"
    return [Result(job=10, what="import", peer_name=peer, ours=times["epiboost"], peer=times[peer], bar=1.2)]


def train_ten_on_categories(effort: Effort) -> list[Result]:
    """Train ten members on datasets with categories; compare with one CatBoost model."""
    lines = []
    for name in mixed.NAMES if mixed.is_available() else ():
        trees = effort.trees(1000, 50)
        ours, peer = _trained_on_categories(name, trees)
        times = {"ours": (ours.seconds,), "CatBoost": (peer.seconds,)}  # one round, because CatBoost takes minutes
        what = f"train {MEMBERS} members of {trees} trees, {mixed.load(name)}"
        lines.append(_compared_with_catboost(11, what, times, bar=0.5, peer_name="CatBoost, one model"))
    return lines


@cache
def _trained_on_categories(name: str, trees: int) -> tuple[categories.Run, categories.Run]:
    """Train ten members of ours and one CatBoost model."""
    data = mixed.load(name)
    return categories.ours(data, 0.1, trees=trees), categories.catboost(data, 0.1, trees=trees)


def predict_categories(effort: Effort) -> list[Result]:
    """Predict from a pandas frame with categories; compare with the probabilities of one CatBoost model."""
    lines = []
    for name in mixed.NAMES if mixed.is_available() else ():
        data, trees = mixed.load(name), effort.trees(1000, 50)
        ours, peer = (trained.model for trained in _trained_on_categories(name, trees))
        runs = {
            "ours": lambda data=data, ours=ours: ours.predict_uncertainty(data.X_test),
            "CatBoost": lambda data=data, peer=peer: peer.predict_proba(data.X_test, thread_count=THREADS),
        }
        times = interleaved(runs, 3 * _predictions(effort), warm_up=True)
        what = f"predict_uncertainty of {MEMBERS} members of {trees} trees, {name}, {len(data.y_test):,} rows of pandas"
        lines.append(_compared_with_catboost(12, what, times, bar=1.0, peer_name="CatBoost, one model"))
    return lines


JOBS: Mapping[int, Callable[[Effort], list[Result]]] = {
    1: train_ten_on_protein,
    2: train_one_chain,
    3: train_ten_on_kin8nm,
    4: train_ten_on_year,
    5: train_ten_on_classes,
    6: predict_ten,
    7: predict_virtual,
    8: predict_one_row,
    9: memory,
    10: imports,
    11: train_ten_on_categories,
    12: predict_categories,
}
LARGE_JOBS = (4, 9, 11, 12)


def regressor(trees: int, **settings: object) -> EpiBoostRegressor:
    """Return ten members of depth 6 at rate 0.1, without out-of-fold chains; settings replace these."""
    size = {"n_estimators": trees, "learning_rate": 0.1, "max_depth": 6}
    options = {"n_members": MEMBERS, "n_jobs": THREADS, "random_state": 0, "out_of_fold": 0, **size}
    return EpiBoostRegressor(**{**options, **settings})


def _train_ten(
    job: int, data: Table, trees: int, effort: Effort, *, bar: float, aim: float | None = None
) -> list[Result]:
    estimator = EpiBoostClassifier if data.y.dtype.kind == "i" else EpiBoostRegressor
    size = {"n_members": MEMBERS, "n_estimators": trees, "n_jobs": THREADS, "random_state": 0}
    ours, calibrated = estimator(**size, out_of_fold=0), estimator(**size)
    runs = {"ours": lambda: ours.fit(data.X, data.y), "calibrated": lambda: calibrated.fit(data.X, data.y)}
    peer = training("CatBoost", data, trees)
    if peer is not None:
        runs["CatBoost"] = peer.run
    times = interleaved(runs, effort.repeats)
    what = f"train {MEMBERS} members of {trees} trees, {data}"
    theirs, with_folds = "CatBoost, one model", {**times, "ours": times["calibrated"]}
    return [
        _compared_with_catboost(job, what, times, bar=bar, aim=aim, peer_name=theirs),
        _compared_with_catboost(
            job, f"the same with out-of-fold chains (default), {data}", with_folds, peer_name=theirs
        ),
    ]


def _compared_with_catboost(
    job: int,
    what: str,
    times: Times,
    *,
    peer_name: str,
    bar: float | None = None,
    aim: float | None = None,
    unit: str = "s",
) -> Result:
    peer = times.get("CatBoost", ())
    return Result(job=job, what=what, peer_name=peer_name, ours=times["ours"], peer=peer, bar=bar, aim=aim, unit=unit)


@cache
def _ours_trained(trees: int, ensemble: str = "sglb") -> EpiBoostRegressor:
    data = tables.protein()
    return regressor(trees, ensemble=ensemble, out_of_fold="auto").fit(data.X, data.y)


@cache
def _catboost_trained(trees: int) -> Model | None:
    peer = training("CatBoost", tables.protein(), trees)
    return None if peer is None else peer.run()


def _virtual_ensembles(model: Model, X: np.ndarray, threads: int) -> np.ndarray:
    return model.virtual_ensembles_predict(
        X, prediction_type="TotalUncertainty", virtual_ensembles_count=MEMBERS, thread_count=threads
    )


def _predictions(effort: Effort) -> int:
    """Return the number of rounds of predictions: they are short, and more rounds make the median stable."""
    return 3 * effort.repeats


def _held_out_losses(model: EpiBoostRegressor, data: Table, held_out: Table) -> dict[str, float]:
    posterior = model.fit(data.X, data.y).predict_posterior(held_out.X)
    return {
        "RMSE": float(np.sqrt(np.mean((posterior.mean - held_out.y) ** 2))),
        "negative log-likelihood": -float(np.mean(posterior.logpdf(held_out.y))),
    }


def _named(peer: str, prepared: Training | None) -> str:
    return f"{peer} ({prepared.note})" if prepared is not None and prepared.note else peer
