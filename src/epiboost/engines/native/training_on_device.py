"""Training on a GPU, where it is wanted, possible and faster."""

from epiboost._progress import Progress
from epiboost._typing import Device
from epiboost.engines.cuda.choice import is_gpu_used, pays_to_train, warn_of_cpu
from epiboost.engines.cuda.device import DeviceError
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
    ValueError
        For ``device="cuda"`` and chains that the GPU cannot train.
    ImportError, DeviceError
        For ``device="cuda"`` without CuPy, without a GPU that it can use, or with too little memory.
    """
    if not is_gpu_used(device, pays=any(map(_pays, tables))):
        return None
    from epiboost.engines.cuda.training import train_on_gpu, unsupported  # noqa: PLC0415 (few need it)

    reason = next(filter(None, map(unsupported, tables)), None)
    if reason is not None:
        if device == "auto":
            return None
        message = f"device='cuda' cannot train this model: {reason}; use device='cpu', or 'auto', which does"
        raise ValueError(message)
    if device == "cuda":
        return train_on_gpu(tables, threads, progress, rounds)
    try:
        return train_on_gpu(list(tables), threads, progress, rounds)
    except DeviceError as error:
        warn_of_cpu(error)
        return None


def _pays(table: ChainTable) -> bool:
    return pays_to_train(len(table.y), len(table.seeds), table.recipe.trees)
