"""Measure runs on a Dask cluster: members on workers, scoring and training from Parquet, XGBoost on two workers.

EPIBOOST_DATA=folder python benchmarks/distributed_runs.py [members] [scoring] [training] [xgboost]

Without names it runs all jobs. Tables are generated in a temporary folder; protein is read from EPIBOOST_DATA if that
is set, else generated with the same shape. With --quick they are smaller.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from clock import interleaved
from distributed import Client, LocalCluster
from large_table import COLUMNS, peak, write_table
from tables import protein

from epiboost import EpiBoostRegressor
from epiboost.engines.xgboost.workers import WorkerGroup

ROUNDS = 3


@contextmanager
def cluster(workers: int) -> Iterator[Client]:
    """Start a cluster of worker processes with one thread each, and import the package on them."""
    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as local, Client(local) as client:
        client.run(_import)
        yield client


def members(_folder: Path, *, quick: bool) -> None:
    """Train ten members on two workers with one thread each; compare with two threads in this process."""
    table = protein()
    settings = {"n_members": 10, "n_estimators": 100 if quick else 1000, "learning_rate": 0.1}
    settings |= {"max_depth": 6, "random_state": 0}

    def fit(jobs: int | str) -> None:
        EpiBoostRegressor(n_jobs=jobs, **settings).fit(table.X, table.y)

    with cluster(2):
        seconds = interleaved({"here": partial(fit, 2), "cluster": partial(fit, "dask")}, ROUNDS)
    ratios = [there / here for here, there in zip(*seconds.values(), strict=True)]
    print(
        f"members: {table}, {settings}: here {_spread(seconds['here'], '.2f')} s, "
        f"cluster {_spread(seconds['cluster'], '.2f')} s, ratio {_spread(ratios, '.2f')} (at most 1.25)"
    )


def scoring(folder: Path, *, quick: bool) -> None:
    """Predict uncertainties of a folder of Parquet files and write them, with one worker and with two."""
    rows = 1_000_000 if quick else 5_000_000
    write_table(folder / "rows", rows)
    frame = dd.read_parquet(folder / "rows").drop(columns="y")
    sample = pd.read_parquet(folder / "rows" / "part-00000.parquet").iloc[:20_000]
    model = EpiBoostRegressor(n_members=10, n_estimators=100 if quick else 500, random_state=0)
    model.fit(sample.drop(columns="y"), sample["y"])
    with cluster(1) as one, cluster(2) as two:
        clients = {"one worker": one, "two workers": two}

        def score(name: str) -> None:
            with clients[name].as_current():
                model.predict_uncertainty(frame).to_parquet(folder / name)

        seconds = interleaved({name: partial(score, name) for name in clients}, ROUNDS, warm_up=True)
        peaks = {name: max(client.run(_worker_peak).values()) for name, client in clients.items()}
    for name, own in seconds.items():
        print(
            f"scoring: {rows:,} rows, {name}: {_spread([rows / one for one in own])} rows/s, "
            f"peak {peaks[name]:,.0f} MiB per worker (at most 1,536)"
        )
    ratios = [one / two for one, two in zip(*seconds.values(), strict=True)]
    print(f"scoring: two workers have {_spread(ratios, '.2f')} times the throughput of one (at least 1.5)")


def training(folder: Path, *, quick: bool) -> None:
    """Train on 20 million rows and 20 columns, in a new process."""
    rows, trees = (2_000_000, 10) if quick else (20_000_000, 30)
    write_table(folder / "table", rows)
    script = str(Path(__file__).with_name("large_table.py"))
    for chains in (1, 2):
        command = [sys.executable, script, str(folder / "table"), str(trees), str(chains)]
        runs = [
            json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)  # noqa: S603 (ours)
            for _ in range(1 if quick else ROUNDS)
        ]
        peaks = [run["peak"] for run in runs]
        beyond = max(peaks) - rows * COLUMNS / 2**20
        print(
            f"training: {rows:,} × {COLUMNS}, {chains} chain(s) of {trees} trees: "
            f"{_spread([run['reading'] + run['growing'] for run in runs])} s in all, "
            f"{_spread([rows / run['reading'] for run in runs])} rows/s to read, bin and order, "
            f"{_spread([rows * trees * chains / run['growing'] for run in runs])} rows × trees/s; "
            f"highest peak {max(peaks):,.0f} MiB, {beyond:,.0f} MiB beyond the bins (at most 1,536)"
        )


def xgboost(folder: Path, *, quick: bool) -> None:
    """Train SGLB with XGBoost on two workers; compare the likelihood with one process, and measure the throughput."""
    table = protein()
    order = np.random.default_rng(0).permutation(len(table.y))[: 10_000 if quick else None]
    names = [f"x{column}" for column in range(table.X.shape[1])]
    rows = pd.DataFrame(table.X[order], columns=names)
    y = pd.Series(table.y[order], name="y")
    half = len(rows) // 2
    frame = dd.from_pandas(rows[:half].assign(y=y[:half]), npartitions=4)
    settings = {"engine": "xgboost", "n_members": 2, "n_estimators": 30 if quick else 100}
    settings |= {"learning_rate": 0.1, "max_depth": 6}
    losses: dict[str, list[float]] = {"two workers": [], "one process": []}
    seconds = dict.fromkeys(losses, 0.0)
    with cluster(2), placements():
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
    """Print the throughput with and without variance guard, from the difference of two numbers of trees."""
    write_table(folder / "table", rows, rows_per_file=rows // 4)
    frame = dd.read_parquet(folder / "table")

    def fit(trees: int, guard: float) -> None:
        options = {"n_members": 1, "n_estimators": trees, "random_state": 0, "variance_guard": guard}
        EpiBoostRegressor(engine="xgboost", **options).fit(frame.drop(columns="y"), frame["y"])

    runs = {(trees, guard): partial(fit, trees, guard) for guard in (1.0, 0.0) for trees in (5, 25)}
    seconds = interleaved(runs, ROUNDS)
    for guard in (1.0, 0.0):
        pairs = zip(seconds[5, guard], seconds[25, guard], strict=True)
        rates = [20 * rows / (many - few) for few, many in pairs]
        print(
            f"xgboost: {rows:,} × {COLUMNS}, variance_guard={guard}: {_spread(rates)} rows × trees/s on two workers; "
            f"first 5 trees {_spread(seconds[5, guard], '.1f')} s"
        )


@contextmanager
def placements() -> Iterator[None]:
    """Print how many rows each worker has, whenever that is another number than before."""
    make, seen = WorkerGroup._matrix, set()  # noqa: SLF001 (what it is called by)

    def noted(group: WorkerGroup) -> Any:  # noqa: ANN401 (a DaskQuantileDMatrix)
        matrix = make(group)
        sizes = {part.key: size for part, size in zip(group.parts, group.sizes, strict=True)}
        rows = tuple(sum(sizes[part.key] for part in parts) for parts in matrix.worker_map.values())
        if rows not in seen:
            print(f"xgboost: rows of each worker: {', '.join(f'{count:,}' for count in rows)}")
        seen.add(rows)
        return matrix

    WorkerGroup._matrix = noted  # type: ignore[method-assign]  # noqa: SLF001
    try:
        yield
    finally:
        WorkerGroup._matrix = make  # type: ignore[method-assign]  # noqa: SLF001


def _spread(values: Sequence[float], form: str = ",.0f") -> str:
    """Return the median and the range of measurements."""
    return f"{median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def _import() -> None:
    import pyarrow as pa  # noqa: PLC0415 (on a worker)

    import epiboost  # noqa: F401, PLC0415 (on a worker)

    pa.set_cpu_count(1)  # a worker with one thread also reads with one, see docs/dask.md


def _worker_peak() -> float:
    return peak()


JOBS = {"members": members, "scoring": scoring, "training": training, "xgboost": xgboost}


def main() -> None:
    """Run the named jobs, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", metavar="job", default=list(JOBS), help=", ".join(JOBS))
    parser.add_argument("--quick", action="store_true", help="smaller tables")
    options = parser.parse_args()
    if unknown := set(options.jobs) - set(JOBS):
        parser.error(f"there is no job {', '.join(sorted(unknown))}; choose from {', '.join(JOBS)}")
    for name in options.jobs:
        with tempfile.TemporaryDirectory() as folder:
            JOBS[name](Path(folder), quick=options.quick)


if __name__ == "__main__":
    main()
