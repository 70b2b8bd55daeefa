"""Fixtures of the tests of the native core."""

import pytest

from epiboost._native import VARIABLE, available_instruction_sets, native


@pytest.fixture
def use_instructions(monkeypatch):
    """Return a function that switches the native core to an instruction set until the test ends."""

    def use(instructions):
        monkeypatch.setenv(VARIABLE, instructions)
        native.cache_clear()

    yield use
    monkeypatch.undo()
    native.cache_clear()


@pytest.fixture(params=available_instruction_sets())
def core(request, use_instructions):
    """Return the native module of each instruction set of this machine."""
    use_instructions(request.param)
    return native()
