"""What prediction uses of CuPy, on the processor: arrays, streams, and kernels that the emulator runs.

`DeviceArray` stands for ``cupy.ndarray``: like it, it does not become a NumPy array by itself.
"""

import ctypes
import functools
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from epiboost.engines.cuda import choice, prediction, tables, transfer
from epiboost.engines.cuda.sources import folder
from epiboost.engines.native import on_device
from tests.support.emulated_gpu import _FOLDER, COMMAND

_HERE = Path(__file__).parent / "simt"


class DeviceArray(np.ndarray):
    """An array that numbers of the host must not touch."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        if any(type(value) is np.ndarray and value.ndim for value in inputs):
            message = "Unsupported type numpy.ndarray"
            raise TypeError(message)
        given = [value.view(np.ndarray) if isinstance(value, DeviceArray) else value for value in inputs]
        if out is not None:
            options["out"] = tuple(value.view(np.ndarray) for value in out)
        result = getattr(ufunc, method)(*given, **options)
        return result.view(DeviceArray) if isinstance(result, np.ndarray) else np.asarray(result).view(DeviceArray)

    def get(self, stream=None, out=None, blocking=True):  # noqa: ARG002 (of CuPy)
        if out is None:
            return np.array(self.view(np.ndarray))
        out[...] = self.view(np.ndarray)
        return out

    def set(self, array, stream=None):  # noqa: ARG002
        self.view(np.ndarray)[...] = array

    @property
    def device(self):
        return Device(0)


DeviceArray.__module__ = "cupy"


class Device:
    """The only device."""

    def __init__(self, number=None):
        self.id = number or 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


class Stream(nullcontext):
    """A stream on which everything is done at once."""

    def __init__(self, **_):
        super().__init__()

    def synchronize(self):
        pass


def to_device(values):
    """Return a copy of an array on the pretended GPU."""
    return np.array(values).view(DeviceArray)


def empty(shape, dtype=np.float64):
    made = np.empty(shape, dtype).view(DeviceArray)
    made.view(np.ndarray).reshape(-1).view(np.uint8)[:] = 0xA5
    return made


cupy = SimpleNamespace(
    asarray=to_device,
    empty=empty,
    cuda=SimpleNamespace(Device=Device, Stream=Stream, get_current_stream=Stream),
)


@functools.cache
def kernels(name, *macros):
    """Return a module of kernels, compiled by the machine's compiler."""
    path = Path(_FOLDER.name) / f"{name}-{abs(hash(macros))}.so"
    given = [f"-D{macro}" for macro in macros]
    file = f'-DEPIBOOST_FILE="cuda/prediction/{name}.cu"'
    command = [*COMMAND, *given, file, f"-I{folder()}", f"-I{_HERE}", str(_HERE / "prediction.cpp"), "-o", str(path)]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(path))
    return SimpleNamespace(get_function=lambda kernel: Kernel(getattr(library, f"launch_{kernel}")))


class Kernel:
    """A kernel, called as CuPy's are."""

    def __init__(self, launch):
        self.launch = launch
        self.max_dynamic_shared_size_bytes = 48 << 10

    def __call__(self, grid, block, arguments, shared_mem=0):
        assert shared_mem <= self.max_dynamic_shared_size_bytes
        values = [argument_of(value) for value in arguments]
        addresses = (ctypes.c_void_p * len(values))(*[value.ctypes.data for value in values])
        self.launch(addresses, *(*grid, 1)[:2], block[0], ctypes.c_size_t(shared_mem))


def argument_of(value):
    """Return an argument as memory: the address of an array, or the bytes of a number whose type is known."""
    assert isinstance(value, DeviceArray | np.generic), type(value)
    return np.array([value.ctypes.data] if isinstance(value, DeviceArray) else [value])


def pretend_a_gpu(monkeypatch, *, free=1 << 30):
    """Let the package find a GPU with so much free memory."""
    for module in (on_device, prediction, tables, transfer):
        monkeypatch.setattr(module, "cupy", lambda: cupy)
    for module in (on_device, tables):
        monkeypatch.setattr(module, "device_errors", lambda _: nullcontext())
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(prediction, "kernels", kernels)
    monkeypatch.setattr(transfer, "pinned_empty", np.empty)
    monkeypatch.setattr(tables, "free_memory", lambda: free)
    monkeypatch.setattr(choice, "check_device", lambda: None)
    monkeypatch.setattr(choice, "is_installed", lambda: True)
