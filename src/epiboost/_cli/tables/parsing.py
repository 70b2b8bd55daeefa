"""Bytes as tables: CSV, TSV, JSON lines and Parquet."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from epiboost._cli.tables.formats import TableError
from epiboost._optional import require

if TYPE_CHECKING:
    import pyarrow as pa

MISSING: Final = (
    "", "NA", "N/A", "n/a", "#NA", "#N/A", "#N/A N/A", "NULL", "null", "NaN", "nan", "-NaN", "-nan", "1.#IND",
    "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
"""Texts that mean a missing value in a CSV or TSV file, unless they are quoted."""

_MAX_BLOCK = 2**30  # bytes; Arrow's block sizes are 32-bit integers
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def parse_delimited(data: pa.Buffer, delimiter: str, *, text: Collection[str]) -> pa.Table:
    """Return the table in the bytes of a CSV or TSV file; the columns in ``text`` are text, if they are there."""
    arrow = require("pyarrow", extra="cli", purpose="reading tables")
    # By default Arrow reads an empty field of a text column as an empty string.
    return _read_delimited(
        data,
        delimiter,
        null_values=list(MISSING),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        column_types=dict.fromkeys(text, arrow.string()),
    )


def parse_verbatim(data: pa.Buffer, delimiter: str, names: list[str]) -> pa.Table:
    r"""Return columns of a CSV or TSV file as they are written: as text, without missing values.

    >>> import pyarrow as pa
    >>> parse_verbatim(pa.py_buffer(b"id,x\n007,1\nNA,2\n"), ",", ["id"]).to_pydict()
    {'id': ['007', 'NA']}
    """
    arrow = require("pyarrow", extra="cli", purpose="reading tables")
    types = dict.fromkeys(names, arrow.string())
    return _read_delimited(data, delimiter, column_types=types, include_columns=names, strings_can_be_null=False)


def parse_json_lines(data: pa.Buffer, *, text: Collection[str], unchanged: Collection[str] = ()) -> pa.Table:
    r"""Return the table in the bytes of a file with one JSON object per line.

    Parameters
    ----------
    data : pyarrow.Buffer
    text : collection of str
        Columns to return as text, if they are there, such as categories.
    unchanged : collection of str
        Columns whose texts are not read as dates.

    Examples
    --------
    >>> import pyarrow as pa
    >>> lines = pa.py_buffer(b'{"x": 1.5, "day": "2020-01-01"}\n{"x": null}\n')
    >>> parse_json_lines(lines, text=["day"]).to_pydict()
    {'x': [1.5, None], 'day': ['2020-01-01', None]}
    """
    arrow = require("pyarrow", extra="cli", purpose="reading tables")
    table = _read_json_lines(data, {})
    dates = [field.name for field in table.schema if arrow.types.is_timestamp(field.type)]
    undone = {name: arrow.string() for name in dates if name in text or name in unchanged}
    if undone:
        table = _read_json_lines(data, undone).select(table.column_names)  # Arrow puts typed columns first
    for place, field in enumerate(table.schema):
        if field.name in text and not arrow.types.is_string(field.type) and not arrow.types.is_nested(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(arrow.string()))
    table.validate(full=True)  # Arrow's reader accepts text that is not UTF-8
    return table


def parse_parquet(data: pa.Buffer) -> pa.Table:
    """Return the table in the bytes of a Parquet file."""
    arrow = require("pyarrow", extra="cli", purpose="reading tables")
    parquet = require("pyarrow.parquet", extra="cli", purpose="reading Parquet")
    table: pa.Table = parquet.ParquetFile(arrow.BufferReader(data)).read()
    # The index of a pandas frame is not a feature.
    return table.drop_columns([name for name in table.column_names if _PANDAS_INDEX.fullmatch(name)])


def _read_delimited(data: pa.Buffer, delimiter: str, **conversion: object) -> pa.Table:
    arrow = require("pyarrow", extra="cli", purpose="reading tables")
    csv = require("pyarrow.csv", extra="cli", purpose="reading CSV")
    table: pa.Table = csv.read_csv(
        arrow.BufferReader(data),
        read_options=csv.ReadOptions(block_size=_one_block(data)),
        parse_options=csv.ParseOptions(delimiter=delimiter),
        convert_options=csv.ConvertOptions(**conversion),
    )
    undecoded = [field.name for field in table.schema if arrow.types.is_binary(field.type)]
    if undecoded:
        message = f"the column {', '.join(map(repr, undecoded))} is not UTF-8 text"
        raise TableError(message)
    return table


def _read_json_lines(data: pa.Buffer, types: dict[str, pa.DataType]) -> pa.Table:
    arrow = require("pyarrow", extra="cli", purpose="reading tables")
    json = require("pyarrow.json", extra="cli", purpose="reading JSON lines")
    table: pa.Table = json.read_json(
        arrow.BufferReader(data),
        read_options=json.ReadOptions(block_size=_one_block(data)),
        parse_options=json.ParseOptions(explicit_schema=arrow.schema(list(types.items()))),
    )
    return table


def _one_block(data: pa.Buffer) -> int:
    """Return a block size: Arrow infers types from the first block and fails if a later block does not fit."""
    return min(int(data.size) + 1, _MAX_BLOCK)
