"""Parallel training of members: as many at a time as there are threads, and no more threads than cores.

Each member is trained in its own thread while the caller's thread waits, so that an interrupt (Ctrl-C) is handled at
once. Members are cancelled when they next report the trees they have grown, which they do often.

>>> from epiboost._progress import no_progress
>>> train_members(lambda spec, threads, report: spec * threads, [1, 2, 3], threads=2, trees=5, progress=no_progress)
[1, 2, 3]
>>> train_members(lambda spec, threads, report: spec * threads, [1], threads=4, trees=5, progress=no_progress)
[4]
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeAlias, TypeVar

from epiboost._progress import Progress

Spec = TypeVar("Spec")
Member = TypeVar("Member")
TreeCallback: TypeAlias = Callable[[int], None]
"""Called by a member with the number of trees grown since its last call; raises `TrainingCancelled` to end it."""

_REPORT_INTERVAL = 0.05  # seconds


class TrainingCancelled(Exception):  # noqa: N818 (not an error: it ends the training of a member that is not needed)
    """Raised in a member whose training was cancelled."""


def train_members(
    train: Callable[[Spec, int, TreeCallback], Member],
    specs: Sequence[Spec],
    *,
    threads: int,
    trees: int,
    progress: Progress,
) -> list[Member]:
    """Call ``train(spec, threads of the member, report_trees)`` for each spec; return the members in order.

    Parameters
    ----------
    train : callable
        Trains one member.
    specs : sequence
    threads : int
        Number of threads for all members together.
    trees : int
        Number of trees per member.
    progress : callable
        Called with the number of trees that are grown and the number of all trees.
    """
    workers = max(1, min(threads, len(specs)))
    report = _TreeReport(progress, len(specs) * trees)
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(train, spec, threads // workers, report) for spec in specs]
        try:
            pending, failed = set(futures), False
            while pending and not failed:
                done, pending = wait(pending, timeout=_REPORT_INTERVAL, return_when=FIRST_EXCEPTION)
                failed = any(future.exception() is not None for future in done)
            members = [future.result() for future in futures if future not in pending]
        except BaseException:
            report.cancelled = True
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    progress(report.total, report.total)
    return members


class _TreeReport:
    """Adds up the trees of all members and reports the sum at most every `_REPORT_INTERVAL` seconds."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.progress = progress
        self.total = total
        self.done = 0
        self.next_report = 0.0
        self.cancelled = False
        self.lock = threading.Lock()

    def __call__(self, trees: int) -> None:
        if self.cancelled:
            raise TrainingCancelled
        with self.lock:
            self.done += trees
            if time.monotonic() >= self.next_report:
                self.next_report = time.monotonic() + _REPORT_INTERVAL
                self.progress(self.done, self.total)
