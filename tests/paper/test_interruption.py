"""Runs that are killed or interrupted."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from epiboost.paper.cells import cell as cells
from tests.support.paper_runs import COMMAND, quick_run, table_rows

pytest.importorskip("pandas")
pytest.importorskip("typer")
pytestmark = pytest.mark.usefixtures("folder")

needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads the processes of Linux")

SLOW = """
import sys, time
from pathlib import Path
from epiboost.paper.methods import registry

def slow(key, *_):
    Path(sys.argv[-1], f"{key.fold}.started").touch()
    time.sleep(100)

registry.run = slow  # in worker processes too, which import this file

if __name__ == "__main__":
    from epiboost._cli.main import main
    main()
"""
SLOW_ARGUMENTS = ["reproduce", "regression", "--datasets", "yacht", "--quick", "--jobs", "2", "--out"]


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def start(command):
    """Start a run in a session of its own, so that all its processes can be interrupted."""
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


@needs_proc
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_killed_run_leaves_no_process_and_continues_to_identical_tables(tmp_path, n_jobs):
    arguments = ["regression", "--datasets", "yacht", "--folds", "8", "--quick", "--jobs", str(n_jobs), "--out"]
    command = [*COMMAND, *arguments, str(tmp_path / "killed")]
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(list((tmp_path / "killed").rglob("[0-9]*.json"))) >= 3)
    workers = children_of(started.pid)
    started.send_signal(signal.SIGKILL)
    assert started.wait(10) == -signal.SIGKILL
    assert len(workers) >= (n_jobs if n_jobs > 1 else 0)
    wait_for(lambda: not any(map(is_running, workers)), 20)
    done = len(list((tmp_path / "killed" / "quick" / "cells").rglob("[0-9]*.json")))
    assert 3 <= done < 24
    same = {"datasets": ("yacht",), "folds": 8}
    messages = quick_run("regression", tmp_path / "killed", **same)
    assert f"{done} of 24 cells are done, {24 - done} to run" in messages
    quick_run("regression", tmp_path / "complete", **same)
    for table in ("uncertainty", "prediction", "budget"):
        assert table_rows(tmp_path / "killed", table) == table_rows(tmp_path / "complete", table)


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
def test_an_interrupt_prints_one_line_and_finished_cells_are_kept(tmp_path):
    started = start([*COMMAND, "regression", "--datasets", "yacht", "--quick", "--jobs", "2", "--out", str(tmp_path)])
    wait_for(lambda: len(list(tmp_path.rglob("*.json"))) >= 2)
    os.killpg(started.pid, signal.SIGINT)  # to all processes of the run, as a terminal does
    _, errors = started.communicate(timeout=30)
    assert started.returncode == 130
    assert errors.splitlines()[-1] == "epiboost: interrupted"
    assert "Traceback" not in errors
    assert cells.read_all(tmp_path / "quick" / "cells")[0]


@needs_proc
@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_does_not_wait_for_running_cells(tmp_path, times):
    (tmp_path / "slow.py").write_text(SLOW)
    started = start([sys.executable, str(tmp_path / "slow.py"), *SLOW_ARGUMENTS, str(tmp_path)])
    wait_for(lambda: len(list(tmp_path.glob("*.started"))) == 2)
    workers = children_of(started.pid)
    assert len(workers) >= 2
    for _ in range(times):
        os.killpg(started.pid, signal.SIGINT)
        time.sleep(0.05)
    _, errors = started.communicate(timeout=30)
    # A second interrupt may arrive while the interpreter exits.
    assert started.returncode in ({130} if times == 1 else {130, -signal.SIGINT})
    assert times > 1 or "epiboost: interrupted" in errors
    wait_for(lambda: not any(map(is_running, workers)), 10)


@needs_proc
def test_a_killed_worker_process_is_an_error_of_one_line(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW.replace("time.sleep(100)", "import os, signal; os.kill(os.getpid(), 9)"))
    command = [sys.executable, str(tmp_path / "slow.py"), *SLOW_ARGUMENTS, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("epiboost: a worker process was killed")
    assert "Traceback" not in ended.stderr
