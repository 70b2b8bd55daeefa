"""Time of predictions on a GPU, beside the processor and beside the copy of the table alone.

EPIBOOST_DATA=folder python benchmarks/gpu_prediction.py           medians of twenty after a warm-up

Without EPIBOOST_DATA protein is replaced by a generated table of its shape. A time ends when the result is complete.
"""

from argparse import ArgumentParser
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
import tables
from numpy.typing import NDArray

from epiboost import EpiBoostRegressor
from epiboost.engines.cuda.device import check_device, cupy

Array = NDArray[np.floating]
MEMBERS, TREES, DEPTH, RATE = 10, 1000, 6, 0.1


def main() -> None:
    """Print one line per job."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    check_device()
    print("| predict, 10 members of 1000 trees | GPU | bar | 16 cores or fewer |\n|---|---|---|---|")
    data = tables.protein()
    rows = tables.protein_twice()
    model = _fitted(data.X, data.y)
    _print_resident("91,460 × 9", model, rows, repeats, "3 ms")
    seconds = _median(lambda: model.predict(rows), repeats)
    _print("91,460 × 9, from NumPy to NumPy", seconds, "", _on_processor(model, rows))
    wide = tables.generated(20_000, 28)
    model = _fitted(wide.X, wide.y)
    rows = np.random.default_rng(0).standard_normal((1_000_000, 28))
    _print_resident("1,000,000 × 28", model, rows, 5, "")
    for dtype in (np.float64, np.float32):
        table = rows.astype(dtype)
        copy = _median(lambda table=table: _finished(cupy().asarray(table)), 5)
        seconds = _median(lambda table=table: model.predict(table), 5)
        name = f"1,000,000 × 28, from NumPy in {np.dtype(dtype).name} (the copy alone: {1000 * copy:.1f} ms)"
        _print(name, seconds, f"{2000 * copy:.1f} ms", _on_processor(model, table))


def _fitted(X: Array, y: Array) -> EpiBoostRegressor:
    settings = {"n_members": MEMBERS, "n_estimators": TREES, "learning_rate": RATE, "max_depth": DEPTH}
    return EpiBoostRegressor(**settings, out_of_fold=0, random_state=0, device="cuda").fit(X, y)


def _print_resident(name: str, model: EpiBoostRegressor, rows: Array, repeats: int, bar: str) -> None:
    """Print the time of a table that is on the GPU, as the result is."""
    resident = cupy().asarray(rows)
    _print(f"{name}, on the GPU", _median(lambda: _finished(model.predict(resident)), repeats), bar)
    uncertainty = _median(lambda: _finished(model.predict_uncertainty(resident)), repeats)
    _print(f"{name}, on the GPU, predict_uncertainty", uncertainty, "")


def _on_processor(model: EpiBoostRegressor, rows: Array) -> float:
    on_processor = model.set_params(device="cpu")
    seconds = _median(lambda: on_processor.predict(rows), 3)
    model.set_params(device="cuda")
    return seconds


def _finished(result: object) -> object:
    """Wait for the GPU."""
    cupy().cuda.runtime.deviceSynchronize()
    return result


def _median(work: Callable[[], object], repeats: int) -> float:
    """Return the median time of some repeats after one that is not counted."""
    times = []
    for _ in range(repeats + 1):
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return median(times[1:])


def _print(name: str, seconds: float, bar: str, processor: float | None = None) -> None:
    beside = "" if processor is None else f"{1000 * processor:.1f} ms"
    print(f"| {name} | {1000 * seconds:.2f} ms | {bar} | {beside} |", flush=True)


if __name__ == "__main__":
    main()
