"""Threads of a prediction: their number while others predict too, locks of libraries' models, and forked processes.

Calls that predict at the same time share the threads, so that sixteen clients of one model do not start sixteen times
as many threads as there are cores. The number of threads never changes a prediction.

>>> with shared_threads(8) as alone, shared_threads(8) as second:
...     alone, second
(8, 4)

A forked process has the memory of its parent, but none of its other threads. OpenMP does not know that: a library that
has used it before the fork waits forever for threads that do not exist. Such a library uses one thread in the forked
process. A lock that another thread held at the fork is never released, so all of these locks are new there.
"""

import ctypes
import os
import sys
from threading import Lock
from types import TracebackType
from weakref import WeakKeyDictionary, WeakSet

from epiboost._typing import LibraryObject

_WITH_OPENMP = ("lightgbm", "xgboost")


class _State:
    """What the threads of this process share."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.under_way = 0
        self.single_threaded: frozenset[str] = frozenset()
        self.locks: WeakKeyDictionary[LibraryObject, Lock] = WeakKeyDictionary()
        self.configured: WeakSet[LibraryObject] = WeakSet()


_state = _State()


class shared_threads:  # noqa: N801 (a context manager, like `contextlib.suppress`; a generator takes twice the time)
    """Context in which a call predicts: gives it its share of the threads.

    Parameters
    ----------
    threads : int
        Number of threads that the call may use if it is alone.
    """

    __slots__ = ("state", "threads")

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.state = _state

    def __enter__(self) -> int:
        """Return the number of threads that the call uses."""
        with self.state.lock:
            self.state.under_way += 1
            return max(1, self.threads // self.state.under_way)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the call."""
        with self.state.lock:
            self.state.under_way -= 1


def library_threads(library: str, threads: int) -> int:
    """Return the number of threads that a library may use: one if it was imported before this process was forked."""
    return 1 if library in _state.single_threaded else threads


def lock_of(model: LibraryObject) -> Lock:
    """Return the lock of a library's model whose calls must not overlap."""
    return _state.locks.setdefault(model, Lock())


def configured_models() -> WeakSet[LibraryObject]:
    """Return the set of the library models that are configured in this process."""
    return _state.configured


def _forget_other_threads() -> None:
    """Begin anew in a forked process."""
    global _state  # noqa: PLW0603 (a fork is the one event that changes it)
    _state = _State()
    _state.single_threaded = frozenset(name for name in _WITH_OPENMP if name in sys.modules)
    # both also start threads where they take no number of threads, as when they read a model
    if "lightgbm" in _state.single_threaded:
        sys.modules["lightgbm"].basic._LIB.LGBM_SetMaxThreads(ctypes.c_int(1))  # noqa: SLF001 (no public one)
    if "xgboost" in _state.single_threaded:
        sys.modules["xgboost"].set_config(nthread=1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
