"""Errors on the command line: one line on standard error and an exit code."""

import functools
from collections.abc import Callable
from typing import ParamSpec

import typer

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
        except known_errors() as error:
            print_error(_in_one_line(error))
            raise typer.Exit(_FAILED) from error

    return run


def known_errors() -> tuple[type[Exception], ...]:
    """Return the errors that a user can correct: a missing GPU or package, too little memory, a file, a value."""
    from epiboost.engines.cuda.device import DeviceError  # noqa: PLC0415 (imports NumPy, which help does not need)

    return DeviceError, ImportError, MemoryError, OSError, ValueError


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
