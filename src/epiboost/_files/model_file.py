"""The model file: a JSON header and a few arrays, with nothing in it that runs.

A model is numbers, so its file holds numbers: no pickle, no code, only the types of an explicit list. A reader can
trust what comes back, because every byte is covered by a checksum and every claim of the header is checked against the
file's real size before anything is built from it. A writer never leaves half a file: the bytes go to a temporary file
beside the target, reach the disk, and take the target's place in one step.

The layout, all numbers little-endian::

    4 bytes    the magic "EPIB"
    4 bytes    format version, unsigned
    8 bytes    length of the header, unsigned
    header     JSON in UTF-8: {"header": the caller's, "arrays": [{"name", "dtype", "shape", "offset"}, ...]}
    arrays     raw, in C order, in the order of the header, each filled up with zeros to a multiple of 64 bytes
    32 bytes   SHA-256 of everything before

The header is filled up in the same way, and the offsets count from there, so that they do not depend on its length.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "model.epiboost"
>>> write(path, {"kind": "regressor"}, {"borders": np.array([0.5, 1.5])})
>>> read(path)
({'kind': 'regressor'}, {'borders': array([0.5, 1.5])})
"""

import contextlib
import errno
import hashlib
import json
import math
import os
import re
import secrets
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

import numpy as np

from epiboost._typing import AnyArray, Bytes

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
"""What a header may hold."""

MAGIC = b"EPIB"
FORMAT_VERSION = 1

_PREFIX = struct.Struct("<4sIQ")
_ALIGNMENT = 64
_DIGEST_BYTES = hashlib.sha256().digest_size
_MOST_DIMENSIONS = 32
_MOST_BYTES = 2**62
_MOST_CHARACTERS = 2**20
_LARGEST_CODE_POINT = 0x10FFFF
_NUMBERS = ("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")
_TEXT = re.compile(r"<U([1-9][0-9]{0,6})")
_ALLOWED = "bool, int8-64, uint8-64, float16-64 and str"


class ModelFileError(ValueError):
    """A file that is not a model file, or not a whole one; the message names the file and what is wrong with it."""


def write(path: str | os.PathLike[str], header: Mapping[str, JSON], arrays: Mapping[str, AnyArray]) -> None:
    """Write a model file, whole or not at all.

    When anything fails on the way, a full disk or an interrupt, a file already at ``path`` is as it was before and no
    temporary file stays behind. A link keeps its place, and what it points to is replaced.

    Parameters
    ----------
    path : str or path-like
        Where to write; an existing file is replaced.
    header : mapping from str to JSON values
        None, booleans, integers, finite numbers, strings, lists and dictionaries with string keys.
    arrays : mapping from str to arrays
        Booleans, integers, floating-point numbers or text of fixed width, of any shape and byte order.

    Raises
    ------
    TypeError
        If the header or an array holds something that the file cannot.

    Examples
    --------
    >>> import tempfile
    >>> write(Path(tempfile.mkdtemp()) / "model.epiboost", {}, {"classes": np.array(["no", "yes"], dtype=object)})
    Traceback (most recent call last):
    ...
    TypeError: array 'classes' has dtype object, a model file holds bool, int8-64, uint8-64, float16-64 and str
    """
    stored = {_check_name(name): _storable(name, array) for name, array in arrays.items()}
    entries = _lay_out(stored)
    text = _encode({"header": _check_header(header), "arrays": [asdict(entry) for entry in entries]})
    target = Path(path).resolve()
    _refuse_directory(target)
    _replace_with(target, _signed(_chunks(text, stored.values())))


