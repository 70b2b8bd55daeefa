"""Formats of tables, told by the ending of a file name or by the first bytes of a stream.

A path of ``-`` is standard input or output. The formats are CSV, TSV (fields separated by tabs), JSON lines (one JSON
object per line) and Parquet; each may be compressed.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

TableKind: TypeAlias = Literal["csv", "tsv", "jsonl", "parquet"]
Compression: TypeAlias = Literal["gz", "bz2", "xz", "zst"]

_KINDS: Final[dict[str, TableKind]] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
_MAGIC: Final[dict[Compression, bytes]] = {
    "gz": b"\x1f\x8b",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zst": b"\x28\xb5\x2f\xfd",
}
_PARQUET_MAGIC = b"PAR1"
_STANDARD_INPUTS = frozenset({"-", "/dev/stdin", "/dev/fd/0"})
_STANDARD_OUTPUTS = frozenset({"-", "/dev/stdout", "/dev/fd/1"})

ENDINGS: Final = f"{', '.join(_KINDS)}, each also with {', '.join(f'.{name}' for name in get_args(Compression))}"
"""File name endings that can be read and written, for messages."""


class TableError(ValueError):
    """A table cannot be read or written, or lacks a column."""


@dataclass(frozen=True, slots=True)
class TableFormat:
    """Format of a table.

    Attributes
    ----------
    kind : {"csv", "tsv", "jsonl", "parquet"}
    compression : {"gz", "bz2", "xz", "zst"} or None
    """

    kind: TableKind
    compression: Compression | None = None


def format_of_name(path: Path) -> TableFormat | None:
    """Return the format that the ending of a file name stands for; None if it stands for none.

    >>> format_of_name(Path("train.CSV.gz"))
    TableFormat(kind='csv', compression='gz')
    >>> format_of_name(Path("model.epib")) is None
    True
    """
    name = path.name.lower()
    compressed = next((found for found in get_args(Compression) if name.endswith(f".{found}")), None)
    suffix = Path(name.removesuffix(f".{compressed}")).suffix
    return TableFormat(_KINDS[suffix], compressed) if suffix in _KINDS else None


def output_format(path: Path, given: TableKind | None) -> TableFormat:
    """Return the format of a table to write: that of the file name, or the given one, or CSV on standard output."""
    named = format_of_name(path)
    if named is not None:
        return named
    if given is not None:
        return TableFormat(given)
    if is_standard_output(path):
        return TableFormat("csv")
    message = f"cannot write {name_of(path)}: its name must end in {ENDINGS}; for other names, give --output-format"
    raise TableError(message)


def compression_of_content(data: bytes) -> Compression | None:
    """Return how bytes are compressed.

    >>> compression_of_content(b"BZh91AY&SY")
    'bz2'
    """
    return next((name for name, magic in _MAGIC.items() if data.startswith(magic)), None)


def is_parquet(data: bytes) -> bool:
    """Return whether bytes are those of a Parquet file."""
    return data.startswith(_PARQUET_MAGIC)


def kind_of_content(data: bytes) -> TableKind:
    r"""Return what the first bytes of a table look like; CSV if they look like nothing else.

    >>> [kind_of_content(data) for data in (b"a,b\n1,2\n", b"a\tb\n1\t2\n", b'{"a": 1}\n')]
    ['csv', 'tsv', 'jsonl']
    """
    if is_parquet(data):
        return "parquet"
    if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in {b"{", b"["}:
        return "jsonl"
    separators = header_separators(data)
    return "tsv" if b"\t" in separators and b"," not in separators else "csv"


def header_separators(data: bytes) -> frozenset[bytes]:
    r"""Return the commas, semicolons and tabs between the fields of the first line; those in quotes do not count.

    >>> sorted(header_separators(b'"a;b"\tc,d\n1;2'))
    [b'\t', b',']
    """
    end = data.find(b"\n")
    unquoted = re.sub(rb'"[^"]*"', b"", data if end < 0 else data[:end])
    return frozenset(separator for separator in (b",", b";", b"\t") if separator in unquoted)


def is_standard_input(path: Path) -> bool:
    """Return whether a path stands for standard input."""
    return path.as_posix() in _STANDARD_INPUTS


def is_standard_output(path: Path) -> bool:
    """Return whether a path stands for standard output."""
    return path.as_posix() in _STANDARD_OUTPUTS


def name_of(path: Path) -> str:
    """Return what messages call a table that is read or written.

    >>> name_of(Path("train.csv")), name_of(Path("-"))
    ("'train.csv'", 'standard input')
    """
    return "standard input" if is_standard_input(path) else repr(str(path))
