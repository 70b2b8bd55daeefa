"""The committed type stub of the native core has the names and arguments of the compiled module.

Annotations are not compared: releases of nanobind print them differently.
"""

import ast
from pathlib import Path

from nanobind.stubgen import StubGen

import epiboost
from epiboost import _native_portable

STUB = Path(epiboost.__file__).parent / "_native_portable.pyi"
REMEDY = """the bindings have changed; renew the stub in src/epiboost with
    python -m nanobind.stubgen -m epiboost._native_portable -o src/epiboost/_native_portable.pyi
and keep its first two comments"""


class WithoutAnnotations(ast.NodeTransformer):
    """Leaves the names of classes and functions, and the names and defaults of arguments."""

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_FunctionDef(self, node):
        node.returns, node.body, node.decorator_list = None, [], []
        self.generic_visit(node)
        return node


def names_of(stub):
    """Return the classes and functions of a stub, as text."""
    definitions = [one for one in ast.parse(stub).body if isinstance(one, ast.ClassDef | ast.FunctionDef)]
    return [ast.dump(WithoutAnnotations().visit(one)) for one in definitions]


def test_the_stub_is_what_nanobind_generates_from_the_module():
    generator = StubGen(_native_portable)
    generator.put(_native_portable)
    committed = names_of(STUB.read_text(encoding="utf-8"))
    assert len(committed) > 5
    assert names_of(generator.get()) == committed, REMEDY
