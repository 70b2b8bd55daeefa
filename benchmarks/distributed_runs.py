"""What a cluster costs and brings: members on workers, scoring and training from Parquet, XGBoost on two workers.

EPIBOOST_DATA=folder python benchmarks/distributed_runs.py [members] [scoring] [training] [xgboost]

Without names it does all. Tables are generated on the fly in a temporary folder; protein is read from EPIBOOST_DATA
where that is set, else generated of the same shape. With --quick they are smaller.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from large_table import COLUMNS, peak, write_table
from tables import protein

from epiboost import EpiBoostRegressor


@contextmanager
def cluster(workers: int) -> Iterator[Client]:
    """Start so many worker processes of one thread each, the package imported."""
    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as local, Client(local) as client:
        client.run(_import)
        yield client


def members(_folder: Path, *, quick: bool) -> None:
    """Ten members on two workers of one thread beside two threads here."""
    table = protein()
    settings = {"n_members": 10, "n_estimators": 100 if quick else 1000, "random_state": 0}
    seconds: dict[str, list[float]] = {"here": [], "cluster": []}
    with cluster(2):
        for _ in range(3):
            for name, jobs in (("here", 2), ("cluster", "dask")):
                start = perf_counter()
                EpiBoostRegressor(n_jobs=jobs, **settings).fit(table.X, table.y)
                seconds[name].append(perf_counter() - start)
    here, there = median(seconds["here"]), median(seconds["cluster"])
    print(
        f"members: {table}, {settings}: here {here:.2f} s, cluster {there:.2f} s, "
        f"ratio {there / here:.2f} (at most 1.25)"
    )


def scoring(folder: Path, *, quick: bool) -> None:
    """Uncertainties of a folder of Parquet files, written to another, by one worker and by two."""
    rows = 1_000_000 if quick else 5_000_000
    write_table(folder / "rows", rows)
    frame = dd.read_parquet(folder / "rows").drop(columns="y")
    sample = pd.read_parquet(folder / "rows" / "part-00000.parquet").iloc[:20_000]
    model = EpiBoostRegressor(n_members=10, n_estimators=100 if quick else 500, random_state=0)
    model.fit(sample.drop(columns="y"), sample["y"])
    rates = {}
    for workers in (1, 2):
        with cluster(workers) as client:
            start = perf_counter()
            model.predict_uncertainty(frame).to_parquet(folder / f"scores{workers}")
            rates[workers] = rows / (perf_counter() - start)
            peaks = client.run(_worker_peak).values()
        print(
            f"scoring: {rows:,} rows, {workers} worker(s): {rates[workers]:,.0f} rows/s, "
            f"peak {max(peaks):,.0f} MiB a worker (at most 1,536)"
        )
    print(f"scoring: two workers have {rates[2] / rates[1]:.2f} times the rate of one (at least 1.5)")


def training(folder: Path, *, quick: bool) -> None:
    """Train on 20 million rows and 20 columns, in a process of its own."""
    rows, trees = (2_000_000, 10) if quick else (20_000_000, 30)
    write_table(folder / "table", rows)
    script = str(Path(__file__).with_name("large_table.py"))
    for chains in (1, 2):
        command = [sys.executable, script, str(folder / "table"), str(trees), str(chains)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 (our own script)
        got = json.loads(done.stdout)
        beyond = got["peak"] - rows * COLUMNS / 2**20
        print(
            f"training: {rows:,} × {COLUMNS}, {chains} chain(s) of {trees} trees: "
            f"{got['reading'] + got['growing']:.0f} s in all, {got['reading']:.0f} s of it to read and bin "
            f"({rows / got['reading']:,.0f} rows/s), "
            f"{rows * trees * chains / got['growing']:,.0f} rows × trees/s; "
            f"peak {got['peak']:,.0f} MiB, {beyond:,.0f} MiB beyond the bins (at most 1,536)"
        )


def xgboost(folder: Path, *, quick: bool) -> None:
    """SGLB by XGBoost on two workers: held-out likelihood beside that of one process, and how fast trees grow."""
    table = protein()
    order = np.random.default_rng(0).permutation(len(table.y))[: 10_000 if quick else None]
    names = [f"x{column}" for column in range(table.X.shape[1])]
    rows = pd.DataFrame(table.X[order], columns=names)
    y = pd.Series(table.y[order], name="y")
    half = len(rows) // 2
    frame = dd.from_pandas(rows[:half].assign(y=y[:half]), npartitions=4)
    settings = {"engine": "xgboost", "n_members": 2, "n_estimators": 30 if quick else 100}
    losses: dict[str, list[float]] = {"two workers": [], "one process": []}
    seconds = dict.fromkeys(losses, 0.0)
    with cluster(2):
        _growth(folder, 200_000 if quick else 1_000_000)
        for seed in range(3 if quick else 5):
            for name, own in (("two workers", (frame[names], frame["y"])), ("one process", (rows[:half], y[:half]))):
                start = perf_counter()
                model = EpiBoostRegressor(random_state=seed, **settings).fit(*own)
                seconds[name] += perf_counter() - start
                posterior = model.predict_posterior(rows[half:])
                losses[name].append(-float(posterior.logpdf(y[half:].to_numpy()).mean()))
    for name, own in losses.items():
        print(
            f"xgboost: {name}: NLL {np.mean(own):.4f} ± {np.std(own, ddof=1):.4f} over {len(own)} seeds, "
            f"{seconds[name]:.0f} s"
        )


def _growth(folder: Path, rows: int) -> None:
    write_table(folder / "table", rows, rows_a_file=rows // 4)
    frame = dd.read_parquet(folder / "table")
    seconds = []
    for trees in (5, 25):
        start = perf_counter()
        model = EpiBoostRegressor(engine="xgboost", n_members=1, n_estimators=trees, random_state=0)
        model.fit(frame.drop(columns="y"), frame["y"])
        seconds.append(perf_counter() - start)
    rate = 20 * rows / (seconds[1] - seconds[0])
    print(f"xgboost: {rows:,} × {COLUMNS}: {rate:,.0f} rows × trees/s on two workers; first 5 trees {seconds[0]:.1f} s")


def _import() -> None:
    import pyarrow as pa  # noqa: PLC0415 (on a worker)

    import epiboost  # noqa: F401, PLC0415 (on a worker)

    pa.set_cpu_count(1)  # a worker of one thread reads by one


def _worker_peak() -> float:
    return peak()


JOBS = {"members": members, "scoring": scoring, "training": training, "xgboost": xgboost}


def main() -> None:
    """Run the jobs that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", choices=[*JOBS, []], default=list(JOBS))
    parser.add_argument("--quick", action="store_true", help="smaller tables")
    asked = parser.parse_args()
    for name in asked.jobs:
        with tempfile.TemporaryDirectory() as folder:
            JOBS[name](Path(folder), quick=asked.quick)


if __name__ == "__main__":
    main()
