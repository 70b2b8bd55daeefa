"""Renew docs/paper.md and docs/results/cells.tar.xz from a run: python docs/paper.py reproduction.

Without a folder the page is built from the cells in docs/results. All results that come from cells are computed here
and stand between marks in the page. Results outside of marks were measured by hand, and the page says so.
"""

import io
import json
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

import paper_sentences as sentences

from epiboost._files.atomic import atomic_write
from epiboost.paper.cells import cell as cells
from epiboost.paper.protocol import PAPER
from epiboost.paper.tables import render
from epiboost.paper.tables.build import build
from epiboost.paper.tables.claims import claims_list
from epiboost.paper.tables.cpu_time import cpu_time_table
from epiboost.paper.tables.engine_comparison import engine_comparison
from epiboost.paper.tables.large_differences import find_large_differences, markdown_list
from epiboost.paper.tables.layout import TABLES
from epiboost.paper.tables.results import collect
from epiboost.paper.tables.write import engines_of

DOCS = Path(__file__).parent
PAGE, ARCHIVE = DOCS / "paper.md", DOCS / "results" / "cells.tar.xz"
FIGURES = ("heart", "spiral", "virtual")
CATBOOST_DATASETS = ("boston", "concrete", "energy", "wine", "yacht")


def pack(run: Path) -> None:
    """Write the cells of a run and the statistics of its figures to the archive; same cells give the same bytes."""
    ARCHIVE.parent.mkdir(exist_ok=True)
    statistics = [run / "figures" / "native" / f"{name}.json" for name in FIGURES]
    with atomic_write(ARCHIVE) as file, tarfile.open(fileobj=file, mode="w:xz", preset=9) as archive:
        for path in [*sorted((run / "cells").glob("*/*/[0-9]*.json")), *statistics]:
            entry = tarfile.TarInfo(path.relative_to(run).as_posix())
            content = path.read_bytes()
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def parts() -> dict[str, str]:
    """Return the parts of the page that come from the cells, by name."""
    contents, statistics = _read_archive()
    results = {engine: collect(contents, engine) for engine in engines_of(contents)}
    native = results["native"]
    texts = {name: render.markdown(name, build(name, native)) for name in TABLES}
    texts |= {
        "provenance": sentences.provenance(contents),
        "claims": claims_list(native),
        "differences": markdown_list(find_large_differences(native), sentences.reason),
        "likelihoods": sentences.likelihoods(native),
        "budget-summary": sentences.budget(native),
        "forest-summary": sentences.forests(native),
        "engines": engine_comparison(results),
        "catboost-summary": sentences.other_engine(results, "catboost", CATBOOST_DATASETS),
        "figures-summary": sentences.figures(statistics),
        "cpu-time": cpu_time_table(native),
        "wall-time": sentences.times(contents, "native"),
        "cpu-time-catboost": cpu_time_table(results["catboost"], all_methods=False) if "catboost" in results else "",
    }
    return {name: text.strip() for name, text in texts.items()}


def fill(page: str, texts: dict[str, str]) -> str:
    """Return the page with each part between its marks."""
    for name, text in texts.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        pattern = f"{re.escape(start)}.*?{re.escape(end)}"
        part = f"{start}\n{text}\n{end}"
        page, count = re.subn(pattern, lambda _, part=part: part, page, flags=re.DOTALL)
        if count != 1:
            message = f"the page must have the part {name!r} once; it has it {count} times"
            raise SystemExit(message)
    return page


def _read_archive() -> tuple[list[cells.Content], dict[str, dict[str, float]]]:
    """Return the cells of the archive, and the statistics of the figure of virtual ensembles."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(folder, filter="data")
        contents, invalid = cells.read_all(Path(folder) / "cells")
        statistics = json.loads((Path(folder) / "figures" / "native" / "virtual.json").read_text(encoding="utf-8"))
    if invalid or any(not PAPER.matches(content["protocol"]) for content in contents):
        message = f"cells that do not belong on the page: {'; '.join(invalid) or 'some are of another protocol'}"
        raise SystemExit(message)
    return contents, statistics


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run = Path(sys.argv[1])
        pack(run)
        for name in FIGURES:
            shutil.copy(run / "figures" / "native" / f"{name}.png", DOCS / f"paper_{name}.png")
    text = fill(PAGE.read_text(encoding="utf-8"), parts())
    with atomic_write(PAGE) as file:
        file.write(text.encode())