def read(path: str | os.PathLike[str]) -> tuple[dict[str, JSON], dict[str, AnyArray]]:
    """Read a model file that ``write`` has written, checking all of it first.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    header : dict
        As it was given to ``write``.
    arrays : dict from str to arrays
        As they were given to ``write``, little-endian and in C order.

    Raises
    ------
    ModelFileError
        If the file is no model file, is cut off or altered, or was written by a later version.
    FileNotFoundError, IsADirectoryError, PermissionError
        If there is no such file, or none that can be read.
    """
    path = Path(path)
    _refuse_directory(path)
    content = _read_checked(path)
    _, _, header_length = _PREFIX.unpack_from(content)
    payload = len(content) - _DIGEST_BYTES
    if header_length > payload - _PREFIX.size:
        _fail(path, f"its header claims {header_length} bytes, the file has room for {payload - _PREFIX.size}")
    try:
        header, entries = _parse_header(path, content[_PREFIX.size : _PREFIX.size + header_length])
    except RecursionError:
        _fail(path, "its header is nested too deeply")
    first = _align(_PREFIX.size + header_length)
    _check_layout(path, entries, payload - first)
    body = np.frombuffer(content, dtype=np.uint8)
    if body[_PREFIX.size + header_length : first].any():
        _fail(path, "its header is not followed by zeros")
    return header, {entry.name: _view(path, entry, body[first:payload]) for entry in entries}


@dataclass(frozen=True, slots=True)
class _Entry:
    """What the header says of one array."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * _item_bytes(self.dtype)


def _fail(path: Path, fault: str) -> NoReturn:
    message = f"{path} cannot be read as a model file: {fault}"
    raise ModelFileError(message)


def _refuse_directory(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


def _align(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT


def _is_allowed(dtype: str) -> bool:
    text = _TEXT.fullmatch(dtype)
    return dtype in _NUMBERS or (text is not None and int(text[1]) <= _MOST_CHARACTERS)


def _item_bytes(dtype: str) -> int:
    """Return the size of one element; only an allowed dtype is ever given to NumPy."""
    return np.dtype(dtype).itemsize


# Writing


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        message = f"an array's name must be a string that is not empty, got {name!r}"
        raise TypeError(message)
    return name


def _storable(name: str, array: AnyArray) -> AnyArray:
    """Return the array little-endian and in C order, or say why it cannot be stored."""
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("<")
    if dtype.kind == "U" and dtype.itemsize == 0:
        dtype = np.dtype("<U1")
    if not _is_allowed(dtype.str):
        message = f"array {name!r} has dtype {array.dtype}, a model file holds {_ALLOWED}"
        raise TypeError(message)
    if array.ndim > _MOST_DIMENSIONS:
        message = f"array {name!r} has {array.ndim} dimensions, at most {_MOST_DIMENSIONS} are allowed"
        raise TypeError(message)
    return np.asarray(array, dtype=dtype, order="C")


def _lay_out(arrays: Mapping[str, AnyArray]) -> list[_Entry]:
    """Give each array its place, one after the other."""
    entries, offset = [], 0
    for name, array in arrays.items():
        entries.append(_Entry(name, array.dtype.str, array.shape, offset))
        offset = _align(offset + array.nbytes)
    return entries


def _check_header(header: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the header as a dictionary that JSON gives back as it was, or say that it cannot."""
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
    """Yield the file's bytes up to the checksum."""
    prefix = _PREFIX.pack(MAGIC, FORMAT_VERSION, len(text)) + text
    yield prefix
    yield bytes(_align(len(prefix)) - len(prefix))
    for array in arrays:
        yield array.reshape(-1).view(np.uint8).data
        yield bytes(_align(array.nbytes) - array.nbytes)


