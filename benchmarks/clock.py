"""Interleaved timing: each round runs every library once, so that a slow phase of the machine affects all of them."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter, sleep

# Threads of the previous run may spin for some milliseconds after their work; they must not slow down the next run.
PAUSE = 0.02

Times = dict[str, tuple[float, ...]]


def interleaved(
    runs: Mapping[str, Callable[[], object]], rounds: int, *, warm_up: bool = False, pause: float = PAUSE
) -> Times:
    """Return the seconds of each run, one per round."""
    if warm_up:
        for run in runs.values():
            run()
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            sleep(pause)
            start = perf_counter()
            result = run()
            seconds[name].append(perf_counter() - start)
            del result
    return {name: tuple(values) for name, values in seconds.items()}


def interleaved_scripts(scripts: Mapping[str, list[str]], rounds: int) -> Times:
    """Return the number that each script prints, one per round, each in a new interpreter."""
    printed: dict[str, list[float]] = {name: [] for name in scripts}
    for _ in range(rounds):
        for name, arguments in scripts.items():
            printed[name].append(_printed(arguments))
    return {name: tuple(values) for name, values in printed.items()}


def import_script(module: str) -> list[str]:
    """Return a script that prints the seconds of an import."""
    return [
        "-c",
        f"from time import perf_counter; start = perf_counter(); import {module}; print(perf_counter() - start)",
    ]


def memory_script(trainer: str, folder: Path, trees: int) -> list[str]:
    """Return a script that prints the peak memory of training."""
    return [str(Path(__file__).with_name("memory.py")), trainer, str(folder), str(trees)]


def _printed(arguments: list[str]) -> float:
    done = subprocess.run(  # noqa: S603 (our own scripts)
        [sys.executable, *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    return float(done.stdout)
