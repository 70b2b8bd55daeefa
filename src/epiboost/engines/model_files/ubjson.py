"""Reads UBJSON as XGBoost writes it: sizes are 64-bit, arrays of one type come as NumPy arrays.

The reader is strict: a name that comes twice, a type that XGBoost does not write or a size that the bytes do not have
raises a ValueError, and nothing is allocated by a size before it is compared with the bytes that are left.

>>> decode(b"{L" + (1).to_bytes(8, "big") + b"ai" + bytes([7]) + b"}")
{'a': 7}
"""

import struct
from typing import NoReturn, TypeAlias

import numpy as np

from epiboost._typing import AnyArray

Value: TypeAlias = "int | float | str | bool | list[Value] | dict[str, Value] | AnyArray | None"

_SIZE = struct.Struct(">cq")
_SCALARS = {
    marker: struct.Struct(f">{code}")
    for marker, code in {"i": "b", "U": "B", "I": "h", "l": "i", "L": "q", "d": "f", "D": "d"}.items()
}
_ARRAYS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
_CONSTANTS = {"T": True, "F": False, "Z": None}
_MAX_DEPTH = 16  # XGBoost's models have eight levels


def decode(content: bytes) -> Value:
    """Return the value that the bytes hold; a ValueError unless they are UBJSON as XGBoost writes it."""
    reader = _Reader(content)
    value = reader.value(0)
    if reader.position != len(content):
        _fail(f"{len(content) - reader.position} bytes follow it")
    return value


class _Reader:
    """The bytes, and how far they have been read."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 0

    def value(self, depth: int) -> Value:
        """Read a value."""
        if depth > _MAX_DEPTH:
            _fail("it is nested too deeply")
        marker = self.marker()
        if marker in _SCALARS:
            number: int | float = _SCALARS[marker].unpack(self.take(_SCALARS[marker].size))[0]
            return number
        if marker == "S":
            return self.text()
        if marker == "[":
            return self.array(depth)
        if marker == "{":
            return self.object(depth)
        if marker not in _CONSTANTS:
            _fail(f"it has a value of the type {marker!r}")
        return _CONSTANTS[marker]

    def array(self, depth: int) -> Value:
        """Read an array of one type, or a list of values."""
        kind = None
        if self.next_is("$"):
            kind = self.marker()
            if kind not in _ARRAYS:
                _fail(f"it has an array of the type {kind!r}")
        if not self.next_is("#"):
            _fail("it has an array without a size")
        count = self.size()
        if kind is None:
            return [self.value(depth + 1) for _ in range(count)]
        dtype = np.dtype(_ARRAYS[kind])
        return np.frombuffer(self.take(count * dtype.itemsize), dtype=dtype).astype(dtype.newbyteorder("="))

    def object(self, depth: int) -> dict[str, Value]:
        """Read an object."""
        found: dict[str, Value] = {}
        while not self.next_is("}"):
            name = self.text()
            if name in found:
                _fail(f"it holds {name!r} twice")
            found[name] = self.value(depth + 1)
        return found

    def text(self) -> str:
        """Read text."""
        return self.take(self.size()).decode("ascii")

    def size(self) -> int:
        """Read a size, which is at most the number of bytes that are left."""
        marker, size = _SIZE.unpack(self.take(_SIZE.size))
        if marker != b"L":
            _fail("it has a size that is not of 64 bits")
        if not 0 <= size <= len(self.content) - self.position:
            _fail(f"it has a size of {size}, and {len(self.content) - self.position} bytes are left")
        return int(size)

    def marker(self) -> str:
        """Read one character."""
        return chr(self.take(1)[0])

    def next_is(self, marker: str) -> bool:
        """Read one character if it is this one."""
        is_next = self.content[self.position : self.position + 1] == marker.encode()
        self.position += is_next
        return is_next

    def take(self, count: int) -> bytes:
        """Read bytes."""
        if count > len(self.content) - self.position:
            _fail("it ends too early")
        self.position += count
        return self.content[self.position - count : self.position]


def _fail(fault: str) -> NoReturn:
    raise ValueError(fault)
