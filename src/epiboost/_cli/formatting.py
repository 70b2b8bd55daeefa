"""Text that several commands print."""

from pathlib import Path

from epiboost._cli.tables.formats import is_standard_output


def count(number: int, noun: str) -> str:
    """Return a number and its noun.

    >>> count(1, "row"), count(20, "row")
    ('1 row', '20 rows')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def wrote(path: Path) -> str:
    """Return the end of a message that says which file was written.

    >>> wrote(Path("out.csv")), wrote(Path("-"))
    (' and wrote out.csv', '')
    """
    return "" if is_standard_output(path) else f" and wrote {path}"
