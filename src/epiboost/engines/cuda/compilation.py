"""Kernels of prediction, compiled for the GPU in use at first use.

CuPy calls NVIDIA's run-time compiler and keeps the machine code in ``~/.cupy/kernel_cache``, so that the next process
need not compile. Contraction to fused operations is off: every operation rounds as on the CPU, and gives the same bits.
"""

import functools

from epiboost._typing import LibraryObject
from epiboost.engines.cuda.device import cupy
from epiboost.engines.cuda.sources import fingerprint, folder

OPTIONS = ("-std=c++20", "--fmad=false", "-default-device")  # functions are for the device


@functools.cache
def kernels(name: str, *macros: str) -> LibraryObject:
    """Return the module of a file in ``cuda/prediction``: ``kernels("bins", ...).get_function(name)`` is a kernel.

    Parameters
    ----------
    name : str
        Name of the file, without ".cu".
    *macros : str
        Definitions, as ``"EPIBOOST_LEVELS=6"``: one module each for the constants of a kernel.
    """
    definitions = (*macros, f"EPIBOOST_SOURCES={fingerprint()}")  # CuPy's cache does not see included files
    options = (*OPTIONS, f"-I{folder()}", *(f"-D{definition}" for definition in definitions))
    return cupy().RawModule(code=f'#include "cuda/prediction/{name}.cu"\n', options=options)
