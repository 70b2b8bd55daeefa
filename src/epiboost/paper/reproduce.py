"""Reproduce experiments of the paper: the entry point of ``epiboost reproduce``."""

import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from epiboost.datasets import DamagedDataError, MissingDataError
from epiboost.paper import figures, runner
from epiboost.paper.cells import cell as cells
from epiboost.paper.cells.cell import CellKey
from epiboost.paper.cells.provenance import outdated_cell_messages
from epiboost.paper.experiments import (
    ENGINES,
    EXPERIMENTS,
    GROUPS,
    cell_keys,
    expand_name,
    experiment_of,
    is_figure,
)
from epiboost.paper.methods.registry import METHODS
from epiboost.paper.problem import DATASETS, load_problem, out_of_domain_source
from epiboost.paper.progress import show_progress
from epiboost.paper.protocol import PAPER, QUICK, Protocol
from epiboost.paper.tables.write import write_tables

QUICK_NOTE = "A quick run with tiny models: these results are meaningless."
_TABLES_OF_GROUPS = ("uncertainty", "prediction", "budget")


class NoResultsError(ValueError):
    """None of the requested cells is available or can be computed."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run, as the command line gives them.

    Unknown names of datasets and engines raise a `ValueError`.

    Attributes
    ----------
    engine : str
        Engine of the boosted methods.
    datasets, folds : tuple of str or None, int or None
        Restrict to these datasets, and to this many first folds of each; None means all.
    n_jobs : int
        Number of processes.
    out : path
        Folder of cells, tables and figures.
    quick : bool
        Try everything with tiny models, in the subfolder ``quick`` of `out`.
    renew : bool
        Run cells of an earlier revision again.
    run : bool
        Whether cells are run and figures drawn; otherwise tables are built from existing cells.
    """

    engine: str = "native"
    datasets: tuple[str, ...] | None = None
    folds: int | None = None
    n_jobs: int = 1
    out: Path = Path("reproduction")
    quick: bool = False
    renew: bool = False
    run: bool = True

    def __post_init__(self) -> None:
        """Check the names of datasets and engine."""
        if self.datasets is not None and not self.datasets:
            message = "datasets must name at least one dataset; got none"
            raise ValueError(message)
        if self.engine not in ENGINES:
            message = f"engine must be one of {', '.join(ENGINES)}; got {self.engine!r}"
            raise ValueError(message)
        for name in self.datasets or ():
            if name not in DATASETS:
                message = f"there is no dataset {name!r}; choose from {', '.join(sorted(DATASETS))}"
                raise ValueError(message)

    @property
    def protocol(self) -> Protocol:
        """The settings of the experiments."""
        return QUICK if self.quick else PAPER

    @property
    def root(self) -> Path:
        """Folder of cells, tables and figures; quick runs have a folder of their own."""
        return self.out / "quick" if self.quick else self.out

    @property
    def cells(self) -> Path:
        """Folder of cells."""
        return self.root / "cells"

    def keys(self, name: str) -> list[CellKey]:
        """Return the keys of the cells that an experiment needs."""
        return cell_keys(name, engine=self.engine, datasets=self.datasets, folds=self.folds)

    def picture(self, name: str) -> Path:
        """Return the path of a figure."""
        return self.root / "figures" / self.engine / f"{name.removeprefix('figure:')}.png"


@dataclass(frozen=True, slots=True)
class ExperimentStatus:
    """How many of the cells of an experiment are done; a figure counts as one."""

    name: str
    description: str
    done: int
    total: int

    def __str__(self) -> str:
        """Return one line for the list of experiments."""
        unit = "picture" if is_figure(self.name) else "cells"
        return f"{self.name:20} {self.done:5} of {self.total:5} {unit:8} {self.description}"


def experiment_statuses(options: RunOptions) -> list[ExperimentStatus]:
    """Return the status of each experiment, in the order of the paper; those without any cell are left out."""
    statuses = []
    for name, experiment in {**EXPERIMENTS, **GROUPS}.items():
        if is_figure(name):
            done = int(options.picture(name).is_file())
            statuses.append(ExperimentStatus(name, experiment.description, done, 1))
        elif keys := options.keys(name):
            pending, _ = runner.find_pending(options.cells, keys, options.protocol, renew=options.renew)
            statuses.append(ExperimentStatus(name, experiment.description, len(keys) - len(pending), len(keys)))
    return statuses


