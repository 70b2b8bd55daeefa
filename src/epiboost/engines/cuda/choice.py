"""The choice between processor and GPU: ``device`` of the estimators.

>>> is_gpu_used("cpu", pays=True)
False
>>> pays_to_predict(rows=10, trees=1000), pays_to_predict(rows=100_000, trees=10_000)
(False, True)
"""

import warnings
from typing import get_args

from epiboost._boosting.recipe import ON_CLUSTER
from epiboost._typing import Device
from epiboost.engines.cuda.device import DeviceError, NoDeviceError, check_device, is_installed

_MIN_TRAINED = 2e8  # rows times chains times trees: about a second of two cores
_MIN_PREDICTED = 2e8  # rows times trees of all chains: about twenty milliseconds of two cores


def check_device_name(device: object) -> None:
    """Raise a ValueError if ``device`` is not one of its values."""
    if not (isinstance(device, str) and device in get_args(Device)):
        message = f"device must be one of {', '.join(map(repr, get_args(Device)))}; got {device!r}"
        raise ValueError(message)


def check_engine(engine: object, device: Device, *, is_known: bool, is_given: bool, n_jobs: int | str | None) -> None:
    """Refuse a device for an engine that does not know it, that is given as an object, or that uses a cluster."""
    if not is_known:
        message = f"device={device!r} is for engine='native'; engine={engine!r} trains as its library does"
        raise ValueError(message)
    if is_given:
        message = "device is for an engine that is given by name; give it to the Engine itself"
        raise ValueError(message)
    if n_jobs == ON_CLUSTER and device == "cuda":
        message = "n_jobs='dask' trains members on the processors of the cluster's workers; use device='cpu' with it"
        raise ValueError(message)


def pays_to_train(rows: int, chains: int, trees: int) -> bool:
    """Return whether training of so many chains is faster on a GPU, its start included."""
    return rows * chains * trees >= _MIN_TRAINED


def pays_to_predict(rows: int, trees: int) -> bool:
    """Return whether prediction by so many trees, of all chains together, is faster on a GPU, copies included."""
    return rows * trees >= _MIN_PREDICTED


def is_gpu_used(device: Device, *, pays: bool) -> bool:
    """Return whether the GPU is used.

    Parameters
    ----------
    device : {"cpu", "cuda", "auto"}
        "auto" is "cuda" where CuPy and a GPU are there and it pays; a GPU that cannot be used gives a warning.
    pays : bool
        Whether the GPU would be faster.

    Raises
    ------
    ImportError, DeviceError
        For ``"cuda"`` without CuPy, or without a GPU that it can use.
    """
    if device == "cpu" or (device == "auto" and not (pays and is_installed())):
        return False
    try:
        check_device()
    except NoDeviceError:
        if device == "cuda":
            raise
        return False
    except (ImportError, DeviceError) as error:
        if device == "cuda":
            raise
        warn_of_cpu(error)
        return False
    return True


def warn_of_cpu(error: Exception) -> None:
    """Warn that device="auto" takes the CPU because the GPU has failed."""
    warnings.warn(f"device='auto' uses the CPU, because the GPU cannot be used: {error}", UserWarning, stacklevel=2)
