"""Reports the progress of training.

An engine is given a `Progress`, a callback that takes the number of trees trained so far and the total number of trees,
over all members. `progress_bar` yields a callback that draws a bar on the terminal or in a notebook, and elsewhere may
log a line at every tenth of the work; `no_progress` draws nothing. `log` writes a line through the logger "epiboost".

>>> with progress_bar("Training", enabled=False) as progress:
...     progress(5, 10)
"""

import importlib
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol, TextIO

_LINES = 10  # of a log, over the whole work


class Progress(Protocol):
    """A callback that an engine calls during training, at most about twenty times per second."""

    def __call__(self, done: int, total: int, /) -> None:
        """Report that ``done`` of ``total`` trees are trained."""


def no_progress(done: int, total: int, /) -> None:
    """Draw nothing."""


@contextmanager
def progress_bar(
    description: str, *, enabled: bool = True, unit: str = "trees", lines: bool = False
) -> Iterator[Progress]:
    """Show the progress while the block runs.

    In a notebook it is a bar below the cell. On a terminal the bar is drawn by rich if that is installed; otherwise it
    is a line of text that is overwritten. Elsewhere lines are logged, if asked for.

    Parameters
    ----------
    description : str
        Text before the bar.
    enabled : bool, default=True
        False draws nothing.
    unit : str, default="trees"
        Plural noun for what is counted.
    lines : bool, default=False
        Whether to log lines where there is neither a terminal nor a notebook.

    Yields
    ------
    Progress
        The callback to pass to an engine.
    """
    # Python sets standard error to None in a Windows application without a console.
    stream: TextIO | None = sys.stderr
    if not enabled:
        yield no_progress
        return
    bar: AbstractContextManager[Progress]
    if _in_notebook():
        bar = _notebook_bar(description, unit)
    elif stream is None or not on_terminal():
        bar = _logged_lines(description, unit) if lines else nullcontext(no_progress)
    else:
        bar = _terminal_bar(description, stream, unit)
    with bar as report:
        yield report


def log(line: str) -> None:
    """Write a line through the logger "epiboost"; to standard error if the program logs no information."""
    logger = logging.getLogger("epiboost")
    if logger.hasHandlers() and logger.isEnabledFor(logging.INFO):
        logger.info(line)
    elif sys.stderr is not None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def on_terminal() -> bool:
    """Return whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def _in_notebook() -> bool:
    """Return whether the program runs in a Jupyter kernel, whose front end can show HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def _notebook_bar(description: str, unit: str) -> Iterator[Progress]:
    ipython = importlib.import_module("IPython.display")  # a notebook has it

    start = time.perf_counter()
    handle = ipython.display(ipython.HTML(""), display_id=True)

    def report(done: int, total: int, /) -> None:
        seconds = time.perf_counter() - start
        words = f"{description} {done:,} of {total:,} {unit}, {seconds:.0f} s"
        handle.update(ipython.HTML(f"<progress value='{done}' max='{total}'></progress> {words}"))

    yield report


@contextmanager
def _logged_lines(description: str, unit: str) -> Iterator[Progress]:
    start, logged = time.perf_counter(), 0

    def report(done: int, total: int, /) -> None:
        nonlocal logged
        tenths = _LINES * done // max(total, 1)
        if tenths > logged:
            logged = tenths
            log(f"{description}: {done:,} of {total:,} {unit}, {time.perf_counter() - start:.1f} s")

    yield report


def _terminal_bar(description: str, stream: TextIO, unit: str) -> AbstractContextManager[Progress]:
    try:
        import rich.progress  # noqa: F401, PLC0415 (optional, and slow to import)
    except ImportError:
        return _plain_bar(description, stream, unit)
    return _rich_bar(description, unit)


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
