"""Tables to files and to standard output: a file is written completely or not at all."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from epiboost._cli.tables.compression import compressed
from epiboost._cli.tables.formats import TableError, TableKind, format_of_name, is_standard_output, output_format
from epiboost._cli.tables.selection import quoted
from epiboost._files.atomic import atomic_write, is_stream
from epiboost._optional import require

if TYPE_CHECKING:
    import pyarrow as pa

    from epiboost._typing import AnyArray

_BATCH_ROWS = 10_000


def check_table_output(path: Path, kind: TableKind | None, *, sources: Sequence[Path]) -> None:
    """Raise an error if a table cannot or must not be written, before any work is done."""
    output_format(path, kind)
    if not is_standard_output(path):
        check_writable(path, sources=sources)


def check_model_output(path: Path, *, sources: Sequence[Path]) -> None:
    """Raise an error if a model cannot or must not be written, before any work is done."""
    check_writable(path, sources=sources)
    if format_of_name(path) is not None:
        message = f"cannot write a model to {str(path)!r}: this ending is for tables; use .epib"
        raise TableError(message)


def check_writable(path: Path, *, sources: Sequence[Path]) -> None:
    """Raise an error if a file cannot or must not be written, before any work is done."""
    if path.as_posix() == "-":
        message = "cannot write to standard output: only tables are written there; give the name of a file"
        raise TableError(message)
    if is_stream(path):
        return
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


def write_table(columns: Mapping[str, AnyArray | pa.ChunkedArray], path: Path, kind: TableKind | None = None) -> None:
    """Write columns of equal length as a table; an existing file is replaced only once all is written.

    Parameters
    ----------
    columns : mapping from str to array of shape (n,)
        Columns by name, in order.
    path : Path
        The ending of the name tells the format. ``-`` is standard output.
    kind : {"csv", "tsv", "jsonl", "parquet"}, optional
        Format if the name does not tell; on standard output the default is CSV.
    """
    chosen = output_format(path, kind)
    arrow = require("pyarrow", extra="cli", purpose="writing tables")
    table = arrow.table(dict(columns))
    if chosen.kind in {"csv", "tsv"}:
        _check_fields(table, chosen.kind)
    with _opened(path) as file, compressed(file, chosen.compression) as sink:
        if chosen.kind == "parquet":
            require("pyarrow.parquet", extra="cli", purpose="writing Parquet").write_table(table, sink)
        elif chosen.kind == "jsonl":
            _write_json_lines(table, sink)
        else:
            csv = require("pyarrow.csv", extra="cli", purpose="writing CSV")
            csv.write_csv(table, sink, csv.WriteOptions(delimiter="," if chosen.kind == "csv" else "\t"))


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write to: standard output, or one that appears once it is complete."""
    if is_standard_output(path):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with atomic_write(path) as file:
            yield file


def _check_fields(table: pa.Table, kind: TableKind) -> None:
    """Raise an error for columns that no field of a CSV file can hold, such as lists."""
    types = require("pyarrow", extra="cli", purpose="writing tables").types
    nested = [field.name for field in table.schema if types.is_nested(field.type)]
    if nested:
        message = (
            f"the column {quoted(nested)} holds lists or objects, which {kind.upper()} has no field for; write .jsonl "
            "or .parquet"
        )
        raise TableError(message)


def _write_json_lines(table: pa.Table, file: IO[bytes]) -> None:
    """Write one JSON object per row. Numbers that are not finite are null, as JSON has none."""
    for batch in table.to_batches(max_chunksize=_BATCH_ROWS):
        for row in batch.to_pylist():
            finite = {name: None if _is_not_finite(value) else value for name, value in row.items()}
            file.write(json.dumps(finite, ensure_ascii=False, allow_nan=False, default=str).encode() + b"\n")


def _is_not_finite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
