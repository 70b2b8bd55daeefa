"""The native core, in the build for the best instruction set that this machine has.

There is one module for each instruction set, all made from the same sources and computing the same bits. The
environment variable ``EPIBOOST_INSTRUCTIONS`` (``portable``, ``avx2`` or ``avx512``) overrides the choice.

>>> instruction_set() in available_instruction_sets()
True
"""

import functools
import importlib
import os
from types import ModuleType

VARIABLE = "EPIBOOST_INSTRUCTIONS"


def available_instruction_sets() -> tuple[str, ...]:
    """Name the instruction sets that can be used here, best first."""
    return tuple(_module("portable").instruction_sets())


def instruction_set() -> str:
    """Name the instruction set in use."""
    available = available_instruction_sets()
    chosen = os.environ.get(VARIABLE) or available[0]
    if chosen not in available:
        message = f"{VARIABLE} is {chosen!r}; this machine has {', '.join(available)}"
        raise ValueError(message)
    return chosen


def native() -> ModuleType:
    """Return the module of native functions."""
    return _module(instruction_set())


@functools.cache
def _module(instructions: str) -> ModuleType:
    return importlib.import_module(f"epiboost._native_{instructions}")
