"""Run the cells that are not there yet, some at a time, and lose at most those in work when stopped.

The unit of work is a fold of a dataset: its methods run one after the other in one process, because some build on
others. With one job the work is done here, on all cores; with several, each has a process of its own.
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
from typing import Any

from epiboost.paper.cells import cell as cells
from epiboost.paper.cells.cell import Content, DamagedCellError, Key, UnknownCellError
from epiboost.paper.cells.provenance import cores, why_older
from epiboost.paper.methods import registry as methods
from epiboost.paper.methods.registry import METHODS
from epiboost.paper.protocol import Protocol

Unit = tuple[Key, ...]
_LOOK_FOR_PARENT = 1.0  # seconds


class WorkerDiedError(ChildProcessError):
    """A process that ended before its cell was done."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened.

    Attributes
    ----------
    kind : {"started", "done", "damaged", "unknown"}
    key : Key
    text : str
        What a user should read, if anything.
    seconds : float
        That the cell took.
    """

    kind: str
    key: Key
    text: str = ""
    seconds: float = 0.0


def pending(
    folder: Path,
    keys: Iterable[Key],
    protocol: Protocol,
    *,
    renew: bool = False,
    no_source: Container[str] = (),
) -> tuple[list[Key], list[Event]]:
    """Return the cells that are still to be done, and what was found damaged or is not known.

    A cell of another protocol is done again, and so is one of a time when there were no rows from outside, and one
    that builds on a cell that is done again.

    Parameters
    ----------
    folder : path
    keys : iterable of Key
    protocol : Protocol
    renew : bool
        Whether cells of another revision or seed are done again too.
    no_source : container of str
        Datasets whose rows from outside are not to be had now: their cells without them stay.
    """
    left: dict[Key, None] = {}
    found = []
    keys = list(keys)
    for key in keys:
        try:
            content = cells.read(folder, key)
        except UnknownCellError as error:
            found.append(Event("unknown", key, f"{error}; it is left out"))
            continue
        except DamagedCellError as error:
            found.append(Event("damaged", key, f"{error}; it is done again"))
            content = None
        if content is None or _is_stale(content, protocol, renew=renew, no_source=no_source):
            left[key] = None
    built_on = {key: METHODS[key.method].after for key in keys}
    return [key for key in keys if key in left or replace(key, method=built_on[key] or "") in left], found


def _is_stale(content: Content, protocol: Protocol, *, renew: bool, no_source: Container[str]) -> bool:
    if content["protocol"] != protocol.to_json() or (renew and why_older(content)):
        return True
    return not content["outside"] and content["dataset"] not in no_source


def run(folder: Path, keys: Sequence[Key], protocol: Protocol, *, jobs: int) -> Generator[Event]:
    """Do the cells, and tell what happens.

    Parameters
    ----------
    folder : path
        Of the cells.
    keys : sequence of Key
        What is to be done.
    protocol : Protocol
    jobs : int
        Processes; they share the cores.
    """
    units = _units(keys)
    jobs = max(1, min(jobs, len(units)))
    threads = max(1, cores() // jobs)
    if jobs == 1:
        for unit in units:
            for key in unit:
                yield Event("started", key)
                yield do(folder, key, protocol, threads)
        return
    context = multiprocessing.get_context("spawn")
    resource_tracker.ensure_running()  # started later, it would let interrupts through to what follows
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_leave_with_parent, initargs=(os.getpid(),)) as pool:

        def submit(key: Key) -> "Future[Event]":
            with _interrupts_held():
                return pool.submit(do, folder, key, protocol, threads)

        try:
            yield from _in_pool(deque(units), jobs, submit)
        except BrokenProcessPool as error:
            message = "a process that ran a cell was ended from outside, for want of memory perhaps; run the same again"
            raise WorkerDiedError(message) from error
        except BaseException:
            _end_workers(pool)
            raise


def do(folder: Path, key: Key, protocol: Protocol, threads: int) -> Event:
    """Do one cell and put it in its place."""

    def earlier(method: str) -> Content:
        other = Key(key.engine, key.dataset, key.fold, method)
        left, _ = pending(folder, [other], protocol, no_source={other.dataset})
        if left:
            do(folder, other, protocol, threads)
        content = cells.read(folder, other)
        if content is None:
            message = f"the cell of {other} could not be made"
            raise RuntimeError(message)
        return content

    start = time.perf_counter()
    content = methods.run(key, protocol, threads, earlier)
    cells.write(folder, key, content)
    return Event("done", key, seconds=time.perf_counter() - start)


def _in_pool(units: deque[Unit], jobs: int, submit: Callable[[Key], "Future[Event]"]) -> Iterator[Event]:
    """Keep every process busy with a cell; the next of a fold follows when the one before is done."""
    running: dict[Future[Event], deque[Key]] = {}
    while units or running:
        while units and len(running) < jobs:
            rest = deque(units.popleft())
            key = rest.popleft()
            yield Event("started", key)
            running[submit(key)] = rest
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            rest = running.pop(future)
            yield future.result()
            if rest:
                units.appendleft(tuple(rest))


def _units(keys: Sequence[Key]) -> list[Unit]:
    """Return the cells by fold, each after the one it builds on."""
    order = list(METHODS)
    folds: defaultdict[tuple[str, str, int], list[Key]] = defaultdict(list)
    for key in keys:
        folds[key.engine, key.dataset, key.fold].append(key)
    return [tuple(sorted(own, key=lambda key: order.index(key.method))) for own in folds.values()]


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold interrupts back for a moment; processes that are started in it never see any, not even while they start."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _leave_with_parent(parent: int) -> None:
    """End this process when the one that started it is gone: a killed run leaves nothing behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent, which ends this process

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_FOR_PARENT)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()


def _end_workers(pool: ProcessPoolExecutor) -> None:
    """Stop the processes at once; what they had written is whole."""
    workers: Any = list((getattr(pool, "_processes", None) or {}).values())  # a pool that is shut down forgets them
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
