"""Tables from files and from standard input."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from epiboost._cli.tables import formats, parsing
from epiboost._cli.tables.compression import NAMES, decompress, gather
from epiboost._cli.tables.formats import TableError, TableKind, name_of
from epiboost._cli.tables.selection import quoted
from epiboost._optional import require

if TYPE_CHECKING:
    import pyarrow as pa

_HEAD = 2**20  # bytes; the first line of all but the widest tables
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_SEPARATOR_NAMES = {b",": "commas", b";": "semicolons", b"\t": "tabs"}


@dataclass(frozen=True, slots=True)
class TableContent:
    """A table as bytes, which can be parsed more than once.

    Attributes
    ----------
    path : Path
        Where it comes from; ``-`` is standard input.
    kind : {"csv", "tsv", "jsonl", "parquet"}
    data : pyarrow.Buffer
        Uncompressed.
    """

    path: Path
    kind: TableKind
    data: pa.Buffer

    @property
    def head(self) -> bytes:
        """The first bytes, which tell the format."""
        return _head(self.data)

    def table(self, *, text: Sequence[str] = ()) -> pa.Table:
        """Return the table; see `read_table`."""
        return self._parsed(lambda: _parse(self, text))

    def unchanged(self, names: Sequence[str]) -> pa.Table:
        """Return columns as they are, to copy them: those of CSV and TSV as text, also ``007`` and ``NA``.

        The columns are there: `select_columns` has checked it.
        """
        return self._parsed(lambda: _parse_unchanged(self, list(names)))

    def _parsed(self, parse: Callable[[], pa.Table]) -> pa.Table:
        """Return what a function parses, with errors that name the table."""
        arrow = require("pyarrow", extra="cli", purpose="reading tables")
        try:
            table = parse()
            names = table.column_names  # decoded only now
        except UnicodeDecodeError as error:
            message = f"cannot read {name_of(self.path)}: it is not UTF-8 text; save it as UTF-8"
            raise TableError(message) from error
        except (arrow.ArrowException, TableError) as error:
            message = f"cannot read {name_of(self.path)}: {error}"
            raise TableError(message) from error
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            message = f"{name_of(self.path)} has more than one column named {quoted(repeated)}"
            raise TableError(message)
        if table.num_rows == 0:
            message = f"{name_of(self.path)} has no rows"
            raise TableError(message)
        return table


def read_table(path: Path, *, text: Sequence[str] = (), kind: TableKind | None = None) -> pa.Table:
    """Read a table.

    In a CSV file the first line holds the column names, fields are separated by commas, and a field that is empty or
    holds one of the texts in ``MISSING`` is a missing value, unless it is quoted.

    Parameters
    ----------
    path : Path
        The ending of the name tells the format. ``-`` is standard input.
    text : sequence of str
        Columns to read as text even if they look like numbers or dates; absent ones are ignored.
    kind : {"csv", "tsv", "jsonl", "parquet"}, optional
        Format if the name does not tell; by default the content of standard input, or of a pipe, tells it.

    Returns
    -------
    pyarrow.Table
        A table with at least one row and distinct column names.
    """
    return read_content(path, kind=kind).table(text=text)


def read_content(path: Path, *, kind: TableKind | None = None) -> TableContent:
    """Read the bytes of a table and find out its format; see `read_table`."""
    named = formats.format_of_name(path)
    data = _read_bytes(path, is_known=named is not None or kind is not None)
    if named is None:
        compression = formats.compression_of_content(_head(data))
    else:
        compression, kind = named.compression, named.kind
    if compression is not None:
        data = decompress(data, compression, name=name_of(path))
    if data.size <= _HEAD and not _head(data).strip():
        message = f"{name_of(path)} is empty{', or was read before' if formats.is_standard_input(path) else ''}"
        raise TableError(message)
    content = TableContent(path, kind or formats.kind_of_content(_head(data)), data)
    _check_content(content)
    return content


def _read_bytes(path: Path, *, is_known: bool) -> pa.Buffer:
    if formats.is_standard_input(path):
        return gather(sys.stdin.buffer)
    if path.is_dir() or not path.exists():
        message = f"cannot read {name_of(path)}: {'it is a folder' if path.is_dir() else 'there is no such file'}"
        raise TableError(message)
    if path.is_file() and not is_known:
        message = f"cannot read {name_of(path)}: its name must end in {formats.ENDINGS}; for other names, give --format"
        raise TableError(message)
    with path.open("rb") as file:
        return gather(file)


def _head(data: pa.Buffer) -> bytes:
    head: bytes = data[:_HEAD].to_pybytes()
    return head


def _check_content(content: TableContent) -> None:
    """Raise an error if the bytes are plainly of another format."""
    compression = formats.compression_of_content(content.head)
    fault = ""
    if formats.is_parquet(content.head) != (content.kind == "parquet"):
        fault = "it is a Parquet file, whose name ends in .parquet"
        if content.kind == "parquet":
            fault = "it is not a Parquet file"
    elif compression is not None and content.kind != "parquet":
        fault = f"it is compressed by {NAMES[compression]}; its name must end in .{content.kind}.{compression}"
    elif content.kind == "jsonl" and content.head.lstrip().startswith(b"["):
        fault = "it is a JSON array; write one object per line"
    elif b"\0" in content.head.partition(b"\n")[0]:
        fault = "" if content.kind == "parquet" else "it is not UTF-8 text; save it as UTF-8"
    elif content.kind in _DELIMITERS:
        fault = _wrong_separator(content)
    if fault:
        message = f"cannot read {name_of(content.path)}: {fault}"
        raise TableError(message)


def _wrong_separator(content: TableContent) -> str:
    """Return a fault if the fields of the first line are separated by another character; an empty text if not."""
    found = formats.header_separators(content.head)
    expected = _DELIMITERS[content.kind].encode()
    if expected in found or not found:
        return ""
    (other, *_) = sorted(found, reverse=True)  # semicolons first: German numbers have commas
    if other == b"\t":
        return "its fields are separated by tabs; save it with commas between fields, or give it the ending .tsv"
    if content.kind == "tsv":
        return f"its fields are separated by {_SEPARATOR_NAMES[other]}, not by tabs"
    return (
        f"its fields are separated by {_SEPARATOR_NAMES[other]}; save it with commas between fields and decimal points "
        "in numbers"
    )


def _parse(content: TableContent, text: Sequence[str]) -> pa.Table:
    if content.kind == "parquet":
        return parsing.parse_parquet(content.data)
    if content.kind == "jsonl":
        return parsing.parse_json_lines(content.data, text=text)
    return parsing.parse_delimited(content.data, _DELIMITERS[content.kind], text=text)


def _parse_unchanged(content: TableContent, names: list[str]) -> pa.Table:
    if content.kind == "parquet":
        return parsing.parse_parquet(content.data).select(names)
    if content.kind == "jsonl":
        return parsing.parse_json_lines(content.data, text=(), unchanged=names).select(names)
    return parsing.parse_verbatim(content.data, _DELIMITERS[content.kind], names)
