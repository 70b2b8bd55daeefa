"""From the name of an experiment to tables and figures: what ``epiboost reproduce`` does."""

import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from epiboost._files.atomic import whole_file
from epiboost.datasets import DamagedDataError, MissingDataError
from epiboost.paper import figures, runner
from epiboost.paper.cells import cell as cells
from epiboost.paper.cells import provenance as origin
from epiboost.paper.cells.cell import Content, Key
from epiboost.paper.cells.results import Results, collect
from epiboost.paper.experiments import ENGINES, EXPERIMENTS, GROUPS, keys_of, named
from epiboost.paper.methods.registry import METHODS
from epiboost.paper.problem import CLASSIFICATION, REGRESSION, outside_source, problem
from epiboost.paper.progress import view
from epiboost.paper.protocol import PAPER, REHEARSAL, Protocol
from epiboost.paper.tables import build as tables
from epiboost.paper.tables import render
from epiboost.paper.tables.costs import costs
from epiboost.paper.tables.differences import far_from_published, listed
from epiboost.paper.tables.engines import beside
from epiboost.paper.tables.findings import findings

REHEARSED = "A rehearsal on tiny models: these figures mean nothing."


class NothingRunError(ValueError):
    """An order of which nothing could be done."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a user asks for.

    Attributes
    ----------
    engine : str
        Of the boosted methods.
    datasets : tuple of str or None
        Only these; None is all.
    folds : int or None
        The first so many of each dataset; None is all.
    jobs : int
        Processes.
    out : path
        The folder of cells, tables and figures.
    quick : bool
        A rehearsal on tiny models, in a folder of its own within `out`.
    renew : bool
        Do cells of an earlier revision again.
    run : bool
        Whether cells are done and figures drawn; otherwise tables are built from what is there.
    """

    engine: str = "native"
    datasets: tuple[str, ...] | None = None
    folds: int | None = None
    jobs: int = 1
    out: Path = Path("reproduction")
    quick: bool = False
    renew: bool = False
    run: bool = True

    def __post_init__(self) -> None:
        """Refuse what is not known."""
        if self.datasets is not None and not self.datasets:
            message = "datasets must name at least one; got none"
            raise ValueError(message)
        if self.engine not in ENGINES:
            message = f"engine must be one of {', '.join(ENGINES)}; got {self.engine!r}"
            raise ValueError(message)
        for name in self.datasets or ():
            if name not in (*REGRESSION, *CLASSIFICATION):
                known = ", ".join(sorted((*REGRESSION, *CLASSIFICATION)))
                message = f"there is no dataset {name!r}; there are {known}"
                raise ValueError(message)

    @property
    def protocol(self) -> Protocol:
        """The numbers of the run."""
        return REHEARSAL if self.quick else PAPER

    @property
    def root(self) -> Path:
        """The folder of cells, tables and figures; a rehearsal never meets what is real."""
        return self.out / "quick" if self.quick else self.out

    @property
    def cells(self) -> Path:
        """The folder of cells."""
        return self.root / "cells"

    def keys(self, name: str) -> list[Key]:
        """Return the cells of an experiment."""
        return keys_of(name, engine=self.engine, datasets=self.datasets, folds=self.folds)


@dataclass(frozen=True, slots=True)
class State:
    """How far an experiment is."""

    name: str
    about: str
    done: int
    total: int

    def __str__(self) -> str:
        """Say it in a line."""
        return (
            f"{self.name:20} {self.done:5} of {self.total:5} {'picture' if self.is_picture else 'cells':8} {self.about}"
        )

    @property
    def is_picture(self) -> bool:
        """Whether it is drawn, and has no cells."""
        return self.name.startswith("figure:")


def states(order: Order) -> list[State]:
    """Return how far each experiment is, in the order of the paper; those without cells in the order are left out."""
    found = []
    for name, experiment in {**EXPERIMENTS, **GROUPS}.items():
        if name.startswith("figure:"):
            done = int(_picture(order, name).is_file())
            found.append(State(name, experiment.about, done, 1))
        elif keys := order.keys(name):
            left, _ = runner.pending(order.cells, keys, order.protocol, renew=order.renew)
            found.append(State(name, experiment.about, len(keys) - len(left), len(keys)))
    return found


def reproduce(name: str, order: Order) -> Iterable[str]:
    """Run what is not done yet, then write tables and figures; tell a line at a time what a user should know.

    Parameters
    ----------
    name : str
        An experiment, a group of them, or ``"all"``.
    order : Order

    Raises
    ------
    NothingRunError
        If there is nothing to build a table from: no cell that was asked for is there or can be made.
    """
    names = named(name)
    _refuse_what_does_not_fit(name, names, order)
    _make_folder(order.root)
    keys = list(dict.fromkeys(key for one in names for key in order.keys(one)))
    left, damaged = runner.pending(order.cells, keys, order.protocol, renew=order.renew)
    done = len(keys) - len(left) - sum(event.kind == "unknown" for event in damaged)
    yield from (event.text for event in damaged)
    if order.run:
        left, no_source, notes = available(left)
        yield from notes
        yield from not_installed(names)
        if no_source:
            before = len(left)
            left, _ = runner.pending(order.cells, left, order.protocol, renew=order.renew, no_source=no_source)
            done += before - len(left)
        if done or left:
            yield f"{done} of {done + len(left)} cells are done, {len(left)} are to do"
        with (
            view(left, jobs=order.jobs) as note,
            closing(runner.run(order.cells, left, order.protocol, jobs=order.jobs)) as events,
        ):
            for event in events:
                note(event)
        done += len(left)
        for one in names:
            if one.startswith("figure:"):
                yield from (f"Wrote {path}" for path in _draw(one, order))
    if keys and not done:
        message = "no table was written: none of the cells that were asked for is there or can be made"
        raise NothingRunError(message)
    yield from write_tables(names, order)


