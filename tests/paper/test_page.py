"""The page about the paper holds what its cells say."""

import importlib.util
import tarfile
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


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
    assert set(parts) >= {
        "differences",
        "origin",
        "budget-said",
        "forest-said",
        "catboost-said",
        "figures-said",
        "times",
    }
    for name, text in parts.items():
        assert f"<!-- {name} -->\n{text}\n<!-- end of {name} -->" in page
    assert "TRIALS" not in page


def test_a_run_becomes_archive_and_page_and_can_be_built_on(script, tmp_path, monkeypatch):
    page, archive = tmp_path / "paper.md", tmp_path / "cells.tar.xz"
    with tarfile.open(script.ARCHIVE) as packed:
        packed.extractall(tmp_path / "run", filter="data")
    monkeypatch.setattr(script, "ARCHIVE", archive)
    script.pack(tmp_path / "run")
    assert archive.read_bytes() == (DOCS / "results" / "cells.tar.xz").read_bytes()
    page.write_text(script.filled((DOCS / "paper.md").read_text(encoding="utf-8"), script.parts()), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == (DOCS / "paper.md").read_text(encoding="utf-8")


def test_the_cells_take_a_few_hundred_kilobytes():
    assert (DOCS / "results" / "cells.tar.xz").stat().st_size < 600_000
