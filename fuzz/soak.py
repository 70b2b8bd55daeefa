"""A service that never ends, in short: ``python -m fuzz.soak`` (or ``make soak``) repeats a cycle of all calls.

Each cycle trains, predicts, saves, loads, calibrates and explains, with a regressor and a classifier in turn; each
tenth also reports. Memory, open files and threads must be as many at the end as after the first cycles. Memory may vary
with the cycle, so the median of the last quarter of the cycles is compared with that of the second quarter; the first
is left to caches.
"""

import argparse
import ctypes
import gc
import os
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import monotonic

import numpy as np
import pandas as pd

import epiboost
from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.explain import attribute
from epiboost.report import report

SECONDS_BETWEEN_LINES = 10.0
MEBIBYTE = 2**20
GROWTH = 16 * MEBIBYTE  # the memory of equal cycles varies by a few mebibytes
CYCLES_PER_REPORT = (
    10  # vl-convert keeps 3 to 10 KiB per picture, so that a report in each cycle would look like a leak
)
FEWEST_CYCLES = 8  # fewer do not tell growth from caches
ROWS = 400


@dataclass(frozen=True)
class Usage:
    """What the process uses.

    Attributes
    ----------
    memory
        Resident memory in bytes, after the allocator has given back what it can.
    files
        Number of open files.
    threads
        Number of threads.
    """

    memory: int
    files: int
    threads: int

    @classmethod
    def now(cls) -> "Usage":
        """Return the usage of this process; needs Linux."""
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        files = len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208 (without that of this listing)
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
        return cls(resident * os.sysconf("SC_PAGE_SIZE"), files, threads)

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.memory / MEBIBYTE:.1f} MiB, {self.files} files, {self.threads} threads"


def run_cycle(number: int, folder: Path) -> None:
    """Run every call once on a new table."""
    random = np.random.default_rng(number)
    X = pd.DataFrame(random.normal(size=(ROWS, 5)), columns=list("abcde"))
    X["town"] = random.choice(["north", "south", f"number {number}"], ROWS)
    signal = X["a"].to_numpy() + (X["town"] == "north") + 0.3 * random.normal(size=ROWS)
    estimator, y = (EpiBoostClassifier, signal > 0) if number % 2 else (EpiBoostRegressor, signal)
    model = estimator(n_members=3, n_estimators=30, n_jobs=2, random_state=number).fit(X[:300], y[:300])
    path = folder / "model.epib"
    model.save(path)
    again = epiboost.load(path)
    if not np.array_equal(model.predict(X), again.predict(X)):
        fault = f"cycle {number}: the model that was loaded predicts other values"
        raise AssertionError(fault)
    again.predict_uncertainty(X)
    again.calibrate(X[300:350], y[300:350]).save(folder / "calibrated.epib")
    attribute(again, X[300:310])
    if number % CYCLES_PER_REPORT == 0:
        report(again, X[300:], y[300:], path=folder / "report.html", explain=False)


def soak(seconds: float) -> list[Usage]:
    """Repeat the cycle for some time, print the usage now and then, and return that after each cycle."""
    start = printed = monotonic()
    usages: list[Usage] = []
    with tempfile.TemporaryDirectory() as folder:
        while monotonic() < start + seconds or len(usages) < FEWEST_CYCLES:
            run_cycle(len(usages), Path(folder))
            usages.append(Usage.now())
            if monotonic() > printed + SECONDS_BETWEEN_LINES:
                printed = monotonic()
                print(f"{printed - start:.0f} s, {len(usages)} cycles: {usages[-1]}", flush=True)
    return usages


def growth(usages: list[Usage]) -> list[str]:
    """Return what has grown between the second and the last quarter of the cycles."""
    quarter = len(usages) // 4
    before, after = usages[quarter : 2 * quarter], usages[-quarter:]
    found = []
    grown = median(usage.memory for usage in after) - median(usage.memory for usage in before)
    if grown > GROWTH:
        found.append(f"memory has grown by {grown / MEBIBYTE:.1f} MiB")
    for name in ("files", "threads"):
        least, now = (min(getattr(usage, name) for usage in part) for part in (before, after))
        if now > least:
            found.append(f"{name} have grown from {least} to {now}")
    return found


def main() -> int:
    """Run and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.soak", description="Look for leaks in a long run.")
    parser.add_argument("--minutes", type=float, default=60.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    usages = soak(60 * options.minutes)
    found = growth(usages)
    print(f"{len(usages)} cycles, first {usages[0]}; last {usages[-1]}; {'; '.join(found) or 'nothing has grown'}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
