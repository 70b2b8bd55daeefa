"""The GPU of this machine: whether there is one, how much memory it has, and errors that say what is missing.

CuPy is imported here and nowhere else, when a GPU is first asked for.

>>> check_fits(3 << 30, 8 << 30, "the bins of 1,000 rows")
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from numpy.typing import DTypeLike

from epiboost._optional import require
from epiboost._typing import AnyArray, LibraryObject

if TYPE_CHECKING:
    from types import ModuleType

_NO_DEVICE, _OLD_DRIVER, _STUB_LIBRARY = 100, 35, 34  # codes of cudaError_t
_USABLE_SHARE = 0.9  # of the free memory: allocations are rounded up, and other processes allocate too
_GIB = float(1 << 30)


class DeviceError(RuntimeError):
    """A GPU that is missing, too old or too small."""


class NoDeviceError(DeviceError):
    """A machine without a GPU."""


def cupy() -> "ModuleType":
    """Return CuPy; an ImportError names the extra that installs it."""
    return require("cupy", extra="cuda", purpose="device='cuda'")


def is_installed() -> bool:
    """Return whether CuPy is installed, without importing it."""
    return importlib.util.find_spec("cupy") is not None


def is_available() -> bool:
    """Return whether CuPy is installed and finds a GPU that it can use."""
    if not is_installed():
        return False
    try:
        check_device()
    except (ImportError, DeviceError):
        return False
    return True


def check_device() -> None:
    """Raise an ImportError or a `DeviceError` if there is no GPU that CuPy can use, with the remedy."""
    runtime = cupy().cuda.runtime
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        has_driver = error.status != _NO_DEVICE and runtime.driverGetVersion() > 0
        raise (DeviceError if has_driver else NoDeviceError)(_reason(error.status, runtime)) from error
    if not count:
        raise NoDeviceError(_reason(_NO_DEVICE, runtime))


@contextmanager
def device_errors(what: str) -> Iterator[None]:
    """Let errors of CuPy on the GPU be a `DeviceError` that says what could not be done, and the remedy."""
    library = cupy()
    try:
        yield
    except library.cuda.memory.OutOfMemoryError as error:
        message = f"the GPU has too little memory for {what} ({error}); free some, take a larger GPU or device='cpu'"
        raise DeviceError(message) from error
    except (library.cuda.runtime.CUDARuntimeError, library.cuda.driver.CUDADriverError) as error:
        message = f"the GPU has failed at {what} ({error}); start the process anew, or use device='cpu'"
        raise DeviceError(message) from error
    except RuntimeError as error:
        if "nvrtc" not in str(error).lower():
            raise
        message = f"kernels cannot be compiled ({error}); install NVRTC with: pip install 'epiboost[cuda]'"
        raise DeviceError(message) from error


def free_memory() -> int:
    """Return how many bytes of GPU memory can be used: what is free, and what CuPy keeps for later."""
    library = cupy()
    free, _ = library.cuda.runtime.memGetInfo()
    return int(_USABLE_SHARE * (free + library.get_default_memory_pool().free_bytes()))


def check_fits(needed: int, free: int, what: str) -> None:
    """Raise a `DeviceError` with the numbers if so many bytes are not free."""
    if needed > free:
        message = (
            f"{what} need {needed / _GIB:.2f} GB of GPU memory, and {free / _GIB:.2f} GB are free; free some, take a "
            "larger GPU or device='cpu'"
        )
        raise DeviceError(message)


def pinned_empty(shape: tuple[int, ...], dtype: DTypeLike) -> AnyArray:
    """Return an array on the host from which the GPU copies by itself."""
    cupyx = require("cupyx", extra="cuda", purpose="device='cuda'")
    return cupyx.empty_pinned(shape, dtype)  # type: ignore[no-any-return]


def _reason(status: int, runtime: LibraryObject) -> str:
    """Return the message for an error of the CUDA runtime."""
    remedy = "use device='cpu', or 'auto', which takes the CPU where there is no GPU"
    driver = runtime.driverGetVersion()
    if status in {_OLD_DRIVER, _STUB_LIBRARY} and driver > 0:
        return (
            f"the NVIDIA driver is too old: it supports CUDA {_version(driver)}, and the installed CuPy needs "
            f"{_version(runtime.runtimeGetVersion())}; update the driver, or install a CuPy for its CUDA; else {remedy}"
        )
    if status == _NO_DEVICE or driver == 0:
        return f"device='cuda' needs an NVIDIA GPU, and this machine has none that CUDA can see; {remedy}"
    return f"CUDA cannot be used on this machine (error {status} of its runtime); {remedy}"


def _version(number: int) -> str:
    """Return a version of CUDA as it is written: 12080 is 12.8."""
    return f"{number // 1000}.{number % 1000 // 10}"
