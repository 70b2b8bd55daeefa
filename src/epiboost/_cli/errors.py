"""What goes wrong on the command line, in one line and an exit code."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

KNOWN_ERRORS = (ImportError, MemoryError, OSError, ValueError)
"""What a user can put right: a missing package, too little memory, a file, a value."""

_INTERRUPTED = 130


@contextmanager
def reported() -> Iterator[None]:
    """Turn known errors into one line and an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(complain("interrupted", code=_INTERRUPTED)) from None
    except BrokenPipeError:
        raise
    except KNOWN_ERRORS as error:
        raise typer.Exit(complain(_in_one_line(error))) from error


def _in_one_line(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{str(error.filename)!r}: {error.strerror.lower()}"
    return " ".join(str(error).split()) or type(error).__name__


def complain(message: str, *, code: int = 1) -> int:
    """Say what is wrong on standard error, and return the exit code."""
    typer.echo(f"epiboost: {message}", err=True)
    return code
