"""Fixtures of the tests of the native core."""

import pytest

from epiboost._native import VARIABLE, available_instruction_sets, native


@pytest.fixture(params=available_instruction_sets())
def core(request, monkeypatch):
    """Return the native module of each instruction set of this machine."""
    monkeypatch.setenv(VARIABLE, request.param)
    return native()
