"""The command line as a process: start-up, interrupts, pipes and terminals."""

import importlib.metadata
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.support.command_line import FOR_MINUTES, SMALL, epiboost, start_epiboost


def test_version_is_that_of_the_package():
    result = epiboost("--version")
    assert result.exit_code == 0
    assert result.stdout == f"epiboost {importlib.metadata.version('epiboost')}\n"


def test_the_entry_point_is_the_command_line():
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="epiboost")
    assert entry.value == "epiboost._cli.main:main"


@pytest.mark.parametrize("module", ["epiboost", "epiboost._cli.main"])
def test_the_package_runs_as_the_command(module):
    command = [sys.executable, "-m", module, "--help"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr
    assert "Usage: epiboost" in result.stdout


@pytest.mark.parametrize(("arguments", "extra"), [(["fit", "a.csv"], "cli"), (["demo"], "demo"), ([], "cli")])
def test_a_missing_typer_is_one_line_that_names_the_extra(arguments, extra):
    code = "import sys; sys.modules['typer'] = None; from epiboost._cli.main import main; main()"
    command = [sys.executable, "-c", code, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert f"pip install 'epiboost[{extra}]'" in result.stderr


def test_slow_packages_are_imported_by_the_commands_that_need_them():
    code = "import sys, epiboost._cli.app; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    # scikit-learn imports pandas, and that Arrow, where they are installed.
    assert not {"matplotlib", "polars", "epiboost._cli.heart", "epiboost.plots"} & set(result.stdout.split())


def test_help_imports_neither_numpy_nor_scikit_learn_nor_matplotlib():
    """The package itself imports NumPy, so its place is taken by an empty package at the same path."""
    code = """
import importlib.util, sys, types
package = types.ModuleType("epiboost")
package.__path__ = importlib.util.find_spec("epiboost").submodule_search_locations
sys.modules["epiboost"] = package
from epiboost._cli.app import app
try:
    app(["--help"], prog_name="epiboost")
except SystemExit:
    print("IMPORTED", *{name.partition(".")[0] for name in sys.modules})
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    printed, _, imported = result.stdout.partition("IMPORTED")
    assert "Usage: epiboost" in printed
    assert {"epiboost", "typer"} <= set(imported.split())
    assert not {"numpy", "sklearn", "matplotlib", "pyarrow"} & set(imported.split())


def test_an_interrupt_is_one_line_and_leaves_nothing_half_written(write, tmp_path):
    rng = np.random.default_rng(0)
    train = write("train.parquet", {"size": rng.normal(size=50_000), "price": rng.normal(size=50_000)})
    before = sorted(tmp_path.iterdir())
    arguments = ("fit", train, "--target", "price", "-o", tmp_path / "model.epib", *FOR_MINUTES)
    training = start_epiboost(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert training.stdout.readline().startswith("Regression")
        time.sleep(0.5)
        training.send_signal(signal.SIGINT)
        _, errors = training.communicate(timeout=10)
    finally:
        training.kill()
    assert training.returncode == 130
    assert errors == "epiboost: interrupted\n"
    assert sorted(tmp_path.iterdir()) == before


def test_a_pipe_stays_clean_of_progress(train, tmp_path):
    arguments = ("fit", train, "--target", "price", "-o", tmp_path / "model.epib", *SMALL)
    training = start_epiboost(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, errors = training.communicate(timeout=60)
    assert training.returncode == 0
    assert errors == ""
    assert "\r" not in output
    assert "\x1b" not in output


def test_a_terminal_shows_the_number_of_trained_trees(train, tmp_path):
    pty = pytest.importorskip("pty", reason="makes a terminal")
    arguments = ("fit", train, "--target", "price", "-o", tmp_path / "model.epib", *SMALL)
    controller, terminal = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    training = start_epiboost(*arguments, stdout=subprocess.DEVNULL, stderr=terminal, env=environment)
    os.close(terminal)
    shown = _read_all(controller)
    assert training.wait(timeout=60) == 0
    assert "24/24" in shown
    assert "trees" in shown


def _read_all(controller):
    """Read what a terminal shows until the last program on it has left."""
    shown = b""
    try:
        while piece := os.read(controller, 1 << 16):
            shown += piece
    except OSError:  # how Linux says that nobody is left at the other end
        pass
    finally:
        os.close(controller)
    return shown.decode()
