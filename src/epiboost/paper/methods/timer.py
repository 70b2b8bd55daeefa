"""Measure the wall time and the CPU time of the steps of a method."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Timer:
    """Sums up wall and CPU seconds of named steps.

    CPU time is that of this process alone; other work on the machine does not count.

    >>> timer = Timer()
    >>> with timer("train"):
    ...     pass
    >>> sorted(timer.seconds["train"])
    ['cpu', 'wall']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        """Add the time of the block to a step."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        before = self.seconds.get(step, {"wall": 0.0, "cpu": 0.0})
        self.seconds[step] = {
            "wall": round(before["wall"] + time.perf_counter() - wall, 4),
            "cpu": round(before["cpu"] + time.process_time() - cpu, 4),
        }
