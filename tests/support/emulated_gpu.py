"""A device that runs the kernels of training on the processor, compiled by the machine's C++ compiler."""

import ctypes
import functools
import shutil
import subprocess
import tempfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from epiboost.engines.cuda.sources import folder
from epiboost.engines.cuda.training.backend import Limits

_HERE = Path(__file__).parent / "simt"
_FOLDER = tempfile.TemporaryDirectory(prefix="epiboost-kernels-")
COMPILER = shutil.which("g++") or shutil.which("clang++")
# Hidden: otherwise libraries would share the static variables of inline functions, which are their shared memory.
COMMAND = (COMPILER, "-std=c++20", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-fvisibility=hidden", "-w")


@functools.cache
def library(definitions):
    """Return the kernels for some constants as a library."""
    path = Path(_FOLDER.name) / f"{abs(hash(definitions))}.so"
    macros = [f"-D{macro}" for macro in definitions.macros()]
    command = [*COMMAND, *macros, f"-I{folder()}", f"-I{_HERE}", str(_HERE / "launch.cpp"), "-o", str(path)]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(path))
    loaded.size_of.restype = ctypes.c_size_t
    return loaded


class EmulatedGpu:
    """A backend of training with small blocks; it counts launches."""

    def __init__(self, *, shared_bytes=48 * 1024, processors=2, threads=64, free=1 << 30, descending=False):
        self.limits = Limits(processors, shared_bytes, row_threads=threads, level_threads=threads)
        self.free = free
        self.descending = descending
        self.launches = 0
        self._library = None

    def exclusive(self):
        """Return a context: the emulator serves one training at a time."""
        return nullcontext()

    def compile(self, definitions):
        self._library = library(definitions)

    @staticmethod
    def empty(shape, dtype):
        made = np.empty(shape, dtype)
        made.view(np.uint8).reshape(-1)[:] = 0xA5
        return made

    @staticmethod
    def zeros(shape, dtype):
        return np.zeros(shape, dtype)

    @staticmethod
    def put(array):
        return np.array(array, order="C")

    @staticmethod
    def get(array):
        return array.copy()

    @staticmethod
    def pointer(array):
        return array.ctypes.data

    def launch(self, launch, arguments):
        self.launches += 1
        grid_x, grid_y = launch.grid
        known = self._library.launch(
            launch.kernel.encode(),
            np.array(arguments).tobytes(),
            launch.level or 0,
            grid_x,
            grid_y,
            launch.threads,
            ctypes.c_size_t(launch.shared_bytes),
            int(self.descending),
        )
        assert known, launch.kernel

    @staticmethod
    def record(work):
        return work

    @staticmethod
    def mark():
        return lambda: None

    def free_bytes(self):
        return self.free
