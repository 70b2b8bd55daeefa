"""Parallel training of members: as many at a time as there are threads, and no more threads than cores.

Each member is trained in its own thread while the caller's thread waits, so that an interrupt (Ctrl-C) is handled at
once. Members are cancelled when they next report the trees they have grown, which they do often.

>>> from epiboost._progress import no_progress
>>> train_members(lambda spec, threads, report: spec * threads, [1, 2, 3], threads=2, trees=5, progress=no_progress)
[1, 2, 3]
>>> train_members(lambda spec, threads, report: spec * threads, [1], threads=4, trees=5, progress=no_progress)
[4]
"""

import numbers
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeAlias, TypeVar

import joblib

from epiboost._progress import Progress
from epiboost.distributed.members import ON_CLUSTER

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


def thread_count(n_jobs: int | str | None) -> int:
    """Return the number of threads for scikit-learn's ``n_jobs``: None or -1 is all cores, -2 all but one, and so on.

    All cores are those that this process may use; ``OMP_NUM_THREADS`` lowers them further, as it does for scikit-learn.
    Work that does not go to a cluster, where ``n_jobs="dask"``, uses all cores too.

    >>> thread_count(3)
    3
    """
    if isinstance(n_jobs, str) and n_jobs == ON_CLUSTER:
        n_jobs = None
    if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        message = f"n_jobs must be None or a whole number other than 0, or 'dask'; got {n_jobs!r}"
        raise ValueError(message)
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    cores = int(joblib.cpu_count())
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if limit.isdigit() and int(limit) > 0:
        cores = min(cores, int(limit))
    return max(1, cores + 1 + int(-1 if n_jobs is None else n_jobs))


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
