"""Text that several commands print."""


def count(number: int, noun: str) -> str:
    """Return a number and its noun.

    >>> count(1, "row"), count(20, "row")
    ('1 row', '20 rows')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
