"""Write all tables of a run."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from epiboost._files.atomic import atomic_write
from epiboost.paper.cells.cell import Content
from epiboost.paper.experiments import ENGINES
from epiboost.paper.tables import render
from epiboost.paper.tables.build import build
from epiboost.paper.tables.claims import claims_list
from epiboost.paper.tables.cpu_time import cpu_time_table
from epiboost.paper.tables.engine_comparison import engine_comparison
from epiboost.paper.tables.large_differences import find_large_differences, markdown_list
from epiboost.paper.tables.results import collect


def write_tables(
    folder: Path, tables: Iterable[str], contents: Sequence[Content], *, engine: str, note: str = ""
) -> Iterable[Path]:
    """Write tables as Markdown, LaTeX and CSV, and what the results show besides; yield the paths.

    Parameters
    ----------
    folder : path
        Tables of an engine are written to a folder of its name within this one.
    tables : iterable of str
        Names of tables.
    contents : sequence of dict
        The cells.
    engine : str
    note : str
        Line that is printed at the head of each table.
    """
    results = collect(contents, engine)
    own_folder = folder / engine
    for name in tables:
        entries = build(name, results)
        yield _write(own_folder / f"{name}.md", render.markdown(name, entries, note=note))
        yield _write(own_folder / f"{name}.tex", render.latex(name, entries, note=note))
        yield _write(own_folder / f"{name}.csv", render.table_csv(name, entries, engine=engine))
    head = f"{note}\n\n" if note else ""
    yield _write(own_folder / "costs.md", head + cpu_time_table(results, all_methods=engine == ENGINES[0]))
    yield _write(own_folder / "findings.md", head + claims_list(results))
    yield _write(own_folder / "differences.md", head + markdown_list(find_large_differences(results)))
    if comparison := engine_comparison({name: collect(contents, name) for name in engines_of(contents)}):
        yield _write(folder / "engines.md", head + comparison)


def engines_of(contents: Iterable[Content]) -> list[str]:
    """Return the boosting engines that have cells."""
    found = {content["engine"] for content in contents}
    return [name for name in ENGINES if name in found]


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(text.encode())
    return path
