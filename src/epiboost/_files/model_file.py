"""The model file: a JSON header and arrays; no pickle and no code.

Arrays have one of a fixed list of dtypes. A checksum covers all bytes. Before an array is built, its entry in the
header is checked against the size of the file. Files are written atomically (see `atomic`).

Layout, all numbers little-endian::

    4 bytes    the magic "EPIB"
    4 bytes    format version, unsigned
    8 bytes    length of the header, unsigned
    header     JSON in UTF-8: {"header": the caller's, "arrays": [{"name", "dtype", "shape", "offset"}, ...]}
    arrays     raw, in C order, in the order of the header, each padded with zeros to a multiple of 64 bytes
    32 bytes   SHA-256 of everything before

The header is padded in the same way. Offsets count from the end of its padding, so they do not depend on its length.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "model.epiboost"
>>> write(path, {"kind": "regressor"}, {"borders": np.array([0.5, 1.5])})
>>> read(path)
({'kind': 'regressor'}, {'borders': array([0.5, 1.5])})
"""

import errno
import hashlib
import json
import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

import numpy as np

from epiboost._files.atomic import atomic_write
from epiboost._files.layout import JSON, Entry, LayoutError, align, check_layout, lay_out, parse_entries, storable, view
from epiboost._typing import AnyArray

MAGIC = b"EPIB"
FORMAT_VERSION = 1

_PREFIX = struct.Struct("<4sIQ")
_DIGEST_BYTES = hashlib.sha256().digest_size


class ModelFileError(ValueError):
    """The file is not a model file, or is damaged."""


def write(path: str | os.PathLike[str], header: Mapping[str, JSON], arrays: Mapping[str, AnyArray]) -> None:
    """Write a model file atomically.

    If writing fails or is interrupted, an existing file at ``path`` is unchanged. See `atomic_write` for links, devices
    and modes.

    Parameters
    ----------
    path : str or path-like
        An existing file is replaced.
    header : mapping from str to JSON values
        None, booleans, integers, finite numbers, strings, lists and dictionaries with string keys.
    arrays : mapping from str to arrays
        Booleans, integers, floating-point numbers or text of fixed width, of any shape and byte order.

    Raises
    ------
    TypeError
        If the header or an array cannot be stored.

    Examples
    --------
    >>> import tempfile
    >>> write(Path(tempfile.mkdtemp()) / "model.epiboost", {}, {"classes": np.array(["no", "yes"], dtype=object)})
    Traceback (most recent call last):
    ...
    TypeError: array 'classes' has dtype object, a model file holds bool, int8-64, uint8-64, float16-64 and str
    """
    stored = {name: storable(name, array) for name, array in arrays.items()}
    entries = lay_out(stored)
    text = _encode({"header": _check_header(header), "arrays": [asdict(entry) for entry in entries]})
    with atomic_write(path) as file:
        for chunk in _with_checksum(_chunks(text, stored.values())):
            file.write(chunk)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, JSON], dict[str, AnyArray]]:
    """Read and check a model file.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    header : dict
        The header that was given to `write`.
    arrays : dict from str to arrays
        The arrays that were given to `write`, little-endian and in C order.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, or was written by a later version.
    FileNotFoundError, IsADirectoryError, PermissionError
        If the file does not exist or cannot be read.
    """
    path = Path(path)
    _refuse_directory(path)
    content = _read_checked(path)
    try:
        return _parse(content)
    except LayoutError as error:
        _fail(path, str(error))
    except RecursionError:
        _fail(path, "its header is nested too deeply")


def _parse(content: bytearray) -> tuple[dict[str, JSON], dict[str, AnyArray]]:
    """Return the header and the arrays of a file whose checksum has been checked."""
    _, _, header_length = _PREFIX.unpack_from(content)
    payload = len(content) - _DIGEST_BYTES
    end = _PREFIX.size + header_length
    if end > payload:
        message = f"its header claims {header_length} bytes, the file has room for {payload - _PREFIX.size}"
        raise LayoutError(message)
    header, entries = _parse_header(content[_PREFIX.size : end])
    first = align(end)
    check_layout(entries, payload - first)
    body = np.frombuffer(content, dtype=np.uint8)
    if body[end:first].any():
        message = "its header is not followed by zeros"
        raise LayoutError(message)
    return header, {entry.name: view(entry, body[first:payload]) for entry in entries}


def _fail(path: Path, fault: str) -> NoReturn:
    message = f"{path} cannot be read as a model file: {fault}"
    raise ModelFileError(message)


def _refuse_directory(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


# Writing


def _check_header(header: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the header as a dict; raise a TypeError if JSON cannot round-trip it."""
    header = dict(header)
    try:
        same = json.loads(_encode(header)) == header
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the header must hold JSON values only: {error}"
        raise TypeError(message) from error
    if not same:
        message = "the header must hold JSON values only: string keys, and lists in place of tuples"
        raise TypeError(message)
    return header


def _encode(value: object) -> bytes:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def _chunks(text: bytes, arrays: Iterable[AnyArray]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of the file up to the checksum."""
    prefix = _PREFIX.pack(MAGIC, FORMAT_VERSION, len(text)) + text
    yield prefix
    yield bytes(align(len(prefix)) - len(prefix))
    for array in arrays:
        yield array.reshape(-1).view(np.uint8).data
        yield bytes(align(array.nbytes) - array.nbytes)


def _with_checksum(chunks: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """Yield the chunks, then their checksum."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        yield chunk
    yield digest.digest()


# Reading


def _read_checked(path: Path) -> bytearray:
    """Return the bytes of a file after checking its prefix, size and checksum."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        prefix = file.read(_PREFIX.size)
        if size < _PREFIX.size + _DIGEST_BYTES or len(prefix) < _PREFIX.size:
            _fail(path, f"it is too short: {size} bytes, a model file has at least {_PREFIX.size + _DIGEST_BYTES}")
        magic, version, _ = _PREFIX.unpack(prefix)
        if magic != MAGIC:
            _fail(path, f"it begins with {magic!r}, a model file with {MAGIC!r}")
        if version != FORMAT_VERSION:
            _fail(path, f"it has format version {version}, this version of epiboost reads version {FORMAT_VERSION}")
        content = bytearray(size)
        file.seek(0)
        if file.readinto(content) != size:
            _fail(path, "it changed while it was read")
    signed = memoryview(content)[:-_DIGEST_BYTES]
    if hashlib.sha256(signed).digest() != content[-_DIGEST_BYTES:]:
        _fail(path, "its checksum does not match, the file is damaged or cut off")
    return content


def _parse_header(text: bytearray) -> tuple[dict[str, JSON], list[Entry]]:
    """Return the caller's header and the entries of the arrays; raise a LayoutError if they are invalid."""
    try:
        value = json.loads(text.decode(), parse_constant=_refuse_constant)
    except ValueError as error:
        message = f"its header is not JSON in UTF-8 ({error})"
        raise LayoutError(message) from error
    if not isinstance(value, dict) or value.keys() != {"header", "arrays"}:
        message = "its header must be an object with the keys 'header' and 'arrays'"
        raise LayoutError(message)
    header, arrays = value["header"], value["arrays"]
    if not isinstance(header, dict) or not isinstance(arrays, list):
        message = "its header must hold an object 'header' and a list 'arrays'"
        raise LayoutError(message)
    return header, parse_entries(arrays)


def _refuse_constant(constant: str) -> NoReturn:
    message = f"{constant} is not JSON"
    raise ValueError(message)
