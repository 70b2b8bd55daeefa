"""An arena hands out zeroed memory in few allocations, and wastes little of it."""

import numpy as np
import pytest

from epiboost.engines.cuda.training.arena import Arena


class CountingBackend:
    """A device that counts allocations and bytes, and has no memory."""

    def __init__(self):
        self.sizes = []
        self._next = 1 << 20

    def zeros(self, shape, dtype):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        self.sizes.append(size)
        self._next += size
        return self._next - size

    def put(self, array):
        return self.zeros(array.shape, array.dtype)

    @staticmethod
    def pointer(array):
        return array


@pytest.fixture
def backend():
    return CountingBackend()


@pytest.mark.parametrize("rows", [5_000, 41_157, 300_000, 2_500_000, 4_300_000, 10_000_000])
def test_at_most_a_twentieth_of_much_memory_is_not_used(backend, rows):
    arena = Arena(backend)
    wanted = 0
    while wanted < 1 << 30:
        for bytes_per_row in (8, 8, 1, 4, 4, 4, 2):
            arena.zeros(rows * bytes_per_row, np.uint8)
            wanted += rows * bytes_per_row
        arena.zeros(100, np.float64)
        wanted += 800
    assert sum(backend.sizes) < 1.05 * wanted + (1 << 16)


def test_at_most_half_of_little_memory_is_not_used(backend):
    arena = Arena(backend)
    for _ in range(3_000):
        arena.zeros(1_000, np.uint8)
    assert sum(backend.sizes) < 2 * 1024 * 3_000


def test_many_small_arrays_take_few_allocations(backend):
    arena = Arena(backend)
    for _ in range(17 * 100):
        arena.zeros(40_000, np.float32)
    assert len(backend.sizes) < 60


def test_arrays_do_not_overlap_and_are_aligned(backend):
    arena = Arena(backend)
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 1 << rng.integers(1, 24, size=500))
    starts = np.array([arena.zeros(int(size), np.uint8) for size in sizes])
    assert not (starts % 256).any()
    order = np.argsort(starts + sizes, kind="stable")
    assert (starts[order][1:] >= (starts + sizes)[order][:-1]).all()


def test_an_array_is_copied_once(backend):
    arena = Arena(backend)
    shared = np.arange(3)
    assert arena.put(shared) == arena.put(shared)
    assert arena.put(shared.copy()) != arena.put(shared)
    assert len(backend.sizes) == 2
