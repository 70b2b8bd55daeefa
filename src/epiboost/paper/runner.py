"""Run the cells that are missing, in parallel; a run that is stopped loses at most the cells that were running.

The cells of one fold run one after the other in one process, because some methods reuse the results of others. With one
job everything runs in this process, on all cores; with several, each job is a process of its own.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Literal

from epiboost.paper.cells import cell as cells
from epiboost.paper.cells.cell import CellKey, Content, DamagedCellError, UnknownCellError
from epiboost.paper.cells.provenance import available_cores, why_outdated
from epiboost.paper.methods import registry
from epiboost.paper.methods.registry import METHODS
from epiboost.paper.protocol import Protocol

CellsOfFold = tuple[CellKey, ...]
_PARENT_CHECK_INTERVAL = 1.0  # seconds


class WorkerDiedError(ChildProcessError):
    """A worker process ended before its cell was finished."""


@dataclass(frozen=True, slots=True)
class Event:
    """A cell was started or finished, or its file cannot be used.

    Attributes
    ----------
    kind : {"started", "done", "damaged", "unknown"}
    key : CellKey
    text : str
        Message for the user, if any.
    seconds : float
        Run time of a cell that is done.
    """

    kind: Literal["started", "done", "damaged", "unknown"]
    key: CellKey
    text: str = ""
    seconds: float = 0.0


def find_pending(
    folder: Path,
    keys: Iterable[CellKey],
    protocol: Protocol,
    *,
    renew: bool = False,
    without_ood: Container[str] = (),
) -> tuple[list[CellKey], list[Event]]:
    """Return the cells that have to be run, and events about files that are damaged or unknown.

    A cell is run again if it was computed with another protocol or without out-of-domain rows, or if it reuses the
    results of a cell that is run again.

    Parameters
    ----------
    folder : path
        The folder of cells.
    keys : iterable of CellKey
    protocol : Protocol
    renew : bool
        Whether cells of another revision or seed are run again too.
    without_ood : container of str
        Datasets whose out-of-domain rows are not available now: their cells without such rows are kept.
    """
    pending: set[CellKey] = set()
    events = []
    keys = list(keys)
    for key in keys:
        try:
            content = cells.read(folder, key)
        except UnknownCellError as error:
            events.append(Event("unknown", key, f"{error}; it is skipped"))
            continue
        except DamagedCellError as error:
            events.append(Event("damaged", key, f"{error}; it is run again"))
            content = None
        if content is None or _must_rerun(content, protocol, renew=renew, without_ood=without_ood):
            pending.add(key)
    needs = {key: replace(key, method=METHODS[key.method].needs or "") for key in keys}
    return [key for key in keys if key in pending or needs[key] in pending], events


def _must_rerun(content: Content, protocol: Protocol, *, renew: bool, without_ood: Container[str]) -> bool:
    if not protocol.matches(content["protocol"]) or (renew and why_outdated(content)):
        return True
    return not content["outside"] and content["dataset"] not in without_ood


def run(folder: Path, keys: Sequence[CellKey], protocol: Protocol, *, n_processes: int) -> Generator[Event]:
    """Run cells and yield an event whenever one starts or is done.

    Parameters
    ----------
    folder : path
        The folder of cells.
    keys : sequence of CellKey
        The cells to run.
    protocol : Protocol
    n_processes : int
        Number of processes, which share the cores.
    """
    folds = _group_by_fold(keys)
    n_processes = max(1, min(n_processes, len(folds)))
    n_threads = max(1, available_cores() // n_processes)
    if n_processes == 1:
        for key in (key for fold in folds for key in fold):
            yield Event("started", key)
            yield run_cell(folder, key, protocol, n_threads)
        return
    context = multiprocessing.get_context("spawn")
    resource_tracker.ensure_running()  # if it started later, worker processes would receive interrupts
    with ProcessPoolExecutor(
        n_processes, mp_context=context, initializer=_exit_with_parent, initargs=(os.getpid(),)
    ) as pool:

        def submit(key: CellKey) -> "Future[Event]":
            with _blocked_interrupts():
                return pool.submit(run_cell, folder, key, protocol, n_threads)

        try:
            yield from _run_in_pool(deque(folds), n_processes, submit)
        except BrokenProcessPool as error:
            message = "a worker process was killed, perhaps for lack of memory; run the same command again"
            raise WorkerDiedError(message) from error
        except BaseException:
            _terminate_workers(pool)
            raise


def run_cell(folder: Path, key: CellKey, protocol: Protocol, n_threads: int) -> Event:
    """Run one cell and write its file."""

    def cell_of(method: str) -> Content:
        """Return the cell of another method on the same fold; run it first if it is missing."""
        other = replace(key, method=method)
        pending, _ = find_pending(folder, [other], protocol, without_ood={other.dataset})
        if pending:
            run_cell(folder, other, protocol, n_threads)
        content = cells.read(folder, other)
        if content is None:
            message = f"the cell of {other} could not be written"
            raise RuntimeError(message)
        return content

    start = time.perf_counter()
    content = registry.run(key, protocol, n_threads, cell_of)
    cells.write(folder, key, content)
    return Event("done", key, seconds=time.perf_counter() - start)


def _run_in_pool(
    folds: deque[CellsOfFold], n_processes: int, submit: Callable[[CellKey], "Future[Event]"]
) -> Iterator[Event]:
    """Keep every process busy with one cell; the next cell of a fold starts when the one before is done."""
    running: dict[Future[Event], deque[CellKey]] = {}
    while folds or running:
        while folds and len(running) < n_processes:
            rest = deque(folds.popleft())
            key = rest.popleft()
            yield Event("started", key)
            running[submit(key)] = rest
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            rest = running.pop(future)
            yield future.result()
            if rest:
                folds.appendleft(tuple(rest))


def _group_by_fold(keys: Sequence[CellKey]) -> list[CellsOfFold]:
    """Return the cells by fold, each after the one whose results it reuses."""
    order = list(METHODS)
    folds: defaultdict[tuple[str, str, int], list[CellKey]] = defaultdict(list)
    for key in keys:
        folds[key.engine, key.dataset, key.fold].append(key)
    return [tuple(sorted(fold, key=lambda key: order.index(key.method))) for fold in folds.values()]


@contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """Block interrupts for a moment, so that processes started in the block never receive any."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _exit_with_parent(parent: int) -> None:
    """End this process when its parent is gone, so that a killed run leaves no processes behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles interrupts, and ends this process

    def check() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_CHECK_INTERVAL)
        os._exit(1)

    threading.Thread(target=check, daemon=True).start()


def _terminate_workers(pool: ProcessPoolExecutor) -> None:
    """Stop the worker processes at once; the files they have written are complete."""
    workers: Any = list((getattr(pool, "_processes", None) or {}).values())  # a pool forgets them when it shuts down
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
