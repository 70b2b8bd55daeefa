"""Instruction sets of the native core: each can be forced for a call, so that one run compares them.

All sets compute the same bits, so a model is trained once. Its compiled parts belong to the set in which they were
built, and `copied` builds them again.
"""

import copy
import os
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from epiboost._native import VARIABLE, available_instruction_sets, instruction_set, native

ALL = "all"
TITLES = {"avx512": "AVX-512", "avx2": "AVX2", "portable": "Portable code"}

Anything = TypeVar("Anything")


def parse(text: str) -> tuple[str, ...]:
    """Return the instruction sets of a list such as avx2,portable; an error if this machine has not all of them."""
    available = available_instruction_sets()
    if text == ALL:
        return available
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    unknown = [name for name in names if name not in available]
    if unknown:
        message = f"this machine has {', '.join(available)}; got {', '.join(unknown)}"
        raise ArgumentTypeError(message)
    return names


@contextmanager
def forced(name: str) -> Iterator[None]:
    """Use an instruction set, then the one that was used before."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = name
    native.cache_clear()
    try:
        _check(name)
        yield
    finally:
        del os.environ[VARIABLE]
        if before is not None:
            os.environ[VARIABLE] = before
        native.cache_clear()


def copied(name: str, model: Anything) -> Anything:
    """Return a copy of a fitted model whose compiled parts are of an instruction set."""
    with forced(name):
        return copy.deepcopy(model)


def forcing(name: str, run: Callable[[], object]) -> Callable[[], object]:
    """Return a run that forces an instruction set; switching adds some microseconds to its time."""

    def forced_run() -> object:
        with forced(name):
            return run()

    return forced_run


def _check(name: str) -> None:
    used = native().__name__
    if instruction_set() != name or not used.endswith(f"_{name}"):
        message = f"{name} was to be used, but {used} is"
        raise RuntimeError(message)
