"""The committed type stub of the native core describes the compiled module."""

import ast
from pathlib import Path

from nanobind.stubgen import StubGen

import epiboost
from epiboost import _native_portable

STUB = Path(epiboost.__file__).parent / "_native_portable.pyi"
REMEDY = """the bindings have changed; renew the stub in src/epiboost with
    python -m nanobind.stubgen -m epiboost._native_portable -o src/epiboost/_native_portable.pyi
and keep its first two comments"""


def test_the_stub_is_what_nanobind_generates_from_the_module():
    generator = StubGen(_native_portable)
    generator.put(_native_portable)
    generated, committed = ast.parse(generator.get()), ast.parse(STUB.read_text(encoding="utf-8"))
    assert ast.dump(generated) == ast.dump(committed), REMEDY
