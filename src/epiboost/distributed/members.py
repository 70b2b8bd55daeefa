"""Trains members on the workers of a Dask cluster: how ``n_jobs="dask"`` works.

The table is sent to one worker; the others copy it from each other when they train their first member, so it reaches
every worker at most once. Each member is one task. If a worker is lost, Dask runs its tasks on another one: a member is
a pure function of the table and its seed, so the model is the same. If all workers that held the table are lost, it is
sent again, and the members that are not trained yet are submitted again.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from epiboost._optional import require
from epiboost._typing import LibraryObject
from epiboost.distributed.cluster import CANCELLED, ClusterError, cluster_in_use, scheduler_is_lost

TrainingTable = TypeVar("TrainingTable")
Member = TypeVar("Member")
Result = TypeVar("Result")

_MAX_ATTEMPTS = 5  # at sending the table


def fan_out(
    train: Callable[..., Result], table: TrainingTable, members: Sequence[Member], on_trained: Callable[[int], None]
) -> list[Result]:
    """Call ``train(table, member, threads=...)`` for every member on the workers; return the results in order.

    Parameters
    ----------
    train : callable
        A function that can be pickled; the same arguments must give the same result.
    table : any
        Sent to each worker once.
    members : sequence
        One argument of ``train`` per member.
    on_trained : callable
        Called with the number of trained members each time that one is trained.
    """
    with cluster_in_use() as client:
        train_one = functools.partial(train, threads=_threads_per_member(client, len(members)))
        return _train_with_retries(client, train_one, table, members, on_trained)


def _train_with_retries(
    client: LibraryObject,
    train: Callable[[TrainingTable, Member], Result],
    table: TrainingTable,
    members: Sequence[Member],
    on_trained: Callable[[int], None],
) -> list[Result]:
    """Train all members; send the table again if all workers that held it are lost."""
    results: dict[int, Result] = {}

    def store(position: int, result: Result) -> None:
        results[position] = result
        on_trained(len(results))

    for _ in range(_MAX_ATTEMPTS):
        remaining = {position: member for position, member in enumerate(members) if position not in results}
        try:
            _train_once(client, train, table, remaining, store)
        except CANCELLED as error:
            if scheduler_is_lost(client, error):
                raise
            continue  # the table was lost with the workers that held it
        return [results[position] for position in range(len(members))]
    message = (
        f"all Dask workers that held the table were lost, {_MAX_ATTEMPTS} times in a row; {len(results)} of "
        f"{len(members)} members were trained. Give the workers more memory"
    )
    raise ClusterError(message)


def _train_once(
    client: LibraryObject,
    train: Callable[[TrainingTable, Member], Result],
    table: TrainingTable,
    members: Mapping[int, Member],
    store: Callable[[int, Result], None],
) -> None:
    """Train members, and store each result with the member's position when it arrives."""
    distributed = require("distributed", extra="dask", purpose="n_jobs='dask'")
    scattered = client.scatter(table, hash=False)
    positions = {client.submit(train, scattered, member, pure=False): position for position, member in members.items()}
    try:
        for future in distributed.as_completed(list(positions)):
            result = future.result()
            position = positions.pop(future)
            future.release()  # the result is here: if its worker is lost, it must not be computed again
            store(position, result)
    except distributed.KilledWorker as error:
        message = (
            f"Dask gave a member up because every worker that trained it was lost: {error}. Give the workers more "
            "memory"
        )
        raise ClusterError(message) from error
    finally:
        if positions and not scheduler_is_lost(client):  # after an error or Ctrl-C, stop the other members
            with suppress(Exception):
                client.cancel([*positions, scattered])


def _threads_per_member(client: LibraryObject, n_members: int) -> int:
    """Return the number of threads per member: more than one if there are fewer members than threads."""
    threads = client.nthreads().values()
    return max(1, min(sum(threads) // max(n_members, 1), *threads)) if threads else 1
