"""Kernels: CUDA C++ files in ``kernels/``, compiled for the GPU in use at first use.

CuPy calls NVIDIA's run-time compiler and keeps the machine code in ``~/.cupy/kernel_cache``, so that the next process
need not compile. Contraction to fused operations is off: every operation rounds as on the CPU, and gives the same bits.

>>> "exponential" in source_of("elementary.cuh")
True
"""

import functools
from importlib.resources import files

from epiboost._typing import LibraryObject
from epiboost.engines.cuda.device import cupy

OPTIONS = ("-std=c++17", "--fmad=false")


def source_of(name: str) -> str:
    """Return the text of a file in ``kernels/``."""
    return (files("epiboost.engines.cuda") / "kernels" / name).read_text(encoding="utf-8")


@functools.cache
def kernels(name: str, *definitions: str) -> LibraryObject:
    """Return the module of a ``.cu`` file: ``kernels("prediction.cu").get_function(name)`` is a kernel.

    Parameters
    ----------
    name : str
        Name of the file. The files that it includes by ``#include "name"`` are inserted.
    *definitions : str
        Macros, as ``"DEPTH=6"``: one module each for the constants of a kernel.
    """
    options = (*OPTIONS, *(f"-D{definition}" for definition in definitions))
    return cupy().RawModule(code=with_includes(name), options=options)


def with_includes(name: str, met: set[str] | None = None) -> str:
    """Return the text of a file; each ``#include "other"`` becomes the text of that file where it is first met."""
    met = set() if met is None else met
    met.add(name)
    lines = []
    for line in source_of(name).splitlines():
        if line.startswith('#include "'):
            other = line.split('"')[1]
            lines.append("" if other in met else with_includes(other, met))
        elif line != "#pragma once":
            lines.append(line)
    return "\n".join(lines)
