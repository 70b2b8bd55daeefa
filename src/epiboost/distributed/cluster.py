"""The current Dask cluster: its client, its workers, and the errors when it is lost."""

import asyncio
import concurrent.futures
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import numpy as np

from epiboost._optional import require
from epiboost._typing import LibraryObject

CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
"""Errors of a computation whose cluster, or whose input data, is lost."""

_WORKER_TIMEOUT = 30.0  # seconds to wait for a first worker
_ANSWER_TIMEOUT = 5.0  # seconds in which a scheduler must answer after an error


class ClusterError(RuntimeError):
    """There is no Dask cluster, it has no workers, or it was lost during a computation."""


@contextmanager
def cluster_in_use() -> Iterator[LibraryObject]:
    """Yield the current client of a cluster that has workers; errors of the cluster become a `ClusterError`.

    Inside a task of the same cluster, the thread of the task is free for other tasks while it waits.
    """
    distributed = require("distributed", extra="dask", purpose="n_jobs='dask'")
    try:
        client = distributed.get_client()
    except ValueError as error:
        message = "there is no Dask client to train with; fit inside `with distributed.Client(...):`"
        raise ClusterError(message) from error
    with cluster_errors(client):
        wait_for_a_worker(client)
        if not _is_inside_task(distributed):
            yield client
            return
        with distributed.worker_client() as task_client:
            yield task_client


def default_client() -> LibraryObject | None:
    """Return the client that Dask computes with, or None if it computes in this process."""
    base = require("dask.base", extra="dask", purpose="a Dask collection")
    try:
        scheduler = base.get_scheduler()
    except RuntimeError as error:  # of several clients, the last to close may leave Dask set to the cluster of another
        message = (
            "Dask is set to compute on a cluster and no client is connected; connect a distributed.Client, or compute "
            "in this process with dask.config.set(scheduler='threads')"
        )
        raise ClusterError(message) from error
    client = getattr(scheduler, "__self__", None)
    return client if hasattr(client, "nthreads") else None


@contextmanager
def cluster_errors(client: LibraryObject | None) -> Iterator[None]:
    """Raise a `ClusterError` if the cluster of a client is lost; errors of the computation itself pass."""
    try:
        yield
    except (*CANCELLED, OSError) as error:
        if client is None:
            raise
        if scheduler_is_lost(client, error):
            raise scheduler_lost_error() from error
        if isinstance(error, CANCELLED):
            message = (
                "data of the Dask collection was lost with its worker and cannot be computed again, as is the case for "
                "scattered data; the model is not fitted. Create the collection again and fit again"
            )
            raise ClusterError(message) from error
        raise


def require_data(*collections: LibraryObject) -> None:
    """Raise a `ClusterError` if partitions of Dask collections were in the memory of a cluster that is closed.

    Without a cluster, Dask computes in this process, and its error does not say that. On a cluster, errors become those
    of `cluster_errors` when the data is computed.
    """
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return
    with suppress(ClusterError):
        if default_client() is not None:
            return
    futures = distributed.futures_of([collection for collection in collections if collection is not None])
    if any(future.cancelled() for future in futures):
        message = (
            "partitions of the Dask collection were in the memory of a cluster that is closed, as is the case for "
            "persisted and scattered data. Connect to a cluster and create the collection again"
        )
        raise ClusterError(message)


def scheduler_is_lost(client: LibraryObject, error: BaseException | None = None) -> bool:
    """Return whether a client has lost the connection to its scheduler.

    A call can fail before the client itself notices the loss. So after an error the scheduler must answer.
    """
    if client.status != "running" or getattr(error, "reason", "") == "scheduler-connection-lost":
        return True
    return error is not None and not _scheduler_answers(client)


def scheduler_lost_error() -> ClusterError:
    """Return the error that is raised when the scheduler is lost."""
    return ClusterError(
        "the scheduler of the Dask cluster has gone; the model is not fitted. Connect to a cluster and fit again"
    )


def wait_for_a_worker(client: LibraryObject) -> None:
    """Return when the cluster has a worker; raise a `ClusterError` if it has none after half a minute."""
    if client.status == "closed":
        raise scheduler_lost_error()
    if client.nthreads():
        return
    try:
        client.wait_for_workers(1, timeout=_WORKER_TIMEOUT)
    except TimeoutError as error:
        if scheduler_is_lost(client, error):
            raise
        message = f"the Dask cluster has no workers; waited {_WORKER_TIMEOUT:g} s for one. Start a worker and fit again"
        raise ClusterError(message) from error


def assign_workers(sizes: Sequence[int], workers: Sequence[str]) -> list[str]:
    """Return a worker for each partition, such that all workers get about the same number of rows.

    The largest partition goes first, each to the worker that has the fewest rows.

    >>> assign_workers([5, 5, 10, 5], ["one", "two"])
    ['two', 'two', 'one', 'one']
    """
    loads = np.zeros(len(workers), dtype=np.int64)
    assigned = [""] * len(sizes)
    for position in np.argsort(-np.asarray(sizes), kind="stable").tolist():
        least_loaded = int(loads.argmin())
        assigned[position] = workers[least_loaded]
        loads[least_loaded] += sizes[position]
    return assigned


def _scheduler_answers(client: LibraryObject) -> bool:
    """Return whether the scheduler of a client answers."""
    try:
        client.sync(client.scheduler.identity, callback_timeout=_ANSWER_TIMEOUT)
    except (*CANCELLED, OSError):
        return False
    return bool(client.status == "running")


def _is_inside_task(distributed: LibraryObject) -> bool:
    """Return whether this code runs in a task of a cluster."""
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True
