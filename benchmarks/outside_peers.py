"""Other libraries at their defaults and after tuning, on the splits on which our defaults are trained.

CatBoost trains a likelihood (RMSEWithUncertainty, or log-loss), "CatBoost RMSE" the squared error, as LightGBM and
XGBoost do. Each library is tuned by random trials with early stopping, judged by the loss that it trains, on a fifth of
the training rows. The best settings are trained again on all training rows with the number of trees found. Seconds are
processor time of all trials and of the last training, so that other work on the machine does not count. Features are
converted for each library before timing starts.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from time import process_time

import mixed
import numpy as np
import outside_splits
import uci
from outside_libraries import NORMALS, PEERS, Data, Model, Peer, Training
from outside_runs import Options, Scores, Store, digits, print_head, print_row
from outside_splits import RowSplit
from sklearn.metrics import log_loss

from epiboost import EpiBoostClassifier, EpiBoostRegressor, Posterior

TABLES = (*uci.NAMES, *mixed.NAMES)
SPLITS = 3
MOST_TREES = 2000
ERROR_BAR, SECONDS_BAR = 1.02, 0.1

Measured = Mapping[str, Scores]


def compare(store: Store, options: Options) -> None:
    """Print errors and seconds of our defaults and of the peers, and on how many datasets ours meet both bars."""
    print(
        f"\nOur defaults, untuned, and peers at their defaults / tuned by {options.trials} random trials, mean of up to"
    )
    print(f"{options.splits or SPLITS} splits, {options.threads} threads. The best peer is the best tuned one.\n")
    print_head("table", "error", "ours", *options.peers, "best peer", "ratio")
    measured = {}
    for name in options.select(TABLES):
        measured[name] = found = mean_scores(name, store, options)
        error, best = _best_peer(found, options.peers)
        cells = (_pair(found, peer, error, digits) for peer in options.peers)
        ratio = found["ours"][error] / found[_tuned(best)][error]
        print_row(name, error, digits(found["ours"][error]), *cells, best, f"{ratio:.3f}")
    _print_seconds(measured, options)
    _print_bars(measured, options)


def mean_scores(name: str, store: Store, options: Options) -> Measured:
    """Return errors and seconds of our defaults and of each peer, averaged over splits."""
    splits = outside_splits.stratified(name) if name in mixed.NAMES else outside_splits.standard(name)
    splits = splits[: options.splits or SPLITS]
    methods: dict[str, Callable[[int], Scores]] = {"ours": partial(measure_ours, name, splits, options.threads)}
    for peer in options.peers:
        if _is_available(peer, name):
            measure = partial(measure_peer, PEERS[peer], PEERS[peer].read(name), splits, threads=options.threads)
            methods[peer] = partial(measure, trials=0)
            methods[_tuned(peer)] = partial(measure, trials=options.trials)
    found = {}
    for method, measure in methods.items():
        trials = f" by {options.trials} trials" if method.endswith("tuned") else ""
        each = store.get(f"peers/{name}/{method}{trials}", len(splits), measure)
        found[method] = {key: float(np.mean([one[key] for one in each])) for key in each[0]}
    return found


def measure_ours(name: str, splits: list[RowSplit], threads: int, index: int) -> Scores:
    """Return errors and training seconds of our default on one split."""
    table = outside_splits.table(name)
    data = Data(table.X, table.y, tuple(table.categories))
    train, test = (data.take(rows) for rows in splits[index])
    estimator = EpiBoostClassifier if data.is_classification else EpiBoostRegressor
    start = process_time()
    model = estimator(n_jobs=threads, random_state=index).fit(train.X, train.y)
    seconds = process_time() - start
    return {**scores(model.predict_posterior(test.X), test), "seconds": seconds}


def measure_peer(peer: Peer, data: Data, splits: list[RowSplit], index: int, *, trials: int, threads: int) -> Scores:
    """Return errors and training seconds of a peer on one split, at its defaults if there are no trials."""
    train, test = (data.take(rows) for rows in splits[index])
    training = Training(seed=index, threads=threads)
    start = process_time()
    model = tune(peer, train, training, trials) if trials else peer.fit(train, None, {}, training)[0]
    seconds = process_time() - start
    return {**scores(predict(model, test), test), "seconds": seconds}


def tune(peer: Peer, data: Data, training: Training, trials: int) -> Model:
    """Return a model with the best of random settings and number of trees, trained on all rows."""
    random = np.random.default_rng(training.seed)
    part, validation = data.split(training.seed)
    lowest, best = np.inf, ({}, MOST_TREES)
    for _ in range(trials):
        settings = peer.draw(random)
        model, trees = peer.fit(part, validation, settings, replace(training, trees=MOST_TREES))
        loss = list(scores(predict(model, validation), validation).values())[-1]
        if loss < lowest:
            lowest, best = loss, (settings, trees)
    settings, trees = best
    return peer.fit(data, None, settings, replace(training, trees=trees))[0]


def predict(model: Model, data: Data) -> Posterior | np.ndarray:
    """Return class probabilities, means and variances, or means if the model has no variance."""
    if data.is_classification:
        probabilities = model.predict_proba(data.X).astype(np.float64)  # XGBoost's are of single precision
        return Posterior((probabilities / probabilities.sum(axis=1, keepdims=True))[np.newaxis], "categorical")
    prediction = model.predict(data.X)
    return prediction if prediction.ndim == 1 else Posterior(prediction[np.newaxis], "normal")


def scores(prediction: Posterior | np.ndarray, data: Data) -> Scores:
    """Return log-loss, or RMSE and, if there is a variance, NLL; the last of them is what the model was trained for."""
    mean = prediction if isinstance(prediction, np.ndarray) else prediction.mean
    if data.is_classification:
        return {"log-loss": float(log_loss(data.y, mean))}
    found = {"RMSE": float(np.sqrt(np.mean((mean - data.y) ** 2)))}
    return found if mean is prediction else {**found, "NLL": -float(prediction.logpdf(data.y).mean())}


def _print_seconds(measured: Mapping[str, Measured], options: Options) -> None:
    """Print training seconds, with tuning, and likelihoods of the models that have a variance."""
    print()
    normals = [peer for peer in options.peers if peer in NORMALS]
    heads = [f"NLL, {peer}" for peer in normals]
    print_head("table", "seconds, ours", *options.peers, "ratio to the best peer", "NLL, ours", *heads)
    for name, found in measured.items():
        _, best = _best_peer(found, options.peers)
        cells = [_pair(found, peer, "seconds", "{:.1f}".format) for peer in options.peers]
        cells.append(f"{found['ours']['seconds'] / found[_tuned(best)]['seconds']:.4f}")
        cells += [digits(found["ours"].get("NLL")), *(_pair(found, peer, "NLL", digits) for peer in normals)]
        print_row(name, f"{found['ours']['seconds']:.1f}", *cells)


def _print_bars(measured: Mapping[str, Measured], options: Options) -> None:
    """Print on how many datasets our error and our seconds are at most the allowed shares of the best peer's."""
    bars = []
    for found in measured.values():
        error, best = _best_peer(found, options.peers)
        ours, theirs = found["ours"], found[_tuned(best)]
        is_near = ours[error] <= ERROR_BAR * theirs[error]
        is_fast = ours["seconds"] <= SECONDS_BAR * theirs["seconds"]
        bars.append((is_near, is_fast, is_near and is_fast))
    errors, seconds, both = np.sum(bars, axis=0) if bars else (0, 0, 0)
    near = f"error at most {ERROR_BAR} times the best tuned peer's on {errors}"
    fast = f"seconds at most {SECONDS_BAR} times that peer's on {seconds}"
    print(f"\nof {len(bars)} datasets: {near}, {fast}, both on {both}", flush=True)


def _best_peer(found: Measured, peers: tuple[str, ...]) -> tuple[str, str]:
    """Return the name of the error, and the peer whose error after tuning is the lowest."""
    error = next(iter(found["ours"]))
    return error, min((peer for peer in peers if peer in found), key=lambda peer: found[_tuned(peer)][error])


def _pair(found: Measured, peer: str, key: str, show: Callable[[float], str]) -> str:
    """Return a figure of a peer at its defaults and after tuning; empty if it has none."""
    if key not in found.get(peer, {}):
        return ""
    return f"{show(found[peer][key])} / {show(found[_tuned(peer)][key])}"


def _tuned(peer: str) -> str:
    return f"{peer}, tuned"


def _is_available(peer: str, name: str) -> bool:
    """Return whether a peer is compared on a dataset; some train on regressions alone here."""
    return peer not in {"CatBoost RMSE", "NGBoost", "hessboost"} or name not in mixed.NAMES
