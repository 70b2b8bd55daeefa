"""Values that double precision does not hold: errors that say where they are."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from epiboost._typing import Table

MAX_EXACT = 2**53
"""Whole numbers up to it are exact in double precision."""


@contextmanager
def refusing_overflow(what: str) -> Iterator[None]:
    """Turn Python's error for a number above 1.8e308 into one that says what holds it.

    >>> with refusing_overflow("y"):
    ...     float(10**400)
    Traceback (most recent call last):
    ...
    ValueError: y holds a number beyond 1.8e308, the largest of double precision; leave it out or take its logarithm
    """
    try:
        yield
    except OverflowError as error:
        message = (
            f"{what} holds a number beyond 1.8e308, the largest of double precision; leave it out or take its logarithm"
        )
        raise ValueError(message) from error


def refused_column(rows: Table, names: Sequence[Any] | None) -> tuple[str, str]:
    """Return what an error calls the first column with a value that is no float, and the type of the value."""
    for row in rows:
        for position, value in enumerate(row):
            try:
                float("nan" if value is None else value)
            except (OverflowError, TypeError, ValueError):
                return f"column {(position if names is None else names[position])!r} of X", type(value).__name__
    return "X", "unknown"


def inexact_numbers_error(name: object, error: Exception | str) -> ValueError:
    """Return the error for a column of whole numbers that cannot be cast to floats."""
    message = (
        f"column {name!r} of X holds whole numbers above 2^53, which floats do not hold exactly ({error}); list an "
        "identifier in categorical_features or leave it out, and cast a quantity to float64"
    )
    return ValueError(message)
