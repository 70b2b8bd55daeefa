"""Measure the drift test and the drift monitor on public tables.

EPIBOOST_DATA=folder python benchmarks/drift.py uniform    are joint p-values uniform without drift?
EPIBOOST_DATA=folder python benchmarks/drift.py power      power on realistic shifts, beside two other tests
EPIBOOST_DATA=folder python benchmarks/drift.py monitor    rows until the alarm, and false alarms

Several parts can be named; default: all. Tables are printed as Markdown. The shifts are those of `shift_tables`.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import shift_tables
from scipy.stats import chi2_contingency, ks_2samp, kstest, mannwhitneyu
from sklearn.ensemble import RandomForestClassifier

from epiboost._inputs.schema import ColumnSchema
from epiboost.decisions import DriftMonitor
from epiboost.decisions.drift.batch import drift_test

LEVEL = 0.05
REFERENCE_ROWS = 1000
UNIFORM_TABLES, UNIFORM_BATCHES, UNIFORM_ROWS = ("wine", "credit"), 500, 100
BATCH_ROWS = (20, 50, 200)
FOREIGN_SHARES = (0.0, 0.1, 0.3, 1.0)
STREAM_ROWS, ROWS_BEFORE_DRIFT, STEP = 1000, 200, 10
MONITOR_RATE = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Rows as floats, shape (n, d), with the names and kinds of the columns."""

    reference: np.ndarray
    batch: np.ndarray
    names: tuple[str, ...]
    is_categorical: np.ndarray

    @property
    def kinds(self) -> dict[str, Sequence[object]]:
        """Arguments that describe the columns."""
        return {"names": self.names, "is_categorical": self.is_categorical}


Test = Callable[[Columns, int], float]


def encode(training: pd.DataFrame, reference: pd.DataFrame, batch: pd.DataFrame) -> Columns:
    """Return rows as floats; categories are those of the training rows, so that the reference may hold unseen ones."""
    schema, _ = ColumnSchema.fit(training, categorical_features="auto", owner="drift")
    values = (schema.transform(rows) for rows in (reference, batch))
    return Columns(*values, tuple(training.columns), schema.is_categorical)


def ours(columns: Columns, seed: int) -> float:
    """Return the joint p-value of our test."""
    return drift_test(columns.reference, columns.batch, **columns.kinds, random_state=seed).p_value


def bonferroni(columns: Columns, _: int) -> float:
    """Return the smallest p-value of Kolmogorov–Smirnov and chi-square tests per column, times their number."""
    pairs = zip(columns.reference.T, columns.batch.T, columns.is_categorical, strict=True)
    p_values = [_chi_square(*pair) if is_category else _kolmogorov_smirnov(*pair) for *pair, is_category in pairs]
    return min(1.0, len(p_values) * min(p_values))


def domain_classifier(columns: Columns, seed: int) -> float:
    """Return the p-value of a random forest that tells the batch from the reference (classifier two-sample test).

    Out-of-bag probabilities of the two are compared by the Mann–Whitney test.
    """
    X = np.nan_to_num(np.concatenate([columns.reference, columns.batch]), nan=-999.0)
    is_batch = np.arange(len(X)) >= len(columns.reference)
    forest = RandomForestClassifier(n_estimators=50, min_samples_leaf=3, oob_score=True, random_state=seed)
    scores = forest.fit(X, is_batch).oob_decision_function_[:, 1]
    return float(mannwhitneyu(scores[is_batch], scores[~is_batch], alternative="greater", nan_policy="omit").pvalue)


TESTS: dict[str, Test] = {"ours": ours, "KS and chi-square, Bonferroni": bonferroni, "random forest": domain_classifier}


def print_uniformity() -> None:
    """Print how the joint p-values of batches without drift differ from uniform ones."""
    print(
        f"\nJoint p-values of {UNIFORM_BATCHES} batches of {UNIFORM_ROWS} rows without drift, against 1000 other rows\n"
    )
    print("| table | columns | categorical | KS distance to uniform | its p-value | p ≤ 0.05 | p ≤ 0.5 |")
    print("|---|---|---|---|---|---|---|")
    for name in UNIFORM_TABLES:
        frame, target = shift_tables.read(name)
        frame = frame.drop(columns=target).reset_index(drop=True)
        p_values = []
        for seed in range(UNIFORM_BATCHES):
            order = np.random.default_rng(seed).permutation(len(frame))
            batch, reference, training = np.split(order, [UNIFORM_ROWS, UNIFORM_ROWS + REFERENCE_ROWS])
            columns = encode(*(frame.iloc[part] for part in (training, reference, batch)))
            p_values.append(ours(columns, seed))
        test, p_values = kstest(p_values, "uniform"), np.array(p_values)
        cells = (len(columns.names), columns.is_categorical.sum(), f"{test.statistic:.3f}", f"{test.pvalue:.2f}")
        _print_row(name, *cells, *(f"{np.mean(p_values <= level):.3f}" for level in (LEVEL, 0.5)))


def print_power(shifts: Sequence[shift_tables.Shift], n_repeats: int) -> None:
    """Print the share of batches with a p-value of at most 0.05."""
    print(f"\nShare of batches with p ≤ {LEVEL}, {n_repeats} batches per shift, mean over {len(shifts)} shifts\n")
    print("| rows | foreign |", " | ".join(TESTS), "|")
    print("|---" * (2 + len(TESTS)), "|", sep="")
    for n_rows in BATCH_ROWS:
        for share in FOREIGN_SHARES:
            batches = list(_batches(shifts, n_rows, share, n_repeats))
            found = {
                name: np.mean([test(columns, seed) <= LEVEL for columns, seed in batches])
                for name, test in TESTS.items()
            }
            _print_row(n_rows, f"{share:.0%}", *(f"{power:.2f}" for power in found.values()))


