r"""Numbers and values as text. Nothing here is escaped; the template does that.

>>> percent(0.127), number(1234567.0), cell(3.14159265), cell("two" + chr(10) + "lines")
('12.7\xa0%', '1,234,567', '3.142', 'two lines')
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

_JOINERS = {"\u200c", "\u200d"}  # parts of words in Persian and Hindi, and of emoji
_THOUSAND = 1000.0
_MAX_INTEGER = 1e15
_MAX_READABLE = 1e7
_MIN_READABLE = 1e-4
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def percent(share: float) -> str:
    """Return a share in per cent, with more digits near 0 and 100."""
    if not math.isfinite(share):
        return "–"
    value = 100.0 * share
    digits = 1 if abs(value) < 99.95 or value == 100.0 else 2  # noqa: PLR2004 (99.98 % is not all)
    if value not in {0.0, 100.0} and abs(value) < 0.95:  # noqa: PLR2004 (below one per cent)
        digits = 2
    rounded = f"{value:.{digits}f}"
    return f"{rounded.rstrip('0').rstrip('.') if '.' in rounded else rounded}\u00a0%"


def number(value: float) -> str:
    """Return a number with four digits, a comma per thousand, and a power of ten if it is very large or small.

    >>> number(0.12345), number(3.939e11), number(-1.7331e-12)
    ('0.1235', '3.94 × 10¹¹', '-1.73 × 10⁻¹²')
    """
    if math.isnan(value):
        return "missing"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if _THOUSAND <= abs(value) < _MAX_READABLE:
        return f"{value:,.0f}"
    if value and not _MIN_READABLE <= abs(value) < _MAX_READABLE:
        mantissa, power = f"{value:.2e}".split("e")
        return f"{mantissa} × 10{str(int(power)).translate(_SUPERSCRIPTS)}"
    return f"{value:.4g}"


def cell(value: object, max_length: int = 60) -> str:
    """Return a value of a table: numbers rounded, long texts cut, invisible letters replaced."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return "missing"
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating):
        as_float = float(value)
        is_whole = math.isfinite(as_float) and as_float == int(as_float) and abs(as_float) < _MAX_INTEGER
        return str(int(as_float)) if is_whole else number(as_float)
    return text(value, max_length)


def text(value: object, max_length: int = 60) -> str:
    """Return a text in one line and one direction, cut if it is long."""
    letters = str(value)[: max_length + 1]
    shown = "".join(letter if letter.isprintable() or letter in _JOINERS else _visible(letter) for letter in letters)
    return shown if len(shown) <= max_length else f"{shown[: max_length - 1]}…"


def unique_names(names: Sequence[object], max_length: int = 40) -> tuple[str, ...]:
    """Return short names that are all different; long names with the same beginning keep their ends.

    >>> unique_names(["", "a" * 60 + "1", "a" * 60 + "2", "b"], 12)
    ('(no name)', 'aaaaa…aaaaa1', 'aaaaa…aaaaa2', 'b')
    """
    texts = [str(name) for name in names]  # those of a frame may be numbers
    shown = [text(name, max_length) if name.strip() else "(no name)" for name in texts]
    counts = Counter(shown)
    half = (max_length - 1) // 2
    for position, name in enumerate(texts):
        if counts[shown[position]] > 1 and len(name) > max_length:
            shown[position] = f"{text(name[:half], half)}…{text(name[half - max_length + 1 :], max_length)}"
    counts = Counter(shown)
    return tuple(f"{name} ({position + 1})" if counts[name] > 1 else name for position, name in enumerate(shown))


def count(n: int, noun: str) -> str:
    """Return a number and its noun.

    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _visible(letter: str) -> str:
    return " " if letter in "\t\n\r" else "\ufffd"
