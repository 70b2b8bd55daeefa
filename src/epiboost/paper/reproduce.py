"""From the name of an experiment to tables and figures: what ``epiboost reproduce`` does."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from epiboost._atomic import whole_file
from epiboost.datasets import MissingDataError
from epiboost.paper import cells, figures, render, runner, tables
from epiboost.paper.beside import beside
from epiboost.paper.cells import Content, Key
from epiboost.paper.costs import costs
from epiboost.paper.experiments import ENGINES, EXPERIMENTS, GROUPS, keys_of, named
from epiboost.paper.findings import findings
from epiboost.paper.methods import METHODS
from epiboost.paper.problem import CLASSIFICATION, REGRESSION, outside_source, problem
from epiboost.paper.protocol import PAPER, REHEARSAL, Protocol
from epiboost.paper.results import Results, collect
from epiboost.paper.view import view


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
        A rehearsal on tiny models.
    """

    engine: str = "native"
    datasets: tuple[str, ...] | None = None
    folds: int | None = None
    jobs: int = 1
    out: Path = Path("reproduction")
    quick: bool = False

    def __post_init__(self) -> None:
        """Refuse what is not known."""
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
    def cells(self) -> Path:
        """The folder of cells."""
        return self.out / "cells"

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


def states(order: Order) -> list[State]:
    """Return how far each experiment is, in the order of the paper."""
    found = []
    for name, experiment in {**EXPERIMENTS, **GROUPS}.items():
        if name.startswith("figure:"):
            done = int(_picture(order, name).is_file())
            found.append(State(name, experiment.about, done, 1))
        else:
            keys = order.keys(name)
            left, _ = runner.pending(order.cells, keys, order.protocol)
            found.append(State(name, experiment.about, len(keys) - len(left), len(keys)))
    return found


def reproduce(name: str, order: Order) -> Iterable[str]:
    """Run what is not done yet, then write tables and figures; tell a line at a time what a user should know.

    Parameters
    ----------
    name : str
        An experiment, a group of them, or ``"all"``.
    order : Order
    """
    names = named(name)
    keys = list(dict.fromkeys(key for one in names for key in order.keys(one)))
    keys, notes = available(keys)
    yield from notes
    yield from not_installed(names)
    left, damaged = runner.pending(order.cells, keys, order.protocol)
    yield from (event.text for event in damaged)
    if keys:
        yield f"{len(keys) - len(left)} of {len(keys)} cells are done, {len(left)} are to do"
    with view(left, jobs=order.jobs) as note:
        for event in runner.run(order.cells, left, order.protocol, jobs=order.jobs):
            note(event)
    for one in names:
        if one.startswith("figure:"):
            yield from (f"Wrote {path}" for path in _draw(one, order))
    yield from (f"Wrote {path}" for path in write_tables(names, order))


def available(keys: Sequence[Key]) -> tuple[list[Key], list[str]]:
    """Return the cells whose data are here or can be downloaded, and what to say of the others."""
    missing, notes, sources = set(), [], set()
    for dataset in dict.fromkeys(key.dataset for key in keys):
        try:
            problem(dataset)
        except MissingDataError as error:
            missing.add(dataset)
            notes.append(f"{dataset} is left out: {error}")
            continue
        try:
            outside_source(dataset)
        except MissingDataError as error:
            sources.add(str(error))
    notes += [f"out-of-domain figures are left out: {source}" for source in sorted(sources)]
    return [key for key in keys if key.dataset not in missing], notes


def not_installed(names: Sequence[str]) -> list[str]:
    """Return what to say of methods whose package is not here; their figures are quoted."""
    wanted = {method for name in names for method in (EXPERIMENTS.get(name) or GROUPS[name]).methods}
    return [
        f"{name} is not run, its published figures are quoted: the package {method.package!r} is not installed"
        for name, method in METHODS.items()
        if name in wanted and not method.is_there
    ]


def write_tables(names: Sequence[str], order: Order) -> list[Path]:
    """Build tables from the cells that are there, whoever made them, and write them in three forms."""
    wanted = [name.removeprefix("table:") for name in names if name.startswith("table:")]
    if set(names) & set(GROUPS):
        wanted += ["uncertainty", "prediction", "budget"]
    if not wanted:
        return []
    contents = list(cells.all_cells(order.cells))
    results = collect(contents, order.engine)
    folder = order.out / "tables" / order.engine
    written = []
    for table in dict.fromkeys(wanted):
        entries = tables.build(table, results, order.datasets)
        written += [
            _write(folder / f"{table}.md", render.markdown(table, entries)),
            _write(folder / f"{table}.tex", render.latex(table, entries)),
            _write(folder / f"{table}.csv", render.table_csv(table, entries, engine=order.engine)),
        ]
    written += [_write(folder / "costs.md", costs(results)), _write(folder / "findings.md", in_list(results))]
    if both := beside({name: collect(contents, name) for name in engines_of(contents)}):
        written.append(_write(folder.parent / "engines.md", both))
    return written


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
    return order.out / "figures" / order.engine / f"{name.removeprefix('figure:')}.png"


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return path
