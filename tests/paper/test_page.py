"""The page about the paper shows what its cells hold."""

import tarfile

import pytest

from tests.support.paper_page import DOCS, load_script


@pytest.fixture(scope="module")
def script():
    return load_script("paper")


def test_every_part_of_the_page_is_built_from_the_cells(script):
    page = (DOCS / "paper.md").read_text(encoding="utf-8")
    parts = script.parts()
    assert set(parts) >= {
        "uncertainty",
        "prediction",
        "comparison",
        "forest",
        "budget",
        "cpu-time",
        "claims",
        "engines",
    }
    assert set(parts) >= {
        "differences",
        "provenance",
        "budget-summary",
        "forest-summary",
        "catboost-summary",
        "figures-summary",
        "wall-time",
    }
    for name, text in parts.items():
        assert f"<!-- {name} -->\n{text}\n<!-- end of {name} -->" in page
    assert "TRIALS" not in page


def test_packing_the_cells_again_gives_the_same_archive_and_page(script, tmp_path, monkeypatch):
    archive = tmp_path / "cells.tar.xz"
    with tarfile.open(script.ARCHIVE) as packed:
        packed.extractall(tmp_path / "run", filter="data")
    monkeypatch.setattr(script, "ARCHIVE", archive)
    script.pack(tmp_path / "run")
    assert archive.read_bytes() == (DOCS / "results" / "cells.tar.xz").read_bytes()
    page = (DOCS / "paper.md").read_text(encoding="utf-8")
    assert script.fill(page, script.parts()) == page


def test_a_part_that_is_missing_from_the_page_is_an_error(script):
    with pytest.raises(SystemExit, match="must have the part 'claims' once; it has it 0 times"):
        script.fill("<!-- other -->\n<!-- end of other -->", {"claims": "text"})


def test_the_archive_is_smaller_than_600_kilobytes():
    assert (DOCS / "results" / "cells.tar.xz").stat().st_size < 600_000
