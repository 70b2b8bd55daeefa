"""The GPU of this machine: whether there is one, how much memory it has, and errors that say what is missing.

CuPy is imported here and nowhere else, when a GPU is first asked for.

>>> check_fits(3 << 30, 8 << 30, "the bins of 1,000 rows")
"""

import importlib.util
from typing import TYPE_CHECKING

from epiboost._optional import require
from epiboost._typing import LibraryObject

if TYPE_CHECKING:
    from types import ModuleType

_NO_DEVICE, _OLD_DRIVER, _STUB_LIBRARY = 100, 35, 34  # codes of cudaError_t
_USABLE_SHARE = 0.9  # of the free memory: allocations are rounded up, and other processes allocate too
_GIB = float(1 << 30)


class DeviceError(RuntimeError):
    """A GPU that is missing, too old or too small."""


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
        raise DeviceError(_reason(error.status, runtime)) from error
    if not count:
        raise DeviceError(_reason(_NO_DEVICE, runtime))


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


def _reason(status: int, runtime: LibraryObject) -> str:
    """Return the message for an error of the CUDA runtime."""
    remedy = "use device='cpu', or 'auto', which takes the CPU where there is no GPU"
    if status in {_OLD_DRIVER, _STUB_LIBRARY}:
        needed = _version(runtime.runtimeGetVersion())
        found = _version(runtime.driverGetVersion())
        return (
            f"the NVIDIA driver is too old or missing: it supports CUDA {found}, the installed CuPy needs {needed}; "
            f"update the driver, or install the CuPy for its CUDA version; else {remedy}"
        )
    if status == _NO_DEVICE:
        return f"device='cuda' needs an NVIDIA GPU, and this machine has none that CUDA can see; {remedy}"
    return f"CUDA cannot be used on this machine (error {status} of its runtime); {remedy}"


def _version(number: int) -> str:
    """Return a version of CUDA as it is written: 12080 is 12.8, 0 is none."""
    return f"{number // 1000}.{number % 1000 // 10}" if number else "none"
