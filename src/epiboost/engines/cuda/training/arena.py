"""Zeroed memory of a device in large blocks, which hold the many arrays of the chains."""

from math import prod

import numpy as np
from numpy.typing import DTypeLike

from epiboost._typing import AnyArray, LibraryObject
from epiboost.engines.cuda.training.backend import Backend

_FIRST_BYTES, _BLOCK_BYTES = 1 << 16, 1 << 24  # of the smallest and the largest blocks
_ALONE = 16  # arrays that are larger than this part of a block have allocations of their own, so that little is wasted
_ALIGNMENT = 256  # of allocations on a device


class Arena:
    """Memory that lives as long as the arena. Few allocations take the host far less time than one per array.

    A block is as large as all memory before it, so that at most half is not used.

    Parameters
    ----------
    backend : Backend
    """

    def __init__(self, backend: Backend) -> None:
        """Allocate nothing yet."""
        self._backend = backend
        self._blocks: list[LibraryObject] = []
        self._next = self._end = 0  # addresses
        self._total = 0
        self._copies: dict[int, tuple[AnyArray, int]] = {}

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> int:
        """Return the address of an array of zeros."""
        size = prod(shape if isinstance(shape, tuple) else (shape,)) * np.dtype(dtype).itemsize
        size = -(-size // _ALIGNMENT) * _ALIGNMENT
        block = min(max(self._total, _FIRST_BYTES), _BLOCK_BYTES)
        if size > block // _ALONE:
            return self._allocate(size)
        if size > self._end - self._next:
            self._next = self._allocate(block)
            self._end = self._next + block
        self._next += size
        return self._next - size

    def _allocate(self, size: int) -> int:
        block = self._backend.zeros(size, np.uint8)
        self._blocks.append(block)
        self._total += size
        return self._backend.pointer(block)

    def put(self, array: AnyArray) -> int:
        """Return the address of a copy of an array, the same one each time that this array is given."""
        if id(array) not in self._copies:
            copy = self._backend.put(array)
            self._blocks.append(copy)
            self._copies[id(array)] = array, self._backend.pointer(copy)
        return self._copies[id(array)][1]
