"""Errors on the command line: one line on standard error and an exit code."""

import functools
from collections.abc import Callable
from typing import ParamSpec

import typer

KNOWN_ERRORS = (ImportError, MemoryError, OSError, ValueError)
"""Errors that a user can correct: a missing package, too little memory, a file, a value."""

_FAILED = 2
_INTERRUPTED = 130

P = ParamSpec("P")


def with_known_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Return a command that turns known errors into one line and an exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            print_error("interrupted")
            raise typer.Exit(_INTERRUPTED) from None
        except BrokenPipeError:
            raise
        except KNOWN_ERRORS as error:
            print_error(_in_one_line(error))
            raise typer.Exit(_FAILED) from error

    return run


def print_error(message: str) -> None:
    """Print an error or a warning to standard error."""
    typer.echo(f"epiboost: {message}", err=True)


def _in_one_line(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{str(error.filename)!r}: {error.strerror.lower()}"
    words = " ".join(str(error).split()) or type(error).__name__
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in words)  # bytes of a file that is no text
