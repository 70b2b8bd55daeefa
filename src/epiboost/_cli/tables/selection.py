"""Columns of a table, chosen by name; an unknown name is an error that shows the table's names."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from epiboost._cli.tables.formats import TableError, name_of
from epiboost._optional import require

if TYPE_CHECKING:
    import pyarrow as pa

    from epiboost._typing import AnyArray

_SHOWN_NAMES = 10


def select_columns(table: pa.Table, names: Sequence[str], *, source: Path) -> pa.Table:
    """Return columns in the given order, or raise an error that names the missing ones."""
    missing = [name for name in names if name not in table.column_names]
    if missing:
        message = f"{name_of(source)} lacks the column {quoted(missing)}"
        if len(missing) > 1:
            message = f"{name_of(source)} lacks {len(missing)} columns: {quoted(missing)}"
        message = f"{message}; it has {quoted(table.column_names)}{did_you_mean(missing, table.column_names)}"
        raise TableError(message)
    return table.select(list(names))


def column(table: pa.Table, name: str, *, source: Path) -> pa.ChunkedArray:
    """Return a column, or raise an error if it is absent or has missing values."""
    values: pa.ChunkedArray = select_columns(table, [name], source=source).column(0)
    if values.null_count:
        many = "s" if values.null_count > 1 else ""
        message = f"the column {name!r} of {name_of(source)} has {values.null_count} missing value{many}"
        raise TableError(message)
    return values


def only_other_column(table: pa.Table, known: Sequence[str], *, source: Path) -> str:
    """Return the name of the only column that is not known, such as a feature."""
    others = [name for name in table.column_names if name not in known]
    if len(others) != 1:
        found = "no column" if not others else f"the columns {quoted(others)}"
        message = f"{name_of(source)} has {found} beside the features; give the target with --target"
        raise TableError(message)
    return str(others[0])


def to_numpy(values: pa.ChunkedArray) -> AnyArray:
    """Return a column as an array; text becomes Python strings.

    >>> import pyarrow as pa
    >>> to_numpy(pa.chunked_array([["no", "yes"]])).tolist()
    ['no', 'yes']
    """
    arrow = require("pyarrow", extra="cli", purpose="reading tables")
    if arrow.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if arrow.types.is_decimal(values.type):
        values = values.cast(arrow.float64())
    array: AnyArray = values.to_numpy()
    return array


def did_you_mean(unknown: Sequence[str], known: Sequence[str]) -> str:
    """Return a question for each unknown name that is much like a known one; an empty text if there is none.

    >>> did_you_mean(["Prise"], ["size", "price"])
    "; did you mean 'price'?"
    >>> did_you_mean(["weather"], ["size", "price"])
    ''
    """
    lower = {name.lower(): name for name in reversed(known)}
    found = [close[0] for name in unknown if (close := difflib.get_close_matches(name.lower(), lower, n=1))]
    return f"; did you mean {quoted([lower[name] for name in dict.fromkeys(found)])}?" if found else ""


def quoted(names: Sequence[str]) -> str:
    """Return quoted names, only the first ones if there are many."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN_NAMES])
    return shown if len(names) <= _SHOWN_NAMES else f"{shown} and {len(names) - _SHOWN_NAMES} more"


def with_kept_columns(columns: Mapping[str, AnyArray], kept: pa.Table | None) -> dict[str, AnyArray | pa.ChunkedArray]:
    """Return the columns of an output table with kept columns before them; two of one name are an error."""
    if kept is None:
        return dict(columns)
    both = [name for name in kept.column_names if name in columns]
    if both:
        message = f"the column {quoted(both)} of --keep has the name of a column of the output; rename it in the table"
        raise TableError(message)
    return {**{name: kept.column(name) for name in kept.column_names}, **columns}
