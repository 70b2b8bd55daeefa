"""Layout of the arrays in a model file: one header entry per array, each array at a multiple of 64 bytes.

>>> entries = lay_out({"borders": np.array([0.5, 1.5]), "count": np.array([3])})
>>> [(entry.name, entry.dtype, entry.shape, entry.offset) for entry in entries]
[('borders', '<f8', (2,), 0), ('count', '<i8', (1,), 64)]
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import numpy as np

from epiboost._typing import AnyArray, Bytes

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
"""A value that a header may hold."""

ALLOWED = "bool, int8-64, uint8-64, float16-64 and str"
"""The dtypes of arrays that a model file can hold, for error texts."""

_ALIGNMENT = 64  # bytes, a cache line
_MAX_DIMENSIONS = 32  # NumPy 1's limit
_MAX_BYTES = 2**62
_MAX_EMPTY = 2**16  # length of an axis of an array without elements, where the file is shorter
_MAX_CHARACTERS = 2**20
_MAX_CODE_POINT = 0x10FFFF  # of Unicode
_NUMBERS = ("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")
_TEXT = re.compile(r"<U([1-9][0-9]{0,6})")


class LayoutError(ValueError):
    """The array entries of a header are invalid."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The header's entry of one array."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int

    @property
    def n_bytes(self) -> int:
        """Size of the array in bytes."""
        return math.prod(self.shape) * _item_bytes(self.dtype)


def align(position: int) -> int:
    """Return the next position that is a multiple of the alignment."""
    return -(-position // _ALIGNMENT) * _ALIGNMENT


def storable(name: object, array: AnyArray) -> AnyArray:
    """Return the array little-endian and in C order; raise a TypeError if it cannot be stored."""
    if not isinstance(name, str) or not name:
        message = f"an array's name must be a string that is not empty, got {name!r}"
        raise TypeError(message)
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("<")
    if dtype.kind == "U" and dtype.itemsize == 0:
        dtype = np.dtype("<U1")
    if not _is_allowed(dtype.str):
        message = f"array {name!r} has dtype {array.dtype}, a model file holds {ALLOWED}"
        raise TypeError(message)
    if array.ndim > _MAX_DIMENSIONS:
        message = f"array {name!r} has {array.ndim} dimensions, at most {_MAX_DIMENSIONS} are allowed"
        raise TypeError(message)
    return np.asarray(array, dtype=dtype, order="C")


def lay_out(arrays: Mapping[str, AnyArray]) -> list[Entry]:
    """Return the entries of arrays that are stored one after another."""
    entries, offset = [], 0
    for name, array in arrays.items():
        entries.append(Entry(name, array.dtype.str, array.shape, offset))
        offset = align(offset + array.nbytes)
    return entries


def parse_entries(arrays: list[JSON]) -> list[Entry]:
    """Return the entries of a header; raise a LayoutError if one of them is invalid."""
    entries = [_parse_entry(entry) for entry in arrays]
    if len({entry.name for entry in entries}) < len(entries):
        _fail("two of its arrays have one name")
    return entries


def check_layout(entries: Iterable[Entry], n_bytes: int) -> None:
    """Raise a LayoutError unless the arrays fill all bytes of the file's array part, without gap or overlap."""
    end = 0
    for entry in entries:
        if entry.offset != end:
            _fail(f"array {entry.name!r} is at offset {entry.offset}, its place is {end}")
        end = align(entry.offset + entry.n_bytes)
        if end > n_bytes:
            _fail(f"array {entry.name!r} of {entry.n_bytes} bytes reaches past the end of the file")
        if max(entry.shape, default=0) > max(n_bytes, _MAX_EMPTY):  # an array without elements can claim any length
            _fail(f"array {entry.name!r} has shape {entry.shape}, longer than the file")
    if end != n_bytes:
        _fail(f"its arrays end at offset {end}, the file has {n_bytes} bytes for them")


def view(entry: Entry, arrays: Bytes) -> AnyArray:
    """Return an array as a view of the bytes; raise a LayoutError if a value is invalid for its dtype."""
    end = entry.offset + entry.n_bytes
    raw = arrays[entry.offset : end]
    if arrays[end : align(end)].any():
        _fail(f"array {entry.name!r} is not followed by zeros")
    if entry.dtype == "|b1" and (raw > 1).any():
        _fail(f"array {entry.name!r} holds bytes that are neither true nor false")
    if _TEXT.fullmatch(entry.dtype) and (raw.view("<u4") > _MAX_CODE_POINT).any():
        _fail(f"array {entry.name!r} holds text that is not Unicode")
    return raw.view(entry.dtype).reshape(entry.shape)


def _parse_entry(value: JSON) -> Entry:
    """Return the entry of one array; raise a LayoutError unless types, dtype and size are valid."""
    if not isinstance(value, dict) or value.keys() != {"name", "dtype", "shape", "offset"}:
        _fail(f"an array's entry must have the keys 'name', 'dtype', 'shape' and 'offset', got {value!r:.200}")
    name, dtype, shape, offset = value["name"], value["dtype"], value["shape"], value["offset"]
    if not isinstance(name, str) or not name:
        _fail(f"an array's name must be a string that is not empty, got {name!r:.200}")
    if not isinstance(dtype, str) or not _is_allowed(dtype):
        _fail(f"array {name!r} has dtype {dtype!r:.200}, a model file holds {ALLOWED}")
    if not isinstance(shape, list) or len(shape) > _MAX_DIMENSIONS:
        _fail(f"array {name!r} has shape {shape!r:.200}, a list of at most {_MAX_DIMENSIONS} numbers is allowed")
    lengths = tuple(length for length in shape if type(length) is int and length >= 0)
    if len(lengths) < len(shape):
        _fail(f"array {name!r} has shape {shape!r:.200}, only whole numbers from 0 are allowed")
    if math.prod(length for length in lengths if length) * _item_bytes(dtype) > _MAX_BYTES:
        _fail(f"array {name!r} has shape {shape!r:.200}, larger than any file")
    if type(offset) is not int:
        _fail(f"array {name!r} has offset {offset!r:.200}, only whole numbers are allowed")
    return Entry(name, dtype, lengths, offset)


def _is_allowed(dtype: str) -> bool:
    text = _TEXT.fullmatch(dtype)
    return dtype in _NUMBERS or (text is not None and int(text[1]) <= _MAX_CHARACTERS)


def _item_bytes(dtype: str) -> int:
    """Return the size of one element in bytes; the dtype has been checked."""
    return np.dtype(dtype).itemsize


def _fail(fault: str) -> NoReturn:
    raise LayoutError(fault)
