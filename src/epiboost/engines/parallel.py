"""Members trained side by side: as many at a time as there are threads, and no more threads than cores.

Each member is trained in a thread of its own while the caller's thread waits, so that an interrupt (Ctrl-C) is seen at
once. Members learn of it when they next say how many trees they have grown, which they do often.

>>> from epiboost._progress import no_progress
>>> train_members(lambda spec, threads, grown: spec * threads, [1, 2, 3], threads=2, trees=5, progress=no_progress)
[1, 2, 3]
>>> train_members(lambda spec, threads, grown: spec * threads, [1], threads=4, trees=5, progress=no_progress)
[4]
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from epiboost._progress import Progress

Spec = TypeVar("Spec")
Member = TypeVar("Member")
Grown = Callable[[int], None]
"""What a member calls with the number of trees it has grown since its last call; it does not return when all is off."""

_PAUSE = 0.05  # seconds between two reports


class Stopped(Exception):  # noqa: N818 (no fault: it ends the training of a member that nobody waits for)
    """Raised in a member that is to end."""


def train_members(
    train: Callable[[Spec, int, Grown], Member], specs: Sequence[Spec], *, threads: int, trees: int, progress: Progress
) -> list[Member]:
    """Call ``train(spec, its threads, grown)`` for each spec and return the members in the order of the specs."""
    workers = max(1, min(threads, len(specs)))
    report = _Report(progress, len(specs) * trees)
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(train, spec, threads // workers, report) for spec in specs]
        try:
            left, failed = set(futures), False
            while left and not failed:
                done, left = wait(left, timeout=_PAUSE, return_when=FIRST_EXCEPTION)
                failed = any(future.exception() is not None for future in done)
            members = [future.result() for future in futures if future not in left]
        except BaseException:
            report.stopped = True
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    progress(report.total, report.total)
    return members


class _Report:
    """Adds up the trees of all members and passes the sum on, not too often."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.progress = progress
        self.total = total
        self.done = 0
        self.next = 0.0
        self.stopped = False
        self.lock = threading.Lock()

    def __call__(self, trees: int) -> None:
        if self.stopped:
            raise Stopped
        with self.lock:
            self.done += trees
            if time.monotonic() >= self.next:
                self.next = time.monotonic() + _PAUSE
                self.progress(self.done, self.total)
