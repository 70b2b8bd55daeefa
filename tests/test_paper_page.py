"""The page about the paper holds what its cells say."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("paper_page", DOCS / "paper.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_table_of_the_page_is_built_from_the_cells_beside_it(script):
    page = (DOCS / "paper.md").read_text(encoding="utf-8")
    parts = script.parts()
    assert set(parts) >= {"uncertainty", "prediction", "comparison", "forest", "budget", "costs", "findings", "engines"}
    for text in parts.values():
        assert text in page


def test_the_cells_take_a_few_hundred_kilobytes():
    assert (DOCS / "results" / "cells.tar.xz").stat().st_size < 600_000