def print_delays(shifts: Sequence[shift_tables.Shift], n_repeats: int) -> None:
    """Print how soon the monitor raises an alarm."""
    print(f"\nStreams of up to {STREAM_ROWS} rows, drift after {ROWS_BEFORE_DRIFT}, {n_repeats} per shift; false alarm")
    print(f"rate {MONITOR_RATE}. False alarms are those before drift begins.\n")
    print("| foreign | streams | alarms | false alarms | median rows from drift to alarm | 80th percentile |")
    print("|---|---|---|---|---|---|")
    for share in FOREIGN_SHARES:
        delays = np.array([_delay(columns, seed) for columns, seed in _streams(shifts, share, n_repeats)])
        is_false = delays <= 0 if share else np.isfinite(delays)
        median, most = (
            f"{delay:.0f}" if np.isfinite(delay) and share else "–"
            for delay in np.quantile(delays[delays > 0], [0.5, 0.8], method="higher")
        )
        alarms = f"{np.isfinite(delays).mean():.2f}"
        _print_row(f"{share:.0%}", len(delays), alarms, f"{is_false.mean():.3f}", median, most)


def _kolmogorov_smirnov(reference: np.ndarray, batch: np.ndarray) -> float:
    return float(ks_2samp(*(np.nan_to_num(values, nan=np.inf) for values in (reference, batch))).pvalue)


def _chi_square(reference: np.ndarray, batch: np.ndarray) -> float:
    codes = np.unique(np.concatenate([reference, batch]), return_inverse=True)[1]
    counts = [np.bincount(part, minlength=codes.max() + 1) for part in np.split(codes, [len(reference)])]
    return float(chi2_contingency(counts, correction=False).pvalue) if codes.max() else 1.0


def _batches(
    shifts: Sequence[shift_tables.Shift], n_rows: int, share: float, n_repeats: int
) -> Iterator[tuple[Columns, int]]:
    """Yield batches in which a share of the rows is foreign, and their seeds."""
    for shift in shifts:
        rows = shift_tables.draw(shift)
        for seed in range(n_repeats):
            rng = np.random.default_rng([seed, n_rows])
            n_foreign = round(share * n_rows)
            parts = [_draw(rows.X_in, n_rows - n_foreign, rng), _draw(rows.X_out, n_foreign, rng)]
            training, reference = _halves(rows.X_train, rng)
            yield encode(training, reference[:REFERENCE_ROWS], pd.concat(parts)), seed


def _streams(shifts: Sequence[shift_tables.Shift], share: float, n_repeats: int) -> Iterator[tuple[Columns, int]]:
    """Yield streams in which a share of the rows is foreign from some row on, and their seeds.

    The rows of the domain are not repeated, since repeated rows would be a drift of their own: smaller tables give
    shorter streams, and tables that are too small give none.
    """
    for shift in shifts:
        rows = shift_tables.draw(shift)
        for seed in range(n_repeats):
            rng = np.random.default_rng(seed)
            training, reference = _halves(rows.X_train, rng)
            reference, inside = reference[:REFERENCE_ROWS], pd.concat([reference[REFERENCE_ROWS:], rows.X_in])
            if len(inside) < 2 * ROWS_BEFORE_DRIFT:
                continue
            stream = _draw(inside, min(STREAM_ROWS, len(inside)), rng)
            is_foreign = rng.random(len(stream)) < share
            is_foreign[:ROWS_BEFORE_DRIFT] = False
            stream = pd.concat([stream[~is_foreign], _draw(rows.X_out, is_foreign.sum(), rng)])
            stream = stream.iloc[np.argsort(np.argsort(is_foreign, kind="stable"))]
            yield encode(training, reference, stream), seed


def _halves(rows: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Divide rows at random."""
    order = rng.permutation(len(rows))
    return rows.iloc[order[: len(order) // 2]], rows.iloc[order[len(order) // 2 :]]


def _draw(rows: pd.DataFrame, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return n rows, without repetition if there are as many."""
    return rows.iloc[rng.permutation(len(rows))[:n] if n <= len(rows) else rng.integers(len(rows), size=n)]


def _delay(columns: Columns, seed: int) -> float:
    """Return the number of rows from the beginning of drift to the alarm; infinite if there is none."""
    monitor = DriftMonitor(columns.reference, **columns.kinds, false_alarm_rate=MONITOR_RATE, random_state=seed)
    for start in range(0, len(columns.batch), STEP):
        if monitor.update(columns.batch[start : start + STEP]).raised:
            return start + STEP - ROWS_BEFORE_DRIFT
    return np.inf


def _print_row(*cells: object) -> None:
    print(f"| {' | '.join(str(cell) for cell in cells)} |", flush=True)


PARTS = ("uniform", "power", "monitor")


def main() -> None:
    """Run the parts that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"one of {', '.join(PARTS)}; default: all")
    parser.add_argument("--repeats", type=int, default=4, metavar="N", help="batches per shift, default 4")
    parser.add_argument("--held-out", action="store_true", help="shifts on which no choice was made; takes longer")
    arguments = parser.parse_args()
    shifts = shift_tables.SHIFTS if arguments.held_out else shift_tables.DEVELOPMENT
    for part in arguments.parts or PARTS:
        if part not in PARTS:
            parser.error(f"there is no part {part!r}; choose from {', '.join(PARTS)}")
        if part == "uniform":
            print_uniformity()
        else:
            (print_power if part == "power" else print_delays)(shifts, arguments.repeats)


if __name__ == "__main__":
    main()
