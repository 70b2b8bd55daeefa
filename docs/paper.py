"""Renew docs/paper.md and docs/results/cells.tar.xz from a run: python docs/paper.py reproduction.

Without a folder the tables are built from the cells that docs/results holds.
"""

import io
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from epiboost.paper import cells, render, tables
from epiboost.paper.beside import beside
from epiboost.paper.costs import costs
from epiboost.paper.reproduce import engines_of, in_list
from epiboost.paper.results import collect

HERE = Path(__file__).parent
PAGE, ARCHIVE = HERE / "paper.md", HERE / "results" / "cells.tar.xz"


def pack(folder: Path) -> None:
    """Put the cells of a run into one file, the same bytes for the same cells."""
    ARCHIVE.parent.mkdir(exist_ok=True)
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for path in sorted(folder.glob("*/*/[0-9]*.json")):
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            content = path.read_bytes()
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def parts() -> dict[str, str]:
    """Return the parts of the page that come from the cells, by name."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(folder, filter="data")
        contents = list(cells.all_cells(Path(folder)))
    results = {engine: collect(contents, engine) for engine in engines_of(contents)}
    native = results["native"]
    found = {name: render.markdown(name, tables.build(name, native)) for name in tables.TABLES}
    found["costs"], found["findings"] = costs(native), in_list(native)
    found["engines"] = beside(results)
    for engine, own in results.items():
        if engine != "native":
            found[f"costs-{engine}"] = costs(own)
    return {name: text.strip() for name, text in found.items()}


def filled(page: str, found: dict[str, str]) -> str:
    """Return the page with each part between its marks."""
    for name, text in found.items():
        marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
        page, count = re.subn(
            f"{re.escape(marks[0])}.*?{re.escape(marks[1])}",
            lambda _, text=text, marks=marks: f"{marks[0]}\n{text}\n{marks[1]}",
            page,
            flags=re.DOTALL,
        )
        if count != 1:
            message = f"the page must have the part {name!r} once, it has it {count} times"
            raise SystemExit(message)
    return page


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run = Path(sys.argv[1])
        pack(run / "cells")
        for name in ("spiral", "virtual"):
            shutil.copy(run / "figures" / "native" / f"{name}.png", HERE / f"paper_{name}.png")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), parts()), encoding="utf-8")
