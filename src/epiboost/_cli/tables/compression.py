"""Compression of tables: gzip, bzip2 and xz by the standard library, Zstandard by PyArrow."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from epiboost._cli.tables.formats import Compression, TableError
from epiboost._optional import require

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Buffer

NAMES: dict[Compression, str] = {"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "Zstandard"}
"""What messages call a compression."""

_CHUNK = 2**20


def gather(file: IO[bytes]) -> pa.Buffer:
    """Return all bytes of a file as a buffer of Arrow's own.

    Not as Python bytes: a thread of Arrow may free them as the interpreter ends, which aborts the process.
    """
    arrow = require("pyarrow", extra="cli", purpose="reading tables")
    sink = arrow.BufferOutputStream()
    while chunk := file.read(_CHUNK):
        sink.write(chunk)
    return sink.getvalue()


def decompress(data: pa.Buffer, compression: Compression, *, name: str) -> pa.Buffer:
    """Return uncompressed bytes, or raise an error that names the table."""
    arrow = require("pyarrow", extra="cli", purpose="reading tables")
    openers: dict[Compression, Callable[[Any], Any]] = {
        "gz": lambda file: gzip.GzipFile(fileobj=file),
        "bz2": bz2.BZ2File,
        "xz": lzma.LZMAFile,
        "zst": lambda file: arrow.CompressedInputStream(file, "zstd"),
    }
    try:
        with openers[compression](arrow.BufferReader(data)) as file:
            return gather(file)
    except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
        message = f"cannot read {name}: it is not a complete {NAMES[compression]} file ({error})"
        raise TableError(message) from error


@contextmanager
def compressed(file: IO[bytes], compression: Compression | None) -> Iterator[Any]:
    """Yield a file to write to, whose bytes go compressed to another one.

    Equal tables give equal bytes: no time is written.

    >>> import io
    >>> file = io.BytesIO()
    >>> with compressed(file, "xz") as writer:
    ...     _ = writer.write(b"x,y")
    >>> gather(lzma.open(io.BytesIO(file.getvalue()))).to_pybytes()
    b'x,y'
    """
    if compression is None:
        yield file
    elif compression == "gz":
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as writer:
            yield writer
    elif compression == "bz2":
        with bz2.BZ2File(file, "wb") as writer:
            yield writer
    elif compression == "xz":
        with lzma.LZMAFile(file, "wb") as writer:
            yield writer
    else:
        arrow = require("pyarrow", extra="cli", purpose="writing compressed tables")
        target = arrow.PythonFile(_KeptOpen(file), "w")
        with arrow.CompressedOutputStream(target, "zstd") as writer:
            yield writer


class _KeptOpen(io.RawIOBase):
    """A file to write to; closing it, as Arrow does, leaves the file below open."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Write to the file below."""
        return self._file.write(data)
