"""Tables in files: CSV and Parquet, chosen by the ending of the file name, read and written with PyArrow.

Compressed CSV files (``.csv.gz``) can be read, not written.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from epiboost._files.atomic import atomic_write
from epiboost._optional import require

if TYPE_CHECKING:
    import pyarrow as pa

    from epiboost._typing import AnyArray

ENDINGS: Final = (".csv", ".parquet")
"""File name endings that can be read and written."""

MISSING: Final = (
    "", "NA", "N/A", "n/a", "#NA", "#N/A", "#N/A N/A", "NULL", "null", "NaN", "nan", "-NaN", "-nan", "1.#IND",
    "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
"""Texts that mean a missing value in a CSV file, unless they are quoted."""

_COMPRESSED = ".csv.gz"
_SEPARATORS = {b";": "semicolons", b"\t": "tabs"}
_SHOWN_NAMES = 10
_MAX_BLOCK = 2**30  # bytes; Arrow's block sizes are 32-bit integers
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


class TableError(ValueError):
    """A table cannot be read or written, or lacks a column."""


def check_ending(path: Path) -> str:
    """Return the ending of a table's file name, or raise an error if it is neither CSV nor Parquet.

    >>> check_ending(Path("train.CSV"))
    '.csv'
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        message = f"{str(path)!r} is neither CSV nor Parquet: its name must end in {' or '.join(ENDINGS)}"
        if path.name.lower().endswith(_COMPRESSED):
            message = (
                f"cannot write {str(path)!r}: compressed tables can be read, not written; use {' or '.join(ENDINGS)}"
            )
        raise TableError(message)
    return ending


def check_writable(path: Path, *, sources: Sequence[Path]) -> None:
    """Raise an error if a file cannot or must not be written, before any work is done."""
    if any(path.resolve() == source.resolve() for source in sources):
        message = f"cannot write {str(path)!r}: it is an input of this command and would be overwritten"
        raise TableError(message)
    if path.is_dir():
        message = f"cannot write {str(path)!r}: it is a folder"
        raise TableError(message)
    if not path.resolve().parent.is_dir():
        message = f"cannot write {str(path)!r}: its folder does not exist"
        raise TableError(message)
    if not os.access(path.resolve().parent, os.W_OK):
        message = f"cannot write {str(path)!r}: permission denied"
        raise TableError(message)


def read_table(path: Path, *, text: Sequence[str] = ()) -> pa.Table:
    """Read a table.

    In a CSV file the first line holds the column names, fields are separated by commas, and a field that is empty or
    holds one of the texts in ``MISSING`` is a missing value, unless it is quoted.

    Parameters
    ----------
    path : Path
        A file whose name ends in ``.csv``, ``.csv.gz`` or ``.parquet``.
    text : sequence of str
        Columns of a CSV file to read as text even if they look like numbers or dates; absent ones are ignored.

    Returns
    -------
    pyarrow.Table
        A table with at least one row and distinct column names.
    """
    ending = ".csv" if path.name.lower().endswith(_COMPRESSED) else check_ending(path)
    if not path.is_file():
        message = f"cannot read {str(path)!r}: {'it is a folder' if path.is_dir() else 'there is no such file'}"
        raise TableError(message)
    arrow = require("pyarrow", extra="cli", purpose="reading tables")
    try:
        table = _read_csv(path, text) if ending == ".csv" else _read_parquet(path)
        names = table.column_names  # decoded only now
    except UnicodeDecodeError as error:
        message = f"cannot read {str(path)!r}: it is not UTF-8 text; save it as UTF-8"
        raise TableError(message) from error
    except arrow.ArrowException as error:
        message = f"cannot read {str(path)!r}: {error}"
        raise TableError(message) from error
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        message = f"{str(path)!r} has more than one column named {quoted(repeated)}"
        raise TableError(message)
    if table.num_rows == 0:
        message = f"{str(path)!r} has no rows"
        raise TableError(message)
    return table


def write_table(columns: Mapping[str, AnyArray], path: Path) -> None:
    """Write columns of equal length as a table; an existing file is replaced only once all is written.

    Parameters
    ----------
    columns : mapping from str to array of shape (n,)
        Columns by name, in order.
    path : Path
        A file whose name ends in ``.csv`` or ``.parquet``.
    """
    ending = check_ending(path)
    table = require("pyarrow", extra="cli", purpose="writing tables").table(dict(columns))
    with atomic_write(path) as draft:
        if ending == ".csv":
            require("pyarrow.csv", extra="cli", purpose="writing CSV").write_csv(table, draft)
        else:
            require("pyarrow.parquet", extra="cli", purpose="writing Parquet").write_table(table, draft)


