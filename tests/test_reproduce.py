"""The command from end to end on generated data, and broken on purpose."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import paper_files
from epiboost.paper import cells, runner
from epiboost.paper.experiments import EXPERIMENTS
from epiboost.paper.protocol import REHEARSAL
from epiboost.paper.reproduce import Order, reproduce, states

pytest.importorskip("pandas")
pytest.importorskip("typer")

COMMAND = [sys.executable, "-c", "from epiboost.cli import main; main()", "reproduce"]
DATASETS = ("yacht", "adult")


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    return paper_files.write_all(tmp_path_factory.mktemp("data"))


@pytest.fixture(autouse=True)
def folder(generated, monkeypatch):
    monkeypatch.setenv("EPIBOOST_DATA", str(generated))
    return generated


def order(out, **options):
    return Order(**{"datasets": DATASETS, "folds": 1, "out": out, "quick": True, **options})


def run(*arguments):
    """Run the command in this process."""
    from typer.testing import CliRunner

    from epiboost.commands import app

    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def figures(out, table, engine="native"):
    """Return the figures of a table that do not depend on the clock."""
    with (out / "tables" / engine / f"{table}.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["metric"] != "train_seconds"]


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name.startswith("table:")])
def test_the_smallest_cells_of_every_table_run_from_end_to_end(tmp_path, name):
    if name == "table:comparison":
        pytest.importorskip("ngboost")
    lines = list(reproduce(name, order(tmp_path)))
    table = name.removeprefix("table:")
    text = (tmp_path / "tables" / "native" / f"{table}.md").read_text()
    assert "| Yacht |" in text
    assert f"Wrote {tmp_path / 'tables' / 'native' / table}.tex" in lines
    own = [row for row in figures(tmp_path, table) if row["dataset"] == "yacht" and row["value"]]
    assert own
    for row in own:
        if row["published"]:
            assert float(row["difference"]) == pytest.approx(float(row["value"]) - float(row["published"]), abs=1e-3)
    assert all(state.done == state.total for state in states(order(tmp_path)) if state.name == name)


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name.startswith("figure:")])
def test_every_figure_is_drawn(tmp_path, name):
    pytest.importorskip("matplotlib")
    list(reproduce(name, order(tmp_path)))
    picture = tmp_path / "figures" / "native" / f"{name.removeprefix('figure:')}.png"
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert "knowledge_auc" in picture.with_suffix(".json").read_text()


@pytest.mark.parametrize("engine", ["catboost", "lightgbm", "xgboost"])
def test_other_engines_have_cells_and_tables_of_their_own(tmp_path, engine):
    pytest.importorskip(engine)
    list(reproduce("regression", order(tmp_path, engine=engine, datasets=("yacht",))))
    assert sorted(path.name for path in (tmp_path / "cells" / engine / "yacht").iterdir()) == [
        "00-budget.json",
        "00-sgb.json",
        "00-sglb.json",
    ]
    assert [row["engine"] for row in figures(tmp_path, "prediction", engine) if row["value"]]
    assert not (tmp_path / "tables" / "native").exists()


def test_a_cell_holds_what_its_figures_rest_on(tmp_path):
    list(reproduce("table:prediction", order(tmp_path, datasets=("yacht",))))
    content = cells.read(tmp_path / "cells", cells.Key("native", "yacht", 0, "sglb"))
    assert content["chosen"] == {"max_depth": 3, "learning_rate": 0.1}
    assert content["protocol"] == REHEARSAL.to_json()
    assert set(content["seconds"]) == {"grid", "sglb_ensemble", "vsglb", "judge"}
    assert {"python", "numpy", "scikit-learn", "epiboost"} <= set(content["versions"])
    assert content["machine"]["cores"] >= 1
    assert set(content["results"]) == {"sglb_ensemble", "vsglb", "sglb_single"}
    assert {"nll", "rmse", "prr_total", "prr_knowledge", "ood_auc_total", "ood_auc_knowledge"} == set(
        content["results"]["sglb_ensemble"]
    )


def test_figures_do_not_depend_on_the_number_of_jobs(tmp_path):
    for jobs in (1, 2):
        list(reproduce("table:uncertainty", order(tmp_path / str(jobs), jobs=jobs, folds=2)))
    assert figures(tmp_path / "1", "uncertainty") == figures(tmp_path / "2", "uncertainty")


def test_what_is_done_is_not_done_again(tmp_path, monkeypatch):
    list(reproduce("table:prediction", order(tmp_path)))
    monkeypatch.setattr(runner, "do", None)
    assert "4 of 4 cells are done, 0 are to do" in list(reproduce("table:uncertainty", order(tmp_path)))


def test_more_folds_and_datasets_are_added_to_what_is_there(tmp_path):
    list(reproduce("table:prediction", order(tmp_path, datasets=("yacht",))))
    lines = list(reproduce("table:prediction", order(tmp_path, folds=2)))
    assert "2 of 6 cells are done, 4 are to do" in lines


def test_a_corrupt_cell_is_named_and_done_again_to_the_same_figures(tmp_path):
    list(reproduce("table:prediction", order(tmp_path)))
    before = figures(tmp_path, "prediction")
    path = tmp_path / "cells" / "native" / "yacht" / "00-sglb.json"
    path.write_text(path.read_text()[:500])
    ended = run("table:prediction", "--datasets", ",".join(DATASETS), "--folds", 1, "--quick", "--out", tmp_path)
    assert ended.exit_code == 0, ended.stderr
    assert f"the cell {str(path)!r} is damaged: it is not JSON" in ended.stdout
    assert "3 of 4 cells are done, 1 are to do" in ended.stdout
    assert figures(tmp_path, "prediction") == before


def test_a_corrupt_cell_that_is_not_asked_for_is_an_error_of_one_line(tmp_path):
    list(reproduce("table:prediction", order(tmp_path, folds=2)))
    path = tmp_path / "cells" / "native" / "yacht" / "01-sglb.json"
    path.write_text("{")
    ended = run("table:prediction", "--datasets", "yacht", "--folds", 1, "--quick", "--out", tmp_path)
    assert ended.exit_code == 1
    assert str(path) in ended.stderr
    assert "Traceback" not in ended.stderr


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


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_run_leaves_no_process_and_goes_on_to_identical_tables(tmp_path, jobs):
    arguments = ["regression", "--datasets", "yacht", "--folds", "8", "--quick", "--jobs", str(jobs), "--out"]
    command = [*COMMAND, *arguments, str(tmp_path / "killed")]
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(list((tmp_path / "killed").rglob("*.json"))) >= 3)
    workers = children_of(started.pid)
    started.send_signal(signal.SIGKILL)
    assert started.wait(10) == -signal.SIGKILL
    assert len(workers) >= (jobs if jobs > 1 else 0)
    wait_for(lambda: not any(map(is_running, workers)), 20)
    done = len(list((tmp_path / "killed" / "cells").rglob("[0-9]*.json")))
    assert 3 <= done < 24
    same = {"datasets": ("yacht",), "folds": 8}
    told = list(reproduce("regression", order(tmp_path / "killed", **same)))
    assert f"{done} of 24 cells are done, {24 - done} are to do" in told
    list(reproduce("regression", order(tmp_path / "whole", **same)))
    for table in ("uncertainty", "prediction", "budget"):
        assert figures(tmp_path / "killed", table) == figures(tmp_path / "whole", table)


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
def test_an_interrupt_is_one_line_and_what_is_done_is_kept(tmp_path):
    arguments = ["regression", "--datasets", "yacht", "--quick", "--jobs", "2", "--out", str(tmp_path)]
    started = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for(lambda: len(list(tmp_path.rglob("*.json"))) >= 2)
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does: to all processes of the run
    _, errors = started.communicate(timeout=30)
    assert started.returncode == 130
    assert errors.splitlines()[-1] == "epiboost: interrupted"
    assert "Traceback" not in errors
    assert list(cells.all_cells(tmp_path / "cells"))


def test_missing_datasets_are_told_and_the_others_run(tmp_path, folder):
    ended = run("table:prediction", "--datasets", "yacht,year", "--folds", 1, "--quick", "--out", tmp_path)
    assert ended.exit_code == 0, ended.stderr
    assert "year is left out: the file 'msd/YearPredictionMSD.txt' is missing" in ended.stdout
    assert str(folder / "msd" / "YearPredictionMSD.txt") in ended.stdout
    assert (
        "Missing, published figures alone: Year MSD." in (tmp_path / "tables" / "native" / "prediction.md").read_text()
    )


def test_without_a_source_of_foreign_rows_their_figures_are_left_out_and_filled_in_later(tmp_path, monkeypatch):
    import numpy as np

    data = tmp_path / "data"
    (data / "uci").mkdir(parents=True)
    paper_files.write_uci(data, "yacht", np.random.default_rng(0))
    paper_files.write_checksums(data)
    monkeypatch.setenv("EPIBOOST_DATA", str(data))
    lines = list(reproduce("table:uncertainty", order(tmp_path, datasets=("yacht",))))
    assert lines[0].startswith("out-of-domain figures are left out: the file 'msd/timbre_4680x90.csv' is missing")
    assert not any(row["value"] for row in figures(tmp_path, "uncertainty") if row["metric"].startswith("ood"))
    paper_files.write_songs(data, np.random.default_rng(0))
    paper_files.write_checksums(data)
    list(reproduce("table:uncertainty", order(tmp_path, datasets=("yacht",))))
    assert all(row["value"] for row in figures(tmp_path, "uncertainty") if row["metric"] == "ood_auc_total")


@pytest.mark.parametrize("name", ["year", "click", "churn", "upselling", "appetency", "internet", "amazon", "kick"])
def test_the_other_layouts_run_too(tmp_path, name, monkeypatch):
    if name == "year":
        (tmp_path / "data").mkdir()
        data = paper_files.write_all(tmp_path / "data")
        paper_files.write_year(data)
        paper_files.write_checksums(data)
        monkeypatch.setenv("EPIBOOST_DATA", str(data))
    list(reproduce("table:uncertainty", order(tmp_path, datasets=(name,))))
    values = [row["value"] for row in figures(tmp_path, "uncertainty") if row["method"] == "sglb_ensemble"]
    assert len(values) == 4
    assert all(values)


def test_the_list_says_how_far_each_experiment_is(tmp_path):
    list(reproduce("table:prediction", order(tmp_path, datasets=("yacht",))))
    ended = run("--datasets", "yacht", "--folds", 1, "--quick", "--out", tmp_path)
    lines = {line.split()[0]: line.split()[1:4] for line in ended.stdout.splitlines()}
    assert lines["table:prediction"] == ["2", "of", "2"]
    assert lines["table:budget"] == ["1", "of", "2"]
    assert lines["figure:heart"] == ["0", "of", "1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table:uncertanty"], "there is no experiment 'table:uncertanty'; there are table:uncertainty"),
        (["regression", "--datasets", "bostom"], "there is no dataset 'bostom'; there are adult"),
        (["regression", "--engine", "forest"], "engine must be one of native, catboost, lightgbm, xgboost"),
    ],
)
def test_what_is_not_known_is_an_error_of_one_line(tmp_path, arguments, message):
    ended = run(*arguments, "--out", tmp_path)
    assert ended.exit_code == 1
    assert ended.stderr.startswith(f"epiboost: {message}")
    assert len(ended.stderr.splitlines()) == 1