def _signed(chunks: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """Pass the chunks on and add their checksum."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        yield chunk
    yield digest.digest()


def _replace_with(target: Path, chunks: Iterable[bytes | memoryview]) -> None:
    """Write the chunks beside the target and put them in its place once they are on the disk."""
    draft = target.with_name(f".epiboost-{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


# Reading


def _read_checked(path: Path) -> bytearray:
    """Return the file's bytes once its beginning, its size and its checksum are right."""
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


def _parse_header(path: Path, text: bytearray) -> tuple[dict[str, JSON], list[_Entry]]:
    """Return the caller's header and the arrays' entries, all of the right types."""
    try:
        value = json.loads(text.decode(), parse_constant=_refuse_constant)
    except ValueError as error:
        _fail(path, f"its header is not JSON in UTF-8 ({error})")
    if not isinstance(value, dict) or value.keys() != {"header", "arrays"}:
        _fail(path, "its header must be an object with the keys 'header' and 'arrays'")
    header, arrays = value["header"], value["arrays"]
    if not isinstance(header, dict) or not isinstance(arrays, list):
        _fail(path, "its header must hold an object 'header' and a list 'arrays'")
    entries = [_parse_entry(path, entry) for entry in arrays]
    if len({entry.name for entry in entries}) < len(entries):
        _fail(path, "two of its arrays have one name")
    return header, entries


def _refuse_constant(constant: str) -> NoReturn:
    message = f"{constant} is not JSON"
    raise ValueError(message)


def _parse_entry(path: Path, value: JSON) -> _Entry:
    """Return one array's entry, of the right types, with a dtype from the list and a size that a file can have."""
    if not isinstance(value, dict) or value.keys() != {"name", "dtype", "shape", "offset"}:
        _fail(path, f"an array's entry must have the keys 'name', 'dtype', 'shape' and 'offset', got {value!r:.200}")
    name, dtype, shape, offset = value["name"], value["dtype"], value["shape"], value["offset"]
    if not isinstance(name, str) or not name:
        _fail(path, f"an array's name must be a string that is not empty, got {name!r:.200}")
    if not isinstance(dtype, str) or not _is_allowed(dtype):
        _fail(path, f"array {name!r} has dtype {dtype!r:.200}, a model file holds {_ALLOWED}")
    if not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS:
        _fail(path, f"array {name!r} has shape {shape!r:.200}, a list of at most {_MOST_DIMENSIONS} numbers is allowed")
    lengths = tuple(length for length in shape if type(length) is int and length >= 0)
    if len(lengths) < len(shape):
        _fail(path, f"array {name!r} has shape {shape!r:.200}, only whole numbers from 0 are allowed")
    if math.prod(length for length in lengths if length) * _item_bytes(dtype) > _MOST_BYTES:
        _fail(path, f"array {name!r} has shape {shape!r:.200}, larger than any file")
    if type(offset) is not int:
        _fail(path, f"array {name!r} has offset {offset!r:.200}, only whole numbers are allowed")
    return _Entry(name, dtype, lengths, offset)


def _check_layout(path: Path, entries: Iterable[_Entry], room: int) -> None:
    """Check that the arrays follow one another without gap or overlap and end where the checksum begins."""
    end = 0
    for entry in entries:
        if entry.offset != end:
            _fail(path, f"array {entry.name!r} is at offset {entry.offset}, its place is {end}")
        end = _align(entry.offset + entry.n_bytes)
        if end > room:
            _fail(path, f"array {entry.name!r} of {entry.n_bytes} bytes reaches past the end of the file")
    if end != room:
        _fail(path, f"its arrays end at offset {end}, the file has {room} bytes for them")


def _view(path: Path, entry: _Entry, arrays: Bytes) -> AnyArray:
    """Return an array as a view into the bytes; values that its type has no meaning for are refused."""
    end = entry.offset + entry.n_bytes
    raw = arrays[entry.offset : end]
    if arrays[end : _align(end)].any():
        _fail(path, f"array {entry.name!r} is not followed by zeros")
    if entry.dtype == "|b1" and (raw > 1).any():
        _fail(path, f"array {entry.name!r} holds bytes that are neither true nor false")
    if _TEXT.fullmatch(entry.dtype) and (raw.view("<u4") > _LARGEST_CODE_POINT).any():
        _fail(path, f"array {entry.name!r} holds text that is not Unicode")
    return raw.view(entry.dtype).reshape(entry.shape)
