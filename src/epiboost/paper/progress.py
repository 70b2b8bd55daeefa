"""A live view of a run: what is done, what runs, how long the rest will take.

On a terminal it is a bar with a line for each cell in work; elsewhere, one line for each cell that is done.
"""

import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TextIO

from epiboost.paper.cells.cell import Key
from epiboost.paper.problem import ROWS
from epiboost.paper.runner import Event

_MINUTE, _HOUR = 60, 3600


class View(Protocol):
    """Something that is told what happens."""

    def __call__(self, event: Event, /) -> None:
        """Take note of an event."""


class Forecast:
    """How long the cells that are left will take, from those that are done.

    A cell takes as long as others of its dataset and method did; before there are any, as long as others of its method
    did for each row.
    """

    def __init__(self, keys: Sequence[Key], jobs: int) -> None:
        self.left = dict.fromkeys(keys)
        self.jobs = jobs
        self.known: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)

    def done(self, event: Event) -> None:
        """Take note of a cell that is done."""
        self.left.pop(event.key, None)
        if event.kind == "done":
            self.known[event.key.engine, event.key.method, event.key.dataset].append(event.seconds)

    def seconds(self) -> tuple[float, bool]:
        """Return the seconds that are left, and whether every cell is in them: nothing is known of a new method yet."""
        rates: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        for (engine, method, dataset), taken in self.known.items():
            rates[engine, method].append(sum(taken) / len(taken) / ROWS[dataset])
        total, all_known = 0.0, True
        for key in self.left:
            own = self.known.get((key.engine, key.method, key.dataset))
            like = rates.get((key.engine, key.method))
            if own:
                total += sum(own) / len(own)
            elif like:
                total += sum(like) / len(like) * ROWS[key.dataset]
            else:
                all_known = False
        return total / self.jobs, all_known


@contextmanager
def view(keys: Sequence[Key], *, jobs: int) -> Iterator[View]:
    """Show a run of these cells while the block runs."""
    stream: TextIO | None = sys.stderr
    if stream is None or not keys:
        yield _nothing
        return
    forecast = Forecast(keys, jobs)
    if stream.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}:
        try:
            import rich.live  # noqa: F401, PLC0415 (optional, and slow to import)
        except ImportError:
            pass
        else:
            with _live(forecast, len(keys)) as note:
                yield note
            return
    yield _Lines(forecast, len(keys), stream)


def in_words(seconds: float) -> str:
    """Say how long.

    >>> in_words(75), in_words(3700)
    ('1 min 15 s', '1 h 1 min')
    """
    whole = round(seconds)
    if whole >= _HOUR:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
    return f"{whole // _MINUTE} min {whole % _MINUTE} s" if whole >= _MINUTE else f"{whole} s"


def _left(forecast: Forecast) -> str:
    known, all_known = forecast.seconds()
    if not known and not all_known:
        return "time left not known yet"
    return f"{'' if all_known else 'at least '}{in_words(known)} left"


def _nothing(event: Event, /) -> None:
    """Show nothing."""


class _Lines:
    """One line a cell."""

    def __init__(self, forecast: Forecast, total: int, stream: TextIO) -> None:
        self.forecast, self.total, self.stream = forecast, total, stream

    def __call__(self, event: Event, /) -> None:
        if event.kind == "started":
            return
        self.forecast.done(event)
        done = self.total - len(self.forecast.left)
        self.stream.write(f"{done}/{self.total} {event.key}: {event.seconds:.1f} s; {_left(self.forecast)}\n")
        self.stream.flush()


@contextmanager
def _live(forecast: Forecast, total: int) -> Iterator[View]:
    from rich.console import Console, Group  # noqa: PLC0415 (optional)
    from rich.live import Live  # noqa: PLC0415 (optional)
    from rich.progress_bar import ProgressBar  # noqa: PLC0415 (optional)
    from rich.text import Text  # noqa: PLC0415 (optional)

    running: dict[Key, float] = {}
    begin = time.monotonic()

    def picture() -> Group:
        done = total - len(forecast.left)
        elapsed = in_words(time.monotonic() - begin)
        head = f"{done} of {total} cells, {elapsed} so far, {_left(forecast)}"
        lines = [f"  {key}, {in_words(time.monotonic() - since)}" for key, since in running.items()]
        return Group(Text("\n".join([head, *lines])), ProgressBar(total=total, completed=done))

    with Live(get_renderable=picture, console=Console(stderr=True), refresh_per_second=2, transient=True):

        def note(event: Event, /) -> None:
            if event.kind == "started":
                running[event.key] = time.monotonic()
            else:
                running.pop(event.key, None)
                forecast.done(event)

        yield note
