"""Show the progress of a run: which cells are done, which are running, and how much time is left.

On a terminal it is a progress bar with one line per running cell; elsewhere, one line per cell that is done.
"""

import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TextIO

from epiboost.paper.cells.cell import CellKey
from epiboost.paper.problem import ROWS
from epiboost.paper.runner import Event

_MINUTE, _HOUR = 60, 3600


class ProgressCallback(Protocol):
    """Callable that is called with every event of a run."""

    def __call__(self, event: Event, /) -> None:
        """Show an event."""


class RemainingTime:
    """Estimates how long the remaining cells take, from those that are done.

    A cell is expected to take as long as the cells of the same dataset and method did on average; before there are any,
    as long per row as the cells of the same method did on other datasets.
    """

    def __init__(self, keys: Sequence[CellKey], n_processes: int) -> None:
        self.remaining = dict.fromkeys(keys)
        self.n_processes = n_processes
        self.known: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)

    def update(self, event: Event) -> None:
        """Record a cell that is done."""
        self.remaining.pop(event.key, None)
        if event.kind == "done":
            self.known[event.key.engine, event.key.method, event.key.dataset].append(event.seconds)

    def seconds(self) -> tuple[float, bool]:
        """Return the seconds left, and whether all cells are included; methods without a finished cell are not."""
        per_row: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        for (engine, method, dataset), spent in self.known.items():
            per_row[engine, method].append(sum(spent) / len(spent) / ROWS[dataset])
        total, is_complete = 0.0, True
        for key in self.remaining:
            same_dataset = self.known.get((key.engine, key.method, key.dataset))
            same_method = per_row.get((key.engine, key.method))
            if same_dataset:
                total += sum(same_dataset) / len(same_dataset)
            elif same_method:
                total += sum(same_method) / len(same_method) * ROWS[key.dataset]
            else:
                is_complete = False
        return total / self.n_processes, is_complete

    def __str__(self) -> str:
        """Return the time left in words."""
        seconds, is_complete = self.seconds()
        if not seconds and not is_complete:
            return "time left not known yet"
        return f"{'' if is_complete else 'at least '}{format_duration(seconds)} left"


@contextmanager
def show_progress(keys: Sequence[CellKey], *, n_processes: int) -> Iterator[ProgressCallback]:
    """Show the progress of a run of these cells while the block runs."""
    stream: TextIO | None = sys.stderr
    if stream is None or not keys:
        yield _show_nothing
        return
    remaining = RemainingTime(keys, n_processes)
    if stream.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}:
        try:
            import rich.live  # noqa: F401, PLC0415 (optional, and slow to import)
        except ImportError:
            pass
        else:
            with _live_display(remaining, len(keys)) as callback:
                yield callback
            return
    yield _LineByLine(remaining, len(keys), stream)


def format_duration(seconds: float) -> str:
    """Return a duration in words.

    >>> format_duration(75), format_duration(3700)
    ('1 min 15 s', '1 h 1 min')
    """
    rounded = round(seconds)
    if rounded >= _HOUR:
        return f"{rounded // _HOUR} h {rounded % _HOUR // _MINUTE} min"
    return f"{rounded // _MINUTE} min {rounded % _MINUTE} s" if rounded >= _MINUTE else f"{rounded} s"


def _show_nothing(event: Event, /) -> None:
    """Show nothing."""


class _LineByLine:
    """Writes one line per cell that is done."""

    def __init__(self, remaining: RemainingTime, total: int, stream: TextIO) -> None:
        self.remaining, self.total, self.stream = remaining, total, stream

    def __call__(self, event: Event, /) -> None:
        if event.kind == "started":
            return
        self.remaining.update(event)
        done = self.total - len(self.remaining.remaining)
        self.stream.write(f"{done}/{self.total} {event.key}: {event.seconds:.1f} s; {self.remaining}\n")
        self.stream.flush()


@contextmanager
def _live_display(remaining: RemainingTime, total: int) -> Iterator[ProgressCallback]:
    from rich.console import Console, Group  # noqa: PLC0415 (optional)
    from rich.live import Live  # noqa: PLC0415 (optional)
    from rich.progress_bar import ProgressBar  # noqa: PLC0415 (optional)
    from rich.text import Text  # noqa: PLC0415 (optional)

    running: dict[CellKey, float] = {}
    start = time.monotonic()

    def render() -> Group:
        done = total - len(remaining.remaining)
        elapsed = format_duration(time.monotonic() - start)
        head = f"{done} of {total} cells, {elapsed} elapsed, {remaining}"
        lines = [f"  {key}, {format_duration(time.monotonic() - since)}" for key, since in running.items()]
        return Group(Text("\n".join([head, *lines])), ProgressBar(total=total, completed=done))

    def update(event: Event, /) -> None:
        if event.kind == "started":
            running[event.key] = time.monotonic()
        else:
            running.pop(event.key, None)
            remaining.update(event)

    with Live(get_renderable=render, console=Console(stderr=True), refresh_per_second=2, transient=True):
        yield update