def reproduce(name: str, options: RunOptions) -> Iterable[str]:
    """Run the missing cells of an experiment, write its tables and figures, and yield messages for the user.

    Parameters
    ----------
    name : str
        An experiment, a group of experiments, or ``"all"``.
    options : RunOptions

    Raises
    ------
    NoResultsError
        If none of the requested cells is available or can be computed.
    """
    names = expand_name(name)
    _check_options(name, names, options)
    _make_writable(options.root)
    keys = list(dict.fromkeys(key for one in names for key in options.keys(one)))
    pending, unusable = runner.find_pending(options.cells, keys, options.protocol, renew=options.renew)
    done = len(keys) - len(pending) - sum(event.kind == "unknown" for event in unusable)
    yield from (event.text for event in unusable)
    if options.run:
        pending, n_existing, messages = _select_runnable(pending, options)
        yield from messages
        yield from missing_packages(names)
        done += n_existing
        if done or pending:
            yield f"{done} of {done + len(pending)} cells are done, {len(pending)} to run"
        _run(pending, options)
        done += len(pending)
        for one in filter(is_figure, names):
            yield from (f"Wrote {path}" for path in _draw(one, options))
    if keys and not done:
        message = "no table was written: none of the requested cells is available or can be computed"
        raise NoResultsError(message)
    yield from _write_tables(names, options)


def _check_options(name: str, names: Sequence[str], options: RunOptions) -> None:
    """Check that the experiments have the requested datasets, and that figures get no options of tables."""
    known = dict.fromkeys(dataset for one in names for dataset in experiment_of(one).datasets)
    if not known:
        if options.datasets is not None or options.folds is not None or not options.run:
            message = f"{name} has no datasets, folds or cells; leave out these options"
            raise ValueError(message)
        return
    for dataset in options.datasets or ():
        if dataset not in known:
            message = f"{name} has no dataset {dataset!r}; choose from {', '.join(known)}"
            raise ValueError(message)


def _make_writable(folder: Path) -> None:
    """Create the folder, and check that it can be written to before hours of work."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, "cannot be written to", str(folder))


def _select_runnable(pending: Sequence[CellKey], options: RunOptions) -> tuple[list[CellKey], int, list[str]]:
    """Return the cells whose data are available, the number of existing cells to keep, and messages.

    Existing cells without out-of-domain rows are kept if the source of those rows is not available.
    """
    available, without_ood, messages = check_data(pending)
    if not without_ood:
        return available, 0, messages
    runnable, _ = runner.find_pending(
        options.cells, available, options.protocol, renew=options.renew, without_ood=without_ood
    )
    return runnable, len(available) - len(runnable), messages


def check_data(keys: Sequence[CellKey]) -> tuple[list[CellKey], set[str], list[str]]:
    """Return the cells whose data are available, the datasets without out-of-domain rows, and messages."""
    missing, without_ood, messages, sources = set(), set(), [], set()
    for dataset in dict.fromkeys(key.dataset for key in keys):
        try:
            load_problem(dataset)
        except (MissingDataError, DamagedDataError) as error:
            missing.add(dataset)
            messages.append(f"{dataset} is left out: {error}")
            continue
        try:
            out_of_domain_source(dataset)
        except (MissingDataError, DamagedDataError) as error:
            without_ood.add(dataset)
            sources.add(str(error))
    messages += [f"out-of-domain results are left out: {source}" for source in sorted(sources)]
    return [key for key in keys if key.dataset not in missing], without_ood, messages


def missing_packages(names: Sequence[str]) -> list[str]:
    """Return one message per method whose package is not installed; its published results are quoted."""
    methods = {method for name in names for method in experiment_of(name).methods}
    return [
        f"{name} is not run, its published results are quoted: the package {method.package!r} is not installed"
        for name, method in METHODS.items()
        if name in methods and not method.is_installed
    ]


def _run(pending: Sequence[CellKey], options: RunOptions) -> None:
    with (
        show_progress(pending, n_processes=options.n_jobs) as callback,
        closing(runner.run(options.cells, pending, options.protocol, n_processes=options.n_jobs)) as events,
    ):
        for event in events:
            callback(event)


def _write_tables(names: Sequence[str], options: RunOptions) -> Iterable[str]:
    """Write tables from all cells of the protocol, of all datasets; yield messages for the user."""
    tables = [name.removeprefix("table:") for name in names if name.startswith("table:")]
    if set(names) & set(GROUPS):
        tables += _TABLES_OF_GROUPS
    if not tables:
        return
    found, invalid = cells.read_all(options.cells)
    yield from (f"{message}; it is left out of the tables: remove it, or run its experiment" for message in invalid)
    contents = [content for content in found if content["protocol"] == options.protocol.to_json()]
    if len(contents) < len(found):
        yield f"{len(found) - len(contents)} cells of another protocol are left out of the tables"
    yield from (f"{message}; --renew runs them again" for message in outdated_cell_messages(contents))
    note = QUICK_NOTE if options.quick else ""
    paths = write_tables(options.root / "tables", dict.fromkeys(tables), contents, engine=options.engine, note=note)
    yield from (f"Wrote {path}" for path in paths)


def _draw(name: str, options: RunOptions) -> list[Path]:
    picture = options.picture(name)
    return figures.draw(picture.stem, picture.parent, options.protocol, engine=options.engine, n_jobs=None)
