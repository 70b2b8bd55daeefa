"""What a piece of work takes: seconds on the wall, and of processors, to which others on the machine add none."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Adds up the time of named pieces of work.

    >>> clock = Clock()
    >>> with clock("train"):
    ...     pass
    >>> sorted(clock.seconds["train"])
    ['cpu', 'wall']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time the block."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        before = self.seconds.get(name, {"wall": 0.0, "cpu": 0.0})
        self.seconds[name] = {
            "wall": round(before["wall"] + time.perf_counter() - wall, 4),
            "cpu": round(before["cpu"] + time.process_time() - cpu, 4),
        }
