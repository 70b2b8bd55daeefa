"""What training asks of a device: memory, launches of kernels, and a tree's launches recorded to be repeated."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from numpy.typing import DTypeLike

from epiboost._typing import AnyArray, LibraryObject
from epiboost.engines.cuda.training.layout import Record


@dataclass(frozen=True, slots=True)
class Definitions:
    """Constants with which the kernels are compiled.

    Attributes
    ----------
    objective : int
        Code of the loss.
    outputs : int
        Number of scores per row.
    score_lanes : int
        Lanes in which the native core sums the score of a split; 1 if it adds one output after the other.
    counts_squares : bool
        Whether scores or their noise need the sums of squared gradients.
    is_monotone : bool
        Whether a chain has monotone constraints.
    is_leaf_wise : bool
        Whether trees grow leaf by leaf.
    columns_at_once : int
        Columns whose histograms one block sums.
    level_blocks : int
        Blocks that find splits which a multiprocessor should hold at once.
    """

    objective: int
    outputs: int
    score_lanes: int
    counts_squares: bool
    is_monotone: bool = False
    is_leaf_wise: bool = False
    columns_at_once: int = 1
    level_blocks: int = 2

    @property
    def packs(self) -> bool:
        """Whether a cell of a histogram is one word of 64 bits."""
        return self.outputs == 2 and self.score_lanes == 1  # noqa: PLR2004 (as PackedTwo of the native core)

    def macros(self) -> tuple[str, ...]:
        """Return the definitions for a compiler.

        >>> Definitions(0, 2, 1, True).macros()[:2]
        ('EPIBOOST_OBJECTIVE=0', 'EPIBOOST_OUTPUTS=2')
        """
        return (
            f"EPIBOOST_OBJECTIVE={self.objective}",
            f"EPIBOOST_OUTPUTS={self.outputs}",
            f"EPIBOOST_SCORE_LANES={self.score_lanes}",
            f"EPIBOOST_COUNTS_SQUARES={int(self.counts_squares)}",
            f"EPIBOOST_MONOTONE={int(self.is_monotone)}",
            f"EPIBOOST_LEAF_WISE={int(self.is_leaf_wise)}",
            f"EPIBOOST_COLUMNS={self.columns_at_once}",
            f"EPIBOOST_LEVEL_BLOCKS={self.level_blocks}",
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes of a device.

    Attributes
    ----------
    processors : int
        Number of multiprocessors.
    shared_bytes : int
        Most shared memory of a block.
    row_threads, level_threads : int
        Threads of the blocks that go through rows, and of those that find splits.
    """

    processors: int
    shared_bytes: int
    row_threads: int = 256
    level_threads: int = 512


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel.

    Attributes
    ----------
    kernel : str
    grid : (int, int)
        Number of blocks.
    threads : int
        Threads per block.
    shared_bytes : int
        Dynamic shared memory per block.
    level : int or None
        Second argument of the kernel, if it has one: the level, or a number of splits.
    """

    kernel: str
    grid: tuple[int, int]
    threads: int
    shared_bytes: int = 0
    level: int | None = None


class Backend(Protocol):
    """A device."""

    limits: Limits

    def exclusive(self) -> AbstractContextManager[object]:
        """Return a context in which one training has the device."""

    def compile(self, definitions: Definitions) -> None:
        """Compile the kernels that are launched from now on."""

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> LibraryObject:
        """Return an array on the device, with any numbers."""

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> LibraryObject:
        """Return an array of zeros on the device."""

    def put(self, array: AnyArray) -> LibraryObject:
        """Return a copy on the device."""

    def get(self, array: LibraryObject) -> AnyArray:
        """Return a copy on the host, after all launches before."""

    def pointer(self, array: LibraryObject) -> int:
        """Return the address of an array."""

    def launch(self, launch: Launch, arguments: Record) -> None:
        """Launch a kernel with a structure as its first argument."""

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """Return a function that repeats the launches of ``work``, which are not made now."""

    def mark(self) -> Callable[[], None]:
        """Return a function that waits for all launches up to now."""

    def free_bytes(self) -> int:
        """Return how much memory may be allocated."""
