"""Short text and HTML of results: shapes, medians and first rows in place of long arrays."""

import html
from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from epiboost._typing import AnyArray, LibraryObject

SHOWN_ROWS = 10
"""Number of rows of a table in a notebook."""

_MAX_LENGTH = 80
_MAX_VALUES = 10


def short_repr(value: LibraryObject) -> str:
    """Return the fields of a dataclass as text, arrays and other long values by type and shape.

    A class uses it by ``__repr__ = short_repr``.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Curve:
    ...     name: str
    ...     error: AnyArray
    ...     __repr__ = short_repr
    >>> Curve("rejection", np.zeros(1000))
    Curve(name='rejection', error=<ndarray of shape (1000,)>)
    """
    shown = ", ".join(f"{field.name}={_short(getattr(value, field.name))}" for field in fields(value) if field.repr)
    return f"{type(value).__name__}({shown})"


def medians(columns: Mapping[str, AnyArray]) -> str:
    """Return the median of each column as text.

    >>> medians({"data": np.array([1.0, 2.0, 9.0]), "knowledge": np.array([0.5, 0.5, 0.5])})
    'medians: data=2, knowledge=0.5'
    """
    found = ", ".join(f"{name}={np.median(values) if len(values) else np.nan:.4g}" for name, values in columns.items())
    return f"{'medians' if len(columns) > 1 else 'median'}: {found}"


def html_table(caption: str, columns: Mapping[str, AnyArray], index: LibraryObject, n_rows: int) -> str:
    """Return the first rows of columns as an HTML table.

    Parameters
    ----------
    caption : str
    columns : mapping from str to arrays of shape (n,)
        At least the rows that are shown.
    index : sequence or None
        Label of each row; None for its position.
    n_rows : int
        Number of rows, also of those that are not shown.
    """
    n_shown = min(n_rows, SHOWN_ROWS)
    labels = range(n_shown) if index is None else index[:n_shown]
    lines = [_cells("th", ["", *columns])]
    for row, label in enumerate(labels):
        lines.append(_cells("td", [label, *(values[row] for values in columns.values())]))
    more = f"<p>and {n_rows - n_shown:,} more rows</p>" if n_rows > n_shown else ""
    return f"<table><caption>{html.escape(caption)}</caption>{''.join(lines)}</table>{more}"


def _cells(tag: str, values: list[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(_cell(value))}</{tag}>' for value in values)}</tr>"


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _short(value: LibraryObject) -> str:
    shape = getattr(value, "shape", ())
    text = "" if shape and shape[0] > _MAX_VALUES else repr(value)
    if text and len(text) <= _MAX_LENGTH and "\n" not in text:
        return text
    kind = type(value).__name__
    return f"<{kind} of shape {tuple(shape)}>" if shape else f"<{kind}>"
