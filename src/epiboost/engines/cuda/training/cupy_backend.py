"""The GPU of CuPy: kernels compiled by NVRTC at first use and kept in CuPy's cache, and a CUDA graph per tree."""

import collections
import functools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import DTypeLike

from epiboost._typing import AnyArray, LibraryObject
from epiboost.engines.cuda.device import check_device, cupy, free_memory
from epiboost.engines.cuda.sources import fingerprint, folder
from epiboost.engines.cuda.training.backend import Definitions, Launch, Limits
from epiboost.engines.cuda.training.layout import Record

_OPTIONS = ("-std=c++20", "--fmad=false", "-default-device")  # rounded as on the CPU; functions are for the device
_SOURCE = '#include "cuda/training.cu"\n'
_USUAL_SHARED_BYTES = 40 * 1024  # a block that wants more than 48 kB, with what kernels declare, must ask for it


_LOCKS: dict[int, threading.Lock] = collections.defaultdict(threading.Lock)


class CupyBackend:
    """A device for CuPy's current GPU."""

    def __init__(self) -> None:
        """Find the GPU."""
        check_device()
        self._cupy = cupy()
        device = self._cupy.cuda.Device()
        attributes = device.attributes
        self.limits = Limits(attributes["MultiProcessorCount"], attributes["MaxSharedMemoryPerBlockOptin"])
        self._device = int(device.id)
        self._stream = _stream(self._device)
        self._module: LibraryObject = None
        self._kernels: dict[str, LibraryObject] = {}
        self._asked: dict[str, int] = {}  # shared memory that blocks may have

    def exclusive(self) -> AbstractContextManager[object]:
        """Return a lock: all trainings of a process on one GPU share its stream, and take turns."""
        return _LOCKS[self._device]

    def compile(self, definitions: Definitions) -> None:
        """Compile the kernels that are launched from now on."""
        macros = (
            *definitions.macros(),
            f"EPIBOOST_SOURCES={fingerprint()}",
        )  # CuPy's cache does not see included files
        options = (*_OPTIONS, f"-I{folder()}", *(f"-D{macro}" for macro in macros))
        self._module = _module(self._device, options)
        self._kernels, self._asked = {}, {}

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> LibraryObject:
        """Return an array on the device, with any numbers."""
        with self._stream:
            return self._cupy.empty(shape, dtype)

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> LibraryObject:
        """Return an array of zeros on the device."""
        with self._stream:
            return self._cupy.zeros(shape, dtype)

    def put(self, array: AnyArray) -> LibraryObject:
        """Return a copy on the device."""
        with self._stream:
            if array.dtype.names is None:
                return self._cupy.asarray(array)
            return self._cupy.asarray(np.ascontiguousarray(array).view(np.uint8))

    def get(self, array: LibraryObject) -> AnyArray:
        """Return a copy on the host, after all launches before."""
        with self._stream:
            return array.get(stream=self._stream)  # type: ignore[no-any-return]

    def pointer(self, array: LibraryObject) -> int:
        """Return the address of an array."""
        return int(array.data.ptr)

    def launch(self, launch: Launch, arguments: Record) -> None:
        """Launch a kernel with a structure as its first argument."""
        given = (arguments,) if launch.level is None else (arguments, np.int32(launch.level))
        kernel = self._kernel(launch)
        with self._stream:
            kernel((*launch.grid, 1), (launch.threads, 1, 1), given, shared_mem=launch.shared_bytes)

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """Return a function that repeats the launches of ``work`` as a CUDA graph."""
        with self._stream:
            self._stream.begin_capture()
            try:
                work()
            finally:
                graph = self._stream.end_capture()
        return lambda: graph.launch(self._stream)

    def mark(self) -> Callable[[], None]:
        """Return a function that waits for all launches up to now."""
        event = self._cupy.cuda.Event(block=False, disable_timing=True)
        event.record(self._stream)
        return event.synchronize  # type: ignore[no-any-return]

    def free_bytes(self) -> int:
        """Return how much memory may be allocated."""
        return free_memory()

    def _kernel(self, launch: Launch) -> LibraryObject:
        """Return a kernel that may use the shared memory of a launch."""
        kernel = self._kernels.get(launch.kernel)
        if kernel is None:
            kernel = self._kernels[launch.kernel] = self._module.get_function(launch.kernel)
        if launch.shared_bytes > self._asked.get(launch.kernel, _USUAL_SHARED_BYTES):
            kernel.max_dynamic_shared_size_bytes = self._asked[launch.kernel] = launch.shared_bytes
        return kernel


@functools.cache
def _stream(device: int) -> LibraryObject:
    """Return the stream of a GPU: CuPy keeps freed memory for the stream that has used it."""
    with cupy().cuda.Device(device):
        return cupy().cuda.Stream(non_blocking=True)


@functools.cache
def _module(device: int, options: tuple[str, ...]) -> LibraryObject:
    """Return the compiled kernels, loaded once per GPU."""
    with cupy().cuda.Device(device):
        return cupy().RawModule(code=_SOURCE, options=options)
