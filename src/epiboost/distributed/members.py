"""Members trained by the workers of a cluster, on one table that travels to each of them once.

The table is handed to one worker; the others fetch it from each other when their first member asks for it. What a lost
worker was doing is done anew by another: members are pure functions of table and seed, so that costs time and changes
nothing. Should every worker that held the table be lost, it is handed out again.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from epiboost._optional import require
from epiboost.distributed.cluster import CANCELLED, ClusterError, cluster_in_use, scheduler_is_gone

Shared = TypeVar("Shared")
Piece = TypeVar("Piece")
Result = TypeVar("Result")

ON_CLUSTER = "dask"
"""The ``n_jobs`` that stands for the workers of a cluster."""

_ATTEMPTS = 5  # at handing the table out


def fan_out(
    work: Callable[..., Result], shared: Shared, pieces: Sequence[Piece], done: Callable[[int], None]
) -> list[Result]:
    """Call ``work(shared, piece, threads=...)`` for each piece on the workers; return the results in order.

    Parameters
    ----------
    done : callable
        Called with the number of pieces that are finished, whenever there is one more.
    """
    with cluster_in_use() as client:
        own_work = functools.partial(work, threads=_threads_of_each(client, len(pieces)))
        return _persistently(client, own_work, shared, pieces, done)


def _persistently(
    client: Any,  # noqa: ANN401 (a distributed.Client)
    work: Callable[[Shared, Piece], Result],
    shared: Shared,
    pieces: Sequence[Piece],
    done: Callable[[int], None],
) -> list[Result]:
    """Work on all pieces; hand the table out again whenever all workers that held it were lost."""
    results: dict[int, Result] = {}

    def finished(place: int, result: Result) -> None:
        results[place] = result
        done(len(results))

    for _ in range(_ATTEMPTS):
        left = {place: piece for place, piece in enumerate(pieces) if place not in results}
        try:
            _run(client, work, shared, left, finished)
        except CANCELLED as error:
            if scheduler_is_gone(client, error):
                raise
            continue  # the table was lost with the workers that held it
        return [results[place] for place in range(len(pieces))]
    message = f"the workers of the cluster were lost {_ATTEMPTS} times before they finished; have they memory enough?"
    raise ClusterError(message)


def _run(
    client: Any,  # noqa: ANN401 (a distributed.Client)
    work: Callable[[Shared, Piece], Result],
    shared: Shared,
    pieces: Mapping[int, Piece],
    finished: Callable[[int, Result], None],
) -> None:
    """Work on all pieces, and hand each result out with its place as it comes."""
    distributed = require("distributed", extra="dask", purpose="n_jobs='dask'")
    table = client.scatter(shared, hash=False)
    places = {client.submit(work, table, piece, pure=False): place for place, piece in pieces.items()}
    try:
        for future in distributed.as_completed(list(places)):
            result = future.result()
            place = places.pop(future)
            future.release()  # it is here: it need not be computed again if its worker is lost
            finished(place, result)
    except distributed.KilledWorker as error:
        message = f"workers were lost again and again while they trained a member: {error}"
        raise ClusterError(message) from error
    finally:
        if places and not scheduler_is_gone(client):  # an error, or Ctrl-C: the others need not go on
            with suppress(Exception):
                client.cancel([*places, table])


def _threads_of_each(client: Any, pieces: int) -> int:  # noqa: ANN401 (a distributed.Client)
    """Return the threads that a piece may use: where pieces are fewer than the threads of the workers, several."""
    threads = client.nthreads().values()
    return max(1, min(sum(threads) // max(pieces, 1), *threads)) if threads else 1
