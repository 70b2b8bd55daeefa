"""Predicts a table of the host in chunks: while one is computed, the next is copied to the GPU and the last one back.

Two lanes take turns. Each has a stream and pinned memory, from which the GPU copies at full speed by itself.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from epiboost._typing import AnyArray, Floats, LibraryObject
from epiboost.engines.cuda.device import cupy, pinned_empty

_COPY_BYTES = 1 << 20  # less is copied by one thread
_LANES = 2


@dataclass(slots=True)
class _Lane:
    """A stream, and the chunk that is under way on it."""

    pool: ThreadPoolExecutor
    threads: int
    stream: LibraryObject = field(default_factory=lambda: cupy().cuda.Stream(non_blocking=True))
    table: AnyArray | None = None
    results: list[AnyArray] = field(default_factory=list)
    targets: list[Floats] = field(default_factory=list)

    def begin(
        self,
        chunk: AnyArray,
        compute: Callable[[LibraryObject], Sequence[LibraryObject]],
        targets: list[Floats],
    ) -> None:
        """Start the copies and the computation of a chunk, whose results go to the targets."""
        if self.table is None or len(self.table) < len(chunk):
            self.table = pinned_empty(chunk.shape, chunk.dtype)
        pinned = self.table[: len(chunk)]
        self._copy(pinned, chunk)
        with self.stream:
            on_device = cupy().empty(chunk.shape, dtype=chunk.dtype)
            on_device.set(pinned, stream=self.stream)
            self.results = [self._fetch(result) for result in compute(on_device)]
        self.targets = targets

    def finish(self) -> None:
        """Wait for the chunk that is under way, and put its results in their place."""
        self.stream.synchronize()
        for target, result in zip(self.targets, self.results, strict=True):
            self._copy(target, result)
        self.targets, self.results = [], []

    def _fetch(self, result: LibraryObject) -> AnyArray:
        pinned = pinned_empty(result.shape, result.dtype)
        result.get(stream=self.stream, out=pinned, blocking=False)
        return pinned

    def _copy(self, target: AnyArray, source: AnyArray) -> None:
        """Copy an array by several threads: one alone is slower than the bus."""
        parts = min(self.threads, source.nbytes // _COPY_BYTES)
        axis = max(range(source.ndim), key=source.shape.__getitem__)
        if parts <= 1:
            np.copyto(target, source)
            return
        pieces = zip(np.array_split(target, parts, axis=axis), np.array_split(source, parts, axis=axis), strict=True)
        for copied in [self.pool.submit(np.copyto, *piece) for piece in pieces]:
            copied.result()


def in_chunks(
    table: AnyArray,
    chunk_rows: int,
    compute: Callable[[LibraryObject], Sequence[LibraryObject]],
    results: Sequence[tuple[Floats, int]],
    *,
    threads: int,
) -> None:
    """Compute results for the rows of a table on the host.

    Parameters
    ----------
    table : array of shape (n, columns)
    chunk_rows : int
    compute : callable
        Returns arrays on the GPU for a chunk of the table, which is on the GPU too.
    results : sequence of (array, axis)
        Where to write them, and along which axis the rows of a chunk are.
    threads : int
        That copy to and from pinned memory.
    """
    with ThreadPoolExecutor(max(1, threads)) as pool:
        lanes = [_Lane(pool, threads) for _ in range(_LANES)]
        try:
            for number, first in enumerate(range(0, len(table), chunk_rows)):
                lane = lanes[number % _LANES]
                lane.finish()
                rows = slice(first, min(first + chunk_rows, len(table)))
                targets = [array[(slice(None),) * axis + (rows,)] for array, axis in results]
                lane.begin(table[rows], compute, targets)
            for number in range(_LANES):  # the older chunk first
                lanes[(len(range(0, len(table), chunk_rows)) + number) % _LANES].finish()
        finally:
            for lane in lanes:  # memory must not be freed while it is copied
                lane.stream.synchronize()
