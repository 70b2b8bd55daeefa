"""Reads flatbuffers, the format of CatBoost's models, by a schema.

A `Table` has its fields in the order of the schema. The reader is strict: an offset outside the bytes or a field that
the schema does not have raises a ValueError, and so does a buffer whose objects share so many bytes that together they
would be far larger than it.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from epiboost._typing import AnyArray

_OFFSET = struct.Struct("<I")
_SIGNED = struct.Struct("<i")
_SHORT = struct.Struct("<H")
_MAX_SHARING = 8  # bytes of all objects per byte of the buffer; CatBoost shares small objects of few kinds
_FIRST_SLOT = 4  # a vtable begins with two sizes


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a table."""

    dtype: str
    default: float = 0


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector of numbers or of structures; without values where it is absent."""

    dtype: Any


@dataclass(frozen=True, slots=True)
class Text:
    """Text; empty where it is absent."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, with its fields in the order of the schema; None where it is absent."""

    fields: "Mapping[str, Number | Vector | Text | Table | Many]"


@dataclass(frozen=True, slots=True)
class Many:
    """A vector of text or of tables; without values where it is absent."""

    of: Text | Table


def decode(content: bytes, schema: Table) -> dict[str, Any]:
    """Return the root table of a buffer; a ValueError unless all its parts are inside the buffer."""
    reader = _Reader(content)
    return reader.table(reader.follow(0), schema)


class _Reader:
    """The bytes, and how many bytes of objects may still be read."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.budget = _MAX_SHARING * len(content)

    def table(self, position: int, schema: Table) -> dict[str, Any]:
        """Return the fields of the table at a position."""
        slots = self.slots(position)
        if any(slots[len(schema.fields) :]):
            _fail("it has a table with fields that are not known")
        offsets = slots + [0] * (len(schema.fields) - len(slots))
        return {
            name: self.field(position + offset if offset else None, kind)
            for (name, kind), offset in zip(schema.fields.items(), offsets, strict=False)
        }

    def slots(self, position: int) -> list[int]:
        """Return the offset of each field of a table, 0 for those that are absent."""
        where = position - self.unpack(_SIGNED, position)
        size = self.unpack(_SHORT, where)
        if size < _FIRST_SLOT or size % _SHORT.size:
            _fail("it has a table without fields")
        self.spend(size)
        return [self.unpack(_SHORT, where + slot) for slot in range(_FIRST_SLOT, size, _SHORT.size)]

    def field(self, position: int | None, kind: Number | Vector | Text | Table | Many) -> Any:  # noqa: ANN401 (of any kind)
        """Return the value of a field, or what stands for an absent one."""
        if isinstance(kind, Number):
            return kind.default if position is None else self.vector_at(position, np.dtype(kind.dtype), 1)[0].item()
        if position is None:
            return _absent(kind)
        target = self.follow(position)
        if isinstance(kind, Table):
            return self.table(target, kind)
        count, begin = self.unpack(_OFFSET, target), target + _OFFSET.size
        if isinstance(kind, Vector):
            return self.vector_at(begin, np.dtype(kind.dtype), count)
        if isinstance(kind, Text):
            return self.vector_at(begin, np.dtype(np.uint8), count).tobytes().decode("latin-1")
        self.vector_at(begin, np.dtype("<u4"), count)  # inside the buffer
        places = range(begin, begin + count * _OFFSET.size, _OFFSET.size)
        return [self.field(place, kind.of) for place in places]

    def vector_at(self, position: int, dtype: np.dtype[Any], count: int) -> AnyArray:
        """Return numbers that begin at a position."""
        if position < 0 or position + count * dtype.itemsize > len(self.content):
            _fail("it has numbers outside its bytes")
        self.spend(count * dtype.itemsize)
        return np.frombuffer(self.content, dtype=dtype, count=count, offset=position)

    def follow(self, position: int) -> int:
        """Return the position that an offset points to."""
        return position + self.unpack(_OFFSET, position)

    def unpack(self, number: struct.Struct, position: int) -> int:
        """Return one number."""
        if not 0 <= position <= len(self.content) - number.size:
            _fail("it has an offset outside its bytes")
        return int(number.unpack_from(self.content, position)[0])

    def spend(self, n_bytes: int) -> None:
        """Count bytes that are read, again where objects are shared."""
        self.budget -= n_bytes
        if self.budget < 0:
            _fail("its objects share too many bytes")


def _absent(kind: Vector | Text | Table | Many) -> Any:  # noqa: ANN401 (of any kind)
    """Return the value of a field that a table does not have."""
    if isinstance(kind, Vector):
        return np.empty(0, dtype=kind.dtype)
    if isinstance(kind, Table):
        return None
    return "" if isinstance(kind, Text) else []


def _fail(fault: str) -> NoReturn:
    raise ValueError(fault)
