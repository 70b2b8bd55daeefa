"""Train on a folder of Parquet files in a new process, and print run time and memory as JSON.

python benchmarks/large_table.py folder trees members

The peak is read from /proc, because ru_maxrss of a new process starts at its parent's. It is that of the whole process,
interpreter and libraries included.
"""

import json
import sys
from pathlib import Path
from time import perf_counter

import dask.dataframe as dd
import numpy as np
import pandas as pd

from epiboost import EpiBoostRegressor
from epiboost.engines.native import engine as native

COLUMNS = 20
ROWS_PER_FILE = 500_000


def write_table(folder: Path, rows: int, *, seed: int = 0, rows_per_file: int = ROWS_PER_FILE) -> None:
    """Generate a table of floats with a target, file by file."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"x{column}" for column in range(COLUMNS)]
    for number, first in enumerate(range(0, rows, rows_per_file)):
        rng = np.random.default_rng([seed, number])
        count = min(rows_per_file, rows - first)
        frame = pd.DataFrame(rng.normal(size=(count, COLUMNS)), columns=names)
        noise = rng.normal(size=count) * np.exp(0.5 * frame["x3"])
        frame["y"] = frame["x0"] + np.sin(2 * frame["x1"]) * frame["x2"] + 0.3 * noise
        frame.to_parquet(folder / f"part-{number:05d}.parquet", index=False)


def peak(field: str = "VmHWM") -> float:
    """Return the peak memory of this process, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


def main(folder: Path, trees: int, members: int) -> None:
    """Train, and print the seconds of reading and of growing trees, and the peak memory."""
    frame = dd.read_parquet(folder)
    times = [perf_counter()]
    original = native.chain_table

    def timed(*arguments: object) -> object:
        table = original(*arguments)
        times.append(perf_counter())
        return table

    native.chain_table = timed  # the last step before trees are grown
    model = EpiBoostRegressor(
        n_members=members, n_estimators=trees, learning_rate=0.1, max_depth=6, n_jobs=2, random_state=0, out_of_fold=0
    )
    model.fit(frame.drop(columns="y"), frame["y"])
    times.append(perf_counter())
    reading, growing = np.diff(times).tolist()
    print(json.dumps({"reading": reading, "growing": growing, "peak": peak()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
