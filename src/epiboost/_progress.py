"""Reports the progress of training.

An engine is given a `Progress`, a callback that takes the number of trees trained so far and the total number of trees,
over all members. `progress_bar` yields a callback that draws a bar on the terminal; `no_progress` draws nothing.

>>> with progress_bar("Training", enabled=False) as progress:
...     progress(5, 10)
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO


class Progress(Protocol):
    """A callback that an engine calls during training, at most about twenty times per second."""

    def __call__(self, done: int, total: int, /) -> None:
        """Report that ``done`` of ``total`` trees are trained."""


def no_progress(done: int, total: int, /) -> None:
    """Draw nothing."""


@contextmanager
def progress_bar(description: str, *, enabled: bool = True, unit: str = "trees") -> Iterator[Progress]:
    """Draw a progress bar on standard error while the block runs, if standard error is a terminal.

    The bar is drawn by rich if that is installed; otherwise it is a line of text that is overwritten.

    Parameters
    ----------
    description : str
        Text before the bar.
    enabled : bool, default=True
        False draws nothing.
    unit : str, default="trees"
        Plural noun for what is counted.

    Yields
    ------
    Progress
        The callback to pass to an engine.
    """
    # Python sets standard error to None in a Windows application without a console.
    stream: TextIO | None = sys.stderr
    if not enabled or stream is None or not stream.isatty():
        yield no_progress
        return
    try:
        import rich.progress  # noqa: F401, PLC0415 (optional, and slow to import)
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
    # Each report redraws the bar, so no extra thread is needed that would compete with training.
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
