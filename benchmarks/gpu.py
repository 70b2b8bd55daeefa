"""Time of training on a GPU, from NumPy to a model, beside the processor and other libraries.

EPIBOOST_DATA=folder python benchmarks/gpu.py                      all jobs; medians of five after a warm-up
python benchmarks/gpu.py --only protein --repeats 3                some jobs, fewer repeats

Protein is replaced by a generated table of the same shape without EPIBOOST_DATA. Other libraries train one model on the
processor with all of its cores, with as many trees of the same depth. A library that cannot be imported is named.
"""

import importlib
import os
import platform
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np
import tables
from numpy.typing import NDArray

from epiboost import EpiBoostRegressor
from epiboost.engines.cuda.device import check_device, cupy

Array = NDArray[np.floating]
DEPTH, RATE = 6, 0.1
GIB = float(1 << 30)
LIBRARIES = ("catboost", "lightgbm", "xgboost", "sklearn")


@dataclass(frozen=True)
class Job:
    """A table and an ensemble; ``bar`` is the time in seconds that it should take at most, if there is one."""

    name: str
    load: Callable[[], tuple[Array, Array]]
    members: int
    trees: int
    bar: float | None
    ensemble: str = "sglb"
    structure_rows: int | str | None = "auto"
    peers: bool = True


def protein() -> tuple[Array, Array]:
    """Return nine tenths of protein."""
    data = tables.protein()
    return data.X[:41_157], data.y[:41_157]


def generated(rows: int, columns: int) -> Callable[[], tuple[Array, Array]]:
    """Return a function that makes a table with a signal and noise that depends on a column."""

    def make() -> tuple[Array, Array]:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((rows, columns), dtype=np.float32)
        noise = rng.standard_normal(rows, dtype=np.float32) * (0.5 + (X[:, 4] > 0))
        return X, (X[:, 0] + np.sin(2 * X[:, 1]) * X[:, 2] + 0.5 * X[:, 3] ** 2 + noise).astype(np.float64)

    return make


JOBS = (
    Job("protein, 10 members", protein, 10, 1000, 0.30),
    Job("protein, 100 members", protein, 100, 1000, 1.0, peers=False),
    Job("protein, virtual", protein, 10, 1000, 0.20, ensemble="virtual", peers=False),
    Job("463,715 x 90, 10 members", generated(463_715, 90), 10, 200, 2.0, structure_rows=None),
    Job("1,250,000 x 28, 10 members", generated(1_250_000, 28), 10, 200, None, peers=False),
    Job("2,500,000 x 28, 10 members", generated(2_500_000, 28), 10, 200, None, peers=False),
    Job("5,000,000 x 28, 10 members", generated(5_000_000, 28), 10, 200, None, peers=False),
    Job("10,000,000 x 28, 10 members", generated(10_000_000, 28), 10, 200, 15.0, peers=False),
    Job("50,000,000 x 6, 2 members", generated(50_000_000, 6), 2, 20, None, peers=False),
    *(
        Job(f"{rows:,} x 9, 300 trees, members: {members}", generated(rows, 9), members, 300, None, peers=False)
        for rows in (500, 2_000, 8_000, 32_000)
        for members in (1, 10, 100)
    ),
)


def main() -> None:
    """Print one line per job and library."""
    options = _parser().parse_args()
    check_device()
    properties = cupy().cuda.runtime.getDeviceProperties(0)
    driver = cupy().cuda.runtime.driverGetVersion()
    print(f"{properties['name'].decode()}, CUDA {driver}, CuPy {cupy().__version__}, NumPy {np.__version__}")
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores; seconds from NumPy to a model\n")
    print("| job | library | device | seconds | bar | GPU memory |\n|---|---|---|---|---|---|")
    for job in JOBS:
        if options.only in job.name:
            _run(job, options.repeats, processor=not options.gpu_only)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="run the jobs whose name contains this")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--gpu-only", action="store_true", help="leave out the processor and other libraries")
    return parser


def _run(job: Job, repeats: int, *, processor: bool) -> None:
    X, y = job.load()
    pool = cupy().get_default_memory_pool()
    pool.free_all_blocks()
    seconds = _median(lambda: _ours(job, "cuda").fit(X, y), repeats)
    _print(job, "epiboost", "cuda", f"{seconds:.3f}", f"{pool.total_bytes() / GIB:.2f} GB")
    if not processor:
        return
    _print(job, "epiboost", "cpu", f"{_median(lambda: _ours(job, 'cpu').fit(X, y), 1):.3f}")
    for name in LIBRARIES if job.peers else ():
        try:
            importlib.import_module(name)
        except ImportError:
            _print(job, name, "cpu", "not installed")
            continue
        _print(job, f"{name}, one model", "cpu", f"{_median(lambda name=name: _peer(name, job).fit(X, y), 1):.3f}")


def _ours(job: Job, device: str) -> EpiBoostRegressor:
    return EpiBoostRegressor(
        ensemble=job.ensemble,
        n_members=job.members,
        n_estimators=job.trees,
        learning_rate=RATE,
        max_depth=DEPTH,
        structure_rows=job.structure_rows,
        out_of_fold=0,
        random_state=0,
        device=device,
    )


def _peer(name: str, job: Job) -> object:
    library = importlib.import_module(name)
    if name == "catboost":
        return library.CatBoostRegressor(
            iterations=job.trees, learning_rate=RATE, depth=DEPTH, loss_function="RMSEWithUncertainty", verbose=False
        )
    if name == "sklearn":
        boosting = importlib.import_module("sklearn.ensemble").HistGradientBoostingRegressor
        return boosting(
            max_iter=job.trees, learning_rate=RATE, max_depth=DEPTH, max_leaf_nodes=2**DEPTH, early_stopping=False
        )
    size = {"n_estimators": job.trees, "learning_rate": RATE, "max_depth": DEPTH}
    if name == "lightgbm":
        return library.LGBMRegressor(**size, num_leaves=2**DEPTH, verbose=-1)
    return library.XGBRegressor(**size, tree_method="hist")


def _median(work: Callable[[], object], repeats: int) -> float:
    """Return the median time of some repeats after one that is not counted, or of one that is, if there is only one."""
    times = []
    for _ in range(repeats + (repeats > 1)):
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return median(times[1:] or times)


def _print(job: Job, library: str, device: str, seconds: str, memory: str = "") -> None:
    bar = f"{job.bar:.2f}" if device == "cuda" and job.bar is not None else ""
    print(f"| {job.name} | {library} | {device} | {seconds} | {bar} | {memory} |", flush=True)


if __name__ == "__main__":
    main()
