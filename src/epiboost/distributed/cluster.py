"""The cluster that is in use, and what its end looks like."""

import asyncio
import concurrent.futures
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from epiboost._optional import require

CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
"""What waiting for a cluster ends with when it is gone, or when data is lost that it cannot make again."""

_PATIENCE = 30.0  # seconds to wait for a first worker


class ClusterError(RuntimeError):
    """A cluster that is not there, or not there any more."""


@contextmanager
def cluster_in_use() -> Iterator[Any]:
    """Give the client that is in use, having seen that it has workers; errors of the cluster are our own.

    Inside a task of that very cluster the task makes room for others while it waits.
    """
    distributed = require("distributed", extra="dask", purpose="n_jobs='dask'")
    try:
        client = distributed.get_client()
    except ValueError as error:
        message = "there is no Dask client to train with; fit inside `with distributed.Client(...):`"
        raise ClusterError(message) from error
    with cluster_errors(client):
        wait_for_a_worker(client)
        if not _in_a_task(distributed):
            yield client
            return
        with distributed.worker_client() as own:
            yield own


def default_client() -> Any | None:  # noqa: ANN401 (a distributed.Client)
    """Return the client that computes what Dask is asked for, or None if that is done here."""
    base = require("dask.base", extra="dask", purpose="a table in partitions")
    client = getattr(base.get_scheduler(), "__self__", None)
    return client if hasattr(client, "nthreads") else None


@contextmanager
def cluster_errors(client: Any) -> Iterator[None]:  # noqa: ANN401 (a distributed.Client, or None)
    """Turn what the end of a cluster looks like into a `ClusterError`; errors of the work itself pass."""
    try:
        yield
    except (*CANCELLED, OSError) as error:
        if client is None:
            raise
        if scheduler_is_gone(client, error):
            raise scheduler_gone() from error
        if isinstance(error, CANCELLED):
            message = (
                "data that the table is made of was lost with its worker and cannot be made again (was it scattered?); "
                "the model is not fitted"
            )
            raise ClusterError(message) from error
        raise


def scheduler_is_gone(client: Any, error: BaseException | None = None) -> bool:  # noqa: ANN401 (a distributed.Client)
    """Tell whether a client has lost its scheduler."""
    return client.status != "running" or getattr(error, "reason", "") == "scheduler-connection-lost"


def scheduler_gone() -> ClusterError:
    """Return the error that says so."""
    return ClusterError("the scheduler of the Dask cluster has gone; the model is not fitted. Connect and fit again")


def wait_for_a_worker(client: Any) -> None:  # noqa: ANN401 (a distributed.Client)
    """Return when there is a worker; raise an error if none comes for a while."""
    if client.nthreads():
        return
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        if scheduler_is_gone(client, error):
            raise
        message = f"the Dask cluster has no workers; waited {_PATIENCE:g} s for one"
        raise ClusterError(message) from error


def dealt(sizes: Sequence[int], workers: Sequence[str]) -> list[str]:
    """Return a worker for each partition, so that all get about the same number of rows.

    >>> dealt([5, 5, 10, 5], ["one", "two"])
    ['two', 'two', 'one', 'one']
    """
    loads = np.zeros(len(workers), dtype=np.int64)
    chosen = [""] * len(sizes)
    for place in np.argsort(-np.asarray(sizes), kind="stable").tolist():
        least = int(loads.argmin())
        chosen[place] = workers[least]
        loads[least] += sizes[place]
    return chosen


def _in_a_task(distributed: Any) -> bool:  # noqa: ANN401 (a module)
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True