def _refuse_what_does_not_fit(name: str, names: Sequence[str], order: Order) -> None:
    """Refuse datasets that the experiments do not have, and options of tables for a figure."""
    known = dict.fromkeys(dataset for one in names for dataset in (EXPERIMENTS.get(one) or GROUPS[one]).datasets)
    if not known:
        if order.datasets is not None or order.folds is not None or not order.run:
            message = f"{name} has no datasets, folds or cells; leave those options out"
            raise ValueError(message)
        return
    for dataset in order.datasets or ():
        if dataset not in known:
            message = f"{name} has no dataset {dataset!r}; it has {', '.join(known)}"
            raise ValueError(message)


def _make_folder(folder: Path) -> None:
    """Find out before hours of work whether it can be kept."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, "cannot be written to", str(folder))


def available(keys: Sequence[Key]) -> tuple[list[Key], set[str], list[str]]:
    """Return the cells whose data can be had, the datasets without rows from outside, and what to say of the others."""
    missing, no_source, notes, sources = set(), set(), [], set()
    for dataset in dict.fromkeys(key.dataset for key in keys):
        try:
            problem(dataset)
        except (MissingDataError, DamagedDataError) as error:
            missing.add(dataset)
            notes.append(f"{dataset} is left out: {error}")
            continue
        try:
            outside_source(dataset)
        except (MissingDataError, DamagedDataError) as error:
            no_source.add(dataset)
            sources.add(str(error))
    notes += [f"out-of-domain figures are left out: {source}" for source in sorted(sources)]
    return [key for key in keys if key.dataset not in missing], no_source, notes


def not_installed(names: Sequence[str]) -> list[str]:
    """Return what to say of methods whose package is not here; their figures are quoted."""
    wanted = {method for name in names for method in (EXPERIMENTS.get(name) or GROUPS[name]).methods}
    return [
        f"{name} is not run, its published figures are quoted: the package {method.package!r} is not installed"
        for name, method in METHODS.items()
        if name in wanted and not method.is_there
    ]


def write_tables(names: Sequence[str], order: Order) -> Iterable[str]:
    """Build tables from the cells of the protocol that are there, whoever made them, and write them in three forms.

    Tables are of all datasets, whichever were asked for; a damaged cell is named and left out.
    """
    wanted = [name.removeprefix("table:") for name in names if name.startswith("table:")]
    if set(names) & set(GROUPS):
        wanted += ["uncertainty", "prediction", "budget"]
    if not wanted:
        return
    found, notes = cells.all_cells(order.cells)
    yield from (f"{note}; it is left out of the tables: remove it, or run its experiment" for note in notes)
    contents = [content for content in found if content["protocol"] == order.protocol.to_json()]
    if len(contents) < len(found):
        yield f"{len(found) - len(contents)} cells of another protocol are left out of the tables"
    yield from (f"{note}; --renew does them again" for note in origin.notes_on(contents))
    results = collect(contents, order.engine)
    folder = order.root / "tables" / order.engine
    note = REHEARSED if order.quick else ""
    for table in dict.fromkeys(wanted):
        entries = tables.build(table, results)
        yield _write(folder / f"{table}.md", render.markdown(table, entries, note=note))
        yield _write(folder / f"{table}.tex", render.latex(table, entries, note=note))
        yield _write(folder / f"{table}.csv", render.table_csv(table, entries, engine=order.engine))
    head = f"{note}\n\n" if note else ""
    yield _write(folder / "costs.md", head + costs(results, others=order.engine == ENGINES[0]))
    yield _write(folder / "findings.md", head + in_list(results))
    yield _write(folder / "differences.md", head + listed(far_from_published(results)))
    if both := beside({name: collect(contents, name) for name in engines_of(contents)}):
        yield _write(folder.parent / "engines.md", head + both)


def engines_of(contents: Sequence[Content]) -> list[str]:
    """Return the boosting engines that have cells."""
    found = {content["engine"] for content in contents}
    return [name for name in ENGINES if name in found]


def in_list(results: Results) -> str:
    """Return what was found as a Markdown list."""
    return "".join(f"- {finding}\n" for finding in findings(results))


def _draw(name: str, order: Order) -> list[Path]:
    folder = _picture(order, name).parent
    return figures.draw(name.removeprefix("figure:"), folder, order.protocol, engine=order.engine, n_jobs=None)


def _picture(order: Order, name: str) -> Path:
    return order.root / "figures" / order.engine / f"{name.removeprefix('figure:')}.png"


def _write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return f"Wrote {path}"
