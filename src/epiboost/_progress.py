"""Tell the user how far training has come.

An engine is given a `Progress`: a callable that takes the number of trees grown so far and the number there will be,
over all members. What the callable does with them is not the engine's concern. `progress_bar` hands out one that draws
a bar on the terminal, and `no_progress` is one that draws nothing:

>>> with progress_bar("Training", enabled=False) as report:
...     report(5, 10)
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO


class Progress(Protocol):
    """Something an engine calls, at most some twenty times a second, while it grows trees."""

    def __call__(self, done: int, total: int, /) -> None:
        """Take note that ``done`` of ``total`` trees are grown."""


def no_progress(done: int, total: int, /) -> None:
    """Draw nothing."""


@contextmanager
def progress_bar(description: str, *, enabled: bool = True, unit: str = "trees") -> Iterator[Progress]:
    """Draw a bar on the terminal while the block runs.

    The bar is drawn on standard error, and only where that is a terminal: a log file or a pipe stays clean. It is drawn
    by rich where that is installed, and is a plain line that rewrites itself where it is not.

    Parameters
    ----------
    description : str
        The words before the bar.
    enabled : bool, default=True
        False draws nothing.
    unit : str, default="trees"
        What is counted.

    Yields
    ------
    Progress
        The callable to hand to an engine.
    """
    # Without a console (a windowed application on Windows) Python sets standard error to None.
    stream: TextIO | None = sys.stderr
    if not enabled or stream is None or not stream.isatty():
        yield no_progress
        return
    try:
        import rich.progress  # noqa: F401, PLC0415 (optional, and slow to import where no bar is drawn)
    except ImportError:
        bar = _plain_bar(description, stream, unit)
    else:
        bar = _rich_bar(description, unit)
    with bar as report:
        yield report


@contextmanager
def _rich_bar(description: str, unit: str) -> Iterator[Progress]:
    from rich.console import Console  # noqa: PLC0415 (see progress_bar)
    from rich.progress import (  # noqa: PLC0415 (see progress_bar)
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar  # noqa: PLC0415 (see progress_bar)

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    # Each report redraws the bar, so a drawing thread beside the ones that grow trees is not needed.
    with Bar(*columns, console=Console(stderr=True), auto_refresh=False) as bar:
        task = bar.add_task(description, total=None)

        def report(done: int, total: int, /) -> None:
            bar.update(task, completed=done, total=total, refresh=True)

        yield report


@contextmanager
def _plain_bar(description: str, stream: TextIO, unit: str) -> Iterator[Progress]:
    def report(done: int, total: int, /) -> None:
        stream.write(f"\r{description} {done}/{total} {unit}")
        stream.flush()

    try:
        yield report
    finally:
        stream.write("\n")
        stream.flush()
