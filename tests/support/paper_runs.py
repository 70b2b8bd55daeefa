"""Helpers for tests of runs: options of quick runs, the command, and the cells of a run."""

import csv
import json
import sys

import pytest

from epiboost.paper.cells import cell as cells
from epiboost.paper.reproduce import RunOptions, reproduce

DATASETS = ("yacht", "adult")
COMMAND = [sys.executable, "-c", "from epiboost._cli.main import main; main()", "reproduce"]


def quick_options(out, **options):
    """Return the options of a quick run of one fold of two small datasets."""
    return RunOptions(**{"datasets": DATASETS, "folds": 1, "out": out, "quick": True, **options})


def quick_run(name, out, **options):
    """Run an experiment quickly and return its messages."""
    return list(reproduce(name, quick_options(out, **options)))


def run_command(*arguments):
    """Run ``epiboost reproduce`` in this process."""
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from epiboost._cli.app import app

    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def table_rows(out, table, engine="native"):
    """Return the rows of a table of a quick run, without run times."""
    with (out / "quick" / "tables" / engine / f"{table}.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["metric"] != "train_seconds"]


def cell_folder(out, dataset="yacht", engine="native"):
    """Return the folder of the cells of a dataset of a quick run."""
    return out / "quick" / "cells" / engine / dataset


def change_cell(path, **fields):
    """Rewrite a cell as another version would have written it; None removes a field."""
    content = json.loads(path.read_text())
    key = cells.CellKey(*(content.pop(name) for name in ("engine", "dataset", "fold", "method")))
    for name in ("format", "digest"):
        del content[name]
    content = {name: value for name, value in {**content, **fields}.items() if value is not None}
    cells.write(path.parents[2], key, content)