def only_other_column(table: pa.Table, features: pa.Table, *, source: Path) -> str:
    """Return the name of the only column that is not a feature."""
    others = [name for name in table.column_names if name not in features.column_names]
    if len(others) != 1:
        found = "no column" if not others else f"the columns {', '.join(map(repr, others))}"
        message = f"{str(source)!r} has {found} beside the features; give the target with --target"
        raise ValueError(message)
    return str(others[0])


def select_columns(table: pa.Table, names: Sequence[str], *, source: Path) -> pa.Table:
    """Return columns in the given order, or raise an error that names the missing ones."""
    missing = [name for name in names if name not in table.column_names]
    if missing:
        message = f"{str(source)!r} lacks the column {quoted(missing)}"
        if len(missing) > 1:
            message = f"{str(source)!r} lacks {len(missing)} columns: {quoted(missing)}"
        message = f"{message}; it has {quoted(table.column_names)}"
        raise TableError(message)
    return table.select(list(names))


def column(table: pa.Table, name: str, *, source: Path) -> pa.ChunkedArray:
    """Return a column, or raise an error if it is absent or has missing values."""
    values: pa.ChunkedArray = select_columns(table, [name], source=source).column(0)
    if values.null_count:
        many = "s" if values.null_count > 1 else ""
        message = f"the column {name!r} of {str(source)!r} has {values.null_count} missing value{many}"
        raise TableError(message)
    return values


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


def _read_csv(path: Path, text: Sequence[str]) -> pa.Table:
    arrow = require("pyarrow", extra="cli", purpose="reading tables")
    csv = require("pyarrow.csv", extra="cli", purpose="reading CSV")
    data = _uncompressed(path) if path.name.lower().endswith(_COMPRESSED) else None
    _check_separator(path, path.open("rb") if data is None else io.BytesIO(data))
    # By default Arrow reads an empty field of a text column as an empty string.
    conversion = csv.ConvertOptions(
        null_values=list(MISSING),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        column_types=dict.fromkeys(text, arrow.string()),
    )
    # Arrow infers column types from the first block and fails if a later block does not fit: read one block.
    size = path.stat().st_size if data is None else len(data)
    options = csv.ReadOptions(block_size=min(max(size, 1) + 1, _MAX_BLOCK))
    source = path if data is None else arrow.BufferReader(data)
    table: pa.Table = csv.read_csv(source, read_options=options, convert_options=conversion)
    undecoded = [field.name for field in table.schema if arrow.types.is_binary(field.type)]
    if undecoded:
        message = f"cannot read {str(path)!r}: the column {quoted(undecoded)} is not UTF-8 text"
        raise TableError(message)
    return table


def _uncompressed(path: Path) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        message = f"cannot read {str(path)!r}: it is not a complete gzip file ({error})"
        raise TableError(message) from error


def _check_separator(path: Path, file: IO[bytes]) -> None:
    """Raise an error if the fields of the first line are separated by semicolons or tabs."""
    with file:
        unquoted = re.sub(rb'"[^"]*"', b"", file.readline())
    separators = [name for separator, name in _SEPARATORS.items() if separator in unquoted]
    if separators and b"," not in unquoted:
        message = (
            f"cannot read {str(path)!r}: its fields are separated by {separators[0]}; save it with commas between "
            "fields and decimal points in numbers"
        )
        raise TableError(message)


def _read_parquet(path: Path) -> pa.Table:
    # As one file: given a path, PyArrow would search for partitions.
    table: pa.Table = require("pyarrow.parquet", extra="cli", purpose="reading Parquet").ParquetFile(path).read()
    # The index of a pandas frame is not a feature.
    return table.drop_columns([name for name in table.column_names if _PANDAS_INDEX.fullmatch(name)])


def quoted(names: Sequence[str]) -> str:
    """Return quoted names, only the first ones if there are many."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN_NAMES])
    return shown if len(names) <= _SHOWN_NAMES else f"{shown} and {len(names) - _SHOWN_NAMES} more"
