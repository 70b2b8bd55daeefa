"""Training on a GPU, where it is wanted, possible and faster."""

import warnings

from epiboost._progress import Progress
from epiboost._typing import Device
from epiboost.engines.cuda.choice import is_gpu_used, pays_to_train, warn_of_cpu
from epiboost.engines.cuda.device import DeviceError, device_errors
from epiboost.engines.native.chains import ChainTable, Trees
from epiboost.engines.rounds import Rounds


def train_on_device(
    tables: list[ChainTable], threads: int, progress: Progress, rounds: Rounds | None = None, *, device: Device
) -> list[Trees] | None:
    """Train the chains of all tables on the GPU, which empties the list; None if the CPU shall train them.

    Parameters
    ----------
    tables, threads, progress, rounds
        See `train_here`.
    device : {"cpu", "cuda", "auto"}

    Raises
    ------
    ImportError, DeviceError
        For ``device="cuda"`` without CuPy, without a GPU that it can use, or with too little memory.

    Warns
    -----
    UserWarning
        For chains that ``device="cuda"`` trains on the CPU all the same, and for ``"auto"`` where the GPU fails.
    """
    if not is_gpu_used(device, pays=any(map(_pays, tables))):
        return None
    from epiboost.engines.cuda.training import train_on_gpu, unsupported  # noqa: PLC0415 (few need it)

    parameter = next(filter(None, map(unsupported, tables)), None)
    if parameter is not None:
        if device == "cuda":
            message = f"chains with this {parameter} are trained on the CPU, which gives the model that a GPU would"
            warnings.warn(message, UserWarning, stacklevel=2)
        return None
    try:
        with device_errors("this training"):
            return train_on_gpu(tables if device == "cuda" else list(tables), threads, progress, rounds)
    except DeviceError as error:
        if device == "cuda":
            raise
        warn_of_cpu(error)
        return None


def _pays(table: ChainTable) -> bool:
    if table.recipe.leaves:
        return False  # not measured yet
    return pays_to_train(len(table.y), len(table.seeds), table.recipe.trees)
