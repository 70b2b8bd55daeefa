r"""Numbers and values as a reader sees them. Nothing here is safe to put on a page unescaped; the template escapes.

>>> percent(0.127), number(1234567.0), cell(3.14159265), cell("two" + chr(10) + "lines")
('12.7\xa0%', '1,234,567', '3.142', 'two lines')
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

_JOINERS = {"\u200c", "\u200d"}  # parts of words in Persian and Hindi, and of emoji
_MANY = 1000.0
_LARGE = 1e15
_READABLE = 1e7
_LEAST_READABLE = 1e-4
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def percent(share: float) -> str:
    """Return a share in per cent, with as many digits as help."""
    if not math.isfinite(share):
        return "–"
    value = 100.0 * share
    digits = 1 if abs(value) < 99.95 or value == 100.0 else 2  # noqa: PLR2004 (99.98 % is not all)
    if value not in {0.0, 100.0} and abs(value) < 0.95:  # noqa: PLR2004 (below one per cent)
        digits = 2
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}\u00a0%"


def number(value: float) -> str:
    """Return a number with four digits, thousands apart, and powers of ten where it is very large or small.

    >>> number(0.12345), number(3.939e11), number(-1.7331e-12)
    ('0.1235', '3.94 × 10¹¹', '-1.73 × 10⁻¹²')
    """
    if math.isnan(value):
        return "missing"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if _MANY <= abs(value) < _READABLE:
        return f"{value:,.0f}"
    if value and not _LEAST_READABLE <= abs(value) < _READABLE:
        mantissa, power = f"{value:.2e}".split("e")
        return f"{mantissa} × 10{str(int(power)).translate(_SUPERSCRIPTS)}"
    return f"{value:.4g}"


def cell(value: object, longest: int = 60) -> str:
    """Return a value of a table: numbers short, texts cut, what cannot be seen made visible."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return "missing"
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating):
        as_float = float(value)
        whole = math.isfinite(as_float) and as_float == int(as_float) and abs(as_float) < _LARGE
        return str(int(as_float)) if whole else number(as_float)
    return words(value, longest)


def words(value: object, longest: int = 60) -> str:
    """Return a text without what would break a line or turn its direction, cut if it is long."""
    text = str(value)
    text = text[: longest + 1]
    text = "".join(letter if letter.isprintable() or letter in _JOINERS else _visible(letter) for letter in text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def distinct(names: Sequence[str], longest: int = 40) -> tuple[str, ...]:
    """Return names of columns that are short, and differ where they did; where the beginnings are alike, by their ends.

    >>> distinct(["", "a" * 60 + "1", "a" * 60 + "2", "b"], 12)
    ('(no name)', 'aaaaa…aaaaa1', 'aaaaa…aaaaa2', 'b')
    """
    shown = [words(name, longest) if name.strip() else "(no name)" for name in names]
    taken = Counter(shown)
    half = (longest - 1) // 2
    for place, name in enumerate(names):
        if taken[shown[place]] > 1 and len(name) > longest:
            shown[place] = f"{words(name[:half], half)}…{words(name[half - longest + 1 :], longest)}"
    taken = Counter(shown)
    return tuple(f"{name} ({place + 1})" if taken[name] > 1 else name for place, name in enumerate(shown))


def count(n: int, noun: str) -> str:
    """Return how many there are.

    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _visible(letter: str) -> str:
    return " " if letter in "\t\n\r" else "\ufffd"
