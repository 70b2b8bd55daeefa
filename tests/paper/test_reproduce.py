"""The command from end to end on generated data, and broken on purpose."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support import paper_files

from epiboost.paper import runner
from epiboost.paper.cells import cell as cells
from epiboost.paper.cells import provenance as origin
from epiboost.paper.experiments import EXPERIMENTS
from epiboost.paper.problem import problem
from epiboost.paper.protocol import QUICK, Protocol
from epiboost.paper.reproduce import Order, reproduce, states

pytest.importorskip("pandas")
pytest.importorskip("typer")

COMMAND = [sys.executable, "-c", "from epiboost._cli.main import main; main()", "reproduce"]
DATASETS = ("yacht", "adult")


pytestmark = pytest.mark.usefixtures("folder")


def order(out, **options):
    return Order(**{"datasets": DATASETS, "folds": 1, "out": out, "quick": True, **options})


def run(*arguments):
    """Run the command in this process."""
    from typer.testing import CliRunner

    from epiboost._cli.commands import app

    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def figures(out, table, engine="native"):
    """Return the figures of a table that do not depend on the timer."""
    with (out / "quick" / "tables" / engine / f"{table}.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["metric"] != "train_seconds"]


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name.startswith("table:")])
def test_the_smallest_cells_of_every_table_run_from_end_to_end(tmp_path, name):
    if name == "table:comparison":
        pytest.importorskip("ngboost")
    lines = list(reproduce(name, order(tmp_path, datasets=DATASETS[: 1 if name == "table:comparison" else 2])))
    table = name.removeprefix("table:")
    text = (tmp_path / "quick" / "tables" / "native" / f"{table}.md").read_text()
    assert "| Yacht |" in text
    assert "**A rehearsal on tiny models: these figures mean nothing.**" in text
    assert f"Wrote {tmp_path / 'quick' / 'tables' / 'native' / table}.tex" in lines
    own = [row for row in figures(tmp_path, table) if row["dataset"] == "yacht" and row["value"]]
    assert own
    for row in own:
        assert not row["difference"]  # of one fold of twenty
    assert all(state.done == state.total for state in states(order(tmp_path)) if state.name == name)


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name.startswith("figure:")])
def test_every_figure_is_drawn(tmp_path, name):
    pytest.importorskip("matplotlib")
    list(reproduce(name, order(tmp_path, datasets=None, folds=None)))
    picture = tmp_path / "quick" / "figures" / "native" / f"{name.removeprefix('figure:')}.png"
    assert picture.read_bytes()[:4] == b"\x89PNG"
    found = json.loads(picture.with_suffix(".json").read_text())
    assert found.pop("rests_on")["protocol"] == QUICK.to_json()
    assert all("knowledge_auc" in one for one in found.values())


@pytest.mark.parametrize("engine", ["catboost", "lightgbm", "xgboost"])
def test_other_engines_have_cells_and_tables_of_their_own(tmp_path, engine):
    pytest.importorskip(engine)
    list(reproduce("regression", order(tmp_path, engine=engine, datasets=("yacht",))))
    assert sorted(path.name for path in (tmp_path / "quick" / "cells" / engine / "yacht").iterdir()) == [
        "00-budget.json",
        "00-sgb.json",
        "00-sglb.json",
    ]
    assert [row["engine"] for row in figures(tmp_path, "prediction", engine) if row["value"]]
    assert not (tmp_path / "quick" / "tables" / "native").exists()


def test_a_cell_holds_what_its_figures_rest_on(tmp_path):
    list(reproduce("table:prediction", order(tmp_path, datasets=("yacht",))))
    content = cells.read(tmp_path / "quick" / "cells", cells.CellKey("native", "yacht", 0, "sglb"))
    assert content["chosen"] == {"max_depth": 3, "learning_rate": 0.1}
    assert content["protocol"] == QUICK.to_json()
    assert set(content["seconds"]) == {"grid", "sglb_ensemble", "vsglb", "judge"}
    assert {"python", "numpy", "scipy", "scikit-learn", "epiboost", "code"} <= set(content["versions"])
    assert content["revision"] == origin.REVISION
    fold = problem("yacht").fold(0)
    assert content["data"] == origin.checksum(fold.X, fold.y, fold.X_test, fold.y_test)
    assert content["outside"] == {"file": "msd/timbre_4680x90.csv", "sha256": origin.checksum(fold.X_ood)}
    used = content["parameters"]["sglb_ensemble"]
    assert (used["l2"], used["structure_rows"], used["variance_guard"], used["n_members"]) == (3.0, None, 0.0, 2)
    assert content["parameters"]["vsglb"]["ensemble"] == "virtual"
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
    path = tmp_path / "quick" / "cells" / "native" / "yacht" / "00-sglb.json"
    path.write_text(path.read_text()[:500])
    ended = run("table:prediction", "--datasets", ",".join(DATASETS), "--folds", 1, "--quick", "--out", tmp_path)
    assert ended.exit_code == 0, ended.stderr
    assert f"the cell {str(path)!r} is damaged: it is not JSON" in ended.stdout
    assert "3 of 4 cells are done, 1 are to do" in ended.stdout
    assert figures(tmp_path, "prediction") == before


def test_what_is_wrong_elsewhere_in_the_folder_is_named_and_tables_are_written(tmp_path):
    list(reproduce("table:prediction", order(tmp_path, folds=2)))
    own = tmp_path / "quick" / "cells" / "native"
    cut, later, place = own / "yacht" / "01-sglb.json", own / "yacht" / "01-sgb.json", own / "boston" / "00-sgb.json"
    cut.write_text("{")
    later.write_text(json.dumps({"format": 2}))
    place.mkdir(parents=True)
    ended = run("table:prediction", "--datasets", "yacht,adult", "--folds", 1, "--quick", "--out", tmp_path)
    assert ended.exit_code == 0, ended.stderr
    told = " ".join(ended.stdout.split())
    assert f"the cell {str(cut)!r} is damaged: it is not JSON" in told
    assert f"the cell {str(later)!r} is of format 2, and this version knows formats up to 1; it is left out" in told
    assert f"{str(place)!r} is a folder in the place of a cell; remove it; it is left out of the tables" in told
    folds = {row["method"]: row["folds"] for row in figures(tmp_path, "prediction") if row["dataset"] == "yacht"}
    assert folds["sglb_ensemble"] == folds["sgb_ensemble"] == "1"


def test_what_is_not_known_in_the_place_of_a_cell_that_is_asked_for_stays_and_the_rest_runs(tmp_path):
    own = tmp_path / "quick" / "cells" / "native" / "yacht"
    own.mkdir(parents=True)
    (own / "00-sgb.json").write_text(json.dumps({"format": 2}))
    (own / "01-sgb.json").mkdir()
    told = list(reproduce("table:prediction", order(tmp_path, folds=2, datasets=("yacht",))))
    assert "0 of 2 cells are done, 2 are to do" in told
    assert (own / "00-sgb.json").read_text() == json.dumps({"format": 2})
    assert (own / "01-sglb.json").is_file()


REAL = Protocol(n_estimators=10, n_members=2, depths=(2,), rates=(0.3,), forest_depth=2)


def test_a_rehearsal_neither_touches_real_cells_nor_stands_in_their_tables(tmp_path, monkeypatch):
    monkeypatch.setattr("epiboost.paper.reproduce.PAPER", REAL)  # small enough for a test
    list(reproduce("table:prediction", order(tmp_path, quick=False)))
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(kept) == 4 + 6
    list(reproduce("table:prediction", order(tmp_path)))
    assert {path: path.read_bytes() for path in kept} == kept
    assert "rehearsal" not in (tmp_path / "tables" / "native" / "prediction.md").read_text()
    # One that an earlier version left among the real cells is not in a table either.
    lost = Path("native", "yacht", "01-sglb.json")
    list(reproduce("table:prediction", order(tmp_path, folds=2, datasets=("yacht",))))
    (tmp_path / "cells" / lost).write_bytes((tmp_path / "quick" / "cells" / lost).read_bytes())
    told = list(reproduce("table:prediction", order(tmp_path, quick=False)))
    assert "1 cells of another protocol are left out of the tables" in told
    assert (tmp_path / "tables" / "native" / "prediction.md").read_bytes() == kept[
        tmp_path / "tables" / "native" / "prediction.md"
    ]


def test_a_table_is_of_all_cells_whichever_datasets_were_asked_for(tmp_path):
    list(reproduce("table:prediction", order(tmp_path)))
    whole = figures(tmp_path, "prediction")
    list(reproduce("table:prediction", order(tmp_path, datasets=("yacht",))))
    assert figures(tmp_path, "prediction") == whole


def change(path, **parts):
    """Change a cell as another version would have written it; None takes a part away."""
    content = json.loads(path.read_text())
    key = cells.CellKey(*(content.pop(name) for name in ("engine", "dataset", "fold", "method")))
    for name in ("format", "digest"):
        del content[name]
    content = {name: value for name, value in {**content, **parts}.items() if value is not None}
    cells.write(path.parents[2], key, content)


def test_cells_of_earlier_versions_count_and_are_told_and_done_again_on_request(tmp_path):
    list(reproduce("regression", order(tmp_path, datasets=("yacht",))))
    own = tmp_path / "quick" / "cells" / "native" / "yacht"
    change(own / "00-sglb.json", revision=None, data=None, outside=True, parameters=None)
    change(own / "00-sgb.json", seed=7)
    told = list(reproduce("regression", order(tmp_path, datasets=("yacht",))))
    assert "3 of 3 cells are done, 0 are to do" in told
    assert (
        "some cells are not of the present methods (revision 2): 1 of another seed, 1 of revision unknown; "
        "--renew does them again"
    ) in told
    ended = run("regression", "--datasets", "yacht", "--folds", 1, "--quick", "--renew", "--out", tmp_path)
    assert "0 of 3 cells are done, 3 are to do" in ended.stdout  # budget builds on sglb
    assert "not of the present methods" not in ended.stdout
    assert json.loads((own / "00-sglb.json").read_text())["revision"] == origin.REVISION


def test_cells_that_rest_on_different_data_are_told(tmp_path):
    list(reproduce("table:prediction", order(tmp_path)))
    path = tmp_path / "quick" / "cells" / "native" / "yacht" / "00-sglb.json"
    change(path, outside={"file": "msd/YearPredictionMSD.txt", "sha256": "0"})
    told = list(reproduce("table:prediction", order(tmp_path)))
    assert "cells of yacht rest on different data or foreign rows; --renew does them again" in told


def test_tables_alone_are_built_from_what_is_there(tmp_path, monkeypatch):
    list(reproduce("table:prediction", order(tmp_path)))
    monkeypatch.setattr(runner, "do", None)
    monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path / "nowhere"))
    ended = run("table:budget", "--quick", "--tables-only", "--out", tmp_path)
    assert ended.exit_code == 0, ended.stderr
    assert "| Yacht |" in (tmp_path / "quick" / "tables" / "native" / "budget.md").read_text()


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
    done = len(list((tmp_path / "killed" / "quick" / "cells").rglob("[0-9]*.json")))
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
    assert cells.all_cells(tmp_path / "quick" / "cells")[0]


SLOW = """
import sys, time
from pathlib import Path
from epiboost.paper.methods import registry as methods

def slow(key, *_):
    Path(sys.argv[-1], f"{key.fold}.started").touch()
    time.sleep(100)

methods.run = slow  # in the processes of the pool too, which import this file

if __name__ == "__main__":
    from epiboost._cli.main import main
    main()
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_does_not_wait_for_the_cells_in_work(tmp_path, times):
    (tmp_path / "slow.py").write_text(SLOW)
    arguments = ["reproduce", "regression", "--datasets", "yacht", "--quick", "--jobs", "2", "--out", str(tmp_path)]
    started = subprocess.Popen(
        [sys.executable, str(tmp_path / "slow.py"), *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: len(list(tmp_path.glob("*.started"))) == 2)
    workers = children_of(started.pid)
    assert len(workers) >= 2
    for _ in range(times):
        os.killpg(started.pid, signal.SIGINT)
        time.sleep(0.05)
    _, errors = started.communicate(timeout=30)
    assert started.returncode in ({130} if times == 1 else {130, -signal.SIGINT})  # the second may come at the very end
    assert times > 1 or "epiboost: interrupted" in errors
    wait_for(lambda: not any(map(is_running, workers)), 10)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes as Linux shows them")
def test_a_process_that_is_killed_is_told_in_one_line(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW.replace("time.sleep(100)", "import os, signal; os.kill(os.getpid(), 9)"))
    arguments = ["reproduce", "regression", "--datasets", "yacht", "--quick", "--jobs", "2", "--out", str(tmp_path)]
    ended = subprocess.run(
        [sys.executable, str(tmp_path / "slow.py"), *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("epiboost: a process that ran a cell was ended from outside")
    assert "Traceback" not in ended.stderr


def test_there_are_no_more_jobs_than_folds_so_that_no_core_is_idle(tmp_path, monkeypatch):
    seen = []

    def do(_folder, key, _protocol, threads):
        seen.append(threads)
        return runner.Event("done", key)

    monkeypatch.setattr(runner, "do", do)
    monkeypatch.setattr(runner, "cores", lambda: 6)
    list(runner.run(tmp_path, [cells.CellKey("native", "kick", 0, "sglb")], QUICK, jobs=4))
    assert seen == [6]


def test_missing_datasets_are_told_and_the_others_run(tmp_path, folder):
    ended = run("table:prediction", "--datasets", "yacht,year", "--folds", 1, "--quick", "--out", tmp_path)
    assert ended.exit_code == 0, ended.stderr
    assert "year is left out: the file 'msd/YearPredictionMSD.txt' is missing" in ended.stdout
    assert str(folder / "msd" / "YearPredictionMSD.txt") in ended.stdout
    assert "Year MSD." in (tmp_path / "quick" / "tables" / "native" / "prediction.md").read_text()


def test_without_a_source_of_foreign_rows_their_figures_are_left_out_and_filled_in_later(tmp_path, monkeypatch):
    import numpy as np

    data = tmp_path / "data"
    (data / "uci").mkdir(parents=True)
    paper_files.write_uci(data, "yacht", np.random.default_rng(0))
    paper_files.write_checksums(data)
    monkeypatch.setenv("EPIBOOST_DATA", str(data))
    lines = list(reproduce("table:uncertainty", order(tmp_path, datasets=("yacht",))))
    assert lines[0].startswith("out-of-domain figures are left out: the file 'msd/YearPredictionMSD.txt' is missing")
    assert not any(row["value"] for row in figures(tmp_path, "uncertainty") if row["metric"].startswith("ood"))
    assert "2 of 2 cells are done, 0 are to do" in list(
        reproduce("table:uncertainty", order(tmp_path, datasets=("yacht",)))
    )
    paper_files.write_songs(data, np.random.default_rng(0))
    paper_files.write_checksums(data)
    assert "0 of 2 cells are done, 2 are to do" in list(
        reproduce("table:uncertainty", order(tmp_path, datasets=("yacht",)))
    )
    own = [row for row in figures(tmp_path, "uncertainty") if row["dataset"] == "yacht"]
    assert all(row["value"] for row in own if row["metric"] == "ood_auc_total")


@pytest.mark.parametrize("name", ["year", "click", "churn", "upselling", "appetency", "internet", "amazon", "kick"])
def test_the_other_layouts_run_too(tmp_path, name, monkeypatch):
    if name == "year":
        (tmp_path / "data").mkdir()
        data = paper_files.write_all(tmp_path / "data")
        paper_files.write_year(data)
        paper_files.write_checksums(data)
        monkeypatch.setenv("EPIBOOST_DATA", str(data))
    list(reproduce("table:uncertainty", order(tmp_path, datasets=(name,))))
    own = [row for row in figures(tmp_path, "uncertainty") if row["dataset"] == name]
    values = [row["value"] for row in own if row["method"] == "sglb_ensemble"]
    assert len(values) == 4
    assert all(values)


def test_the_list_says_how_far_each_experiment_is(tmp_path):
    list(reproduce("table:prediction", order(tmp_path, datasets=("yacht",))))
    ended = run("--datasets", "yacht", "--folds", 1, "--quick", "--out", tmp_path)
    lines = {line.split()[0]: line.split()[1:4] for line in ended.stdout.splitlines()}
    assert lines["table:prediction"] == ["2", "of", "2"]
    assert lines["table:budget"] == ["1", "of", "2"]
    assert lines["figure:heart"] == ["0", "of", "1"]
    assert "classification" not in lines
    real = run("--datasets", "yacht", "--folds", 1, "--out", tmp_path)
    assert "table:prediction         0 of     2 cells" in real.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table:uncertanty"], "there is no experiment 'table:uncertanty'; there are table:uncertainty"),
        (["regression", "--datasets", "bostom"], "there is no dataset 'bostom'; there are adult"),
        (["regression", "--datasets", "yacht,adult"], "regression has no dataset 'adult'; it has boston"),
        (["regression", "--datasets", ","], "datasets must name at least one; got none"),
        (["figure:heart", "--datasets", "yacht"], "figure:heart has no datasets, folds or cells; leave those options"),
        (["figure:heart", "--folds", "2"], "figure:heart has no datasets, folds or cells; leave those options"),
        (["table:prediction", "--tables-only"], "no table was written: none of the cells that were asked for is there"),
        (["regression", "--engine", "forest"], "engine must be one of native, catboost, lightgbm, xgboost"),
    ],
)
def test_what_is_not_known_is_an_error_of_one_line(tmp_path, arguments, message):
    ended = run(*arguments, "--out", tmp_path)
    assert ended.exit_code == 1
    assert ended.stderr.startswith(f"epiboost: {message}")
    assert len(ended.stderr.splitlines()) == 1
    assert not (tmp_path / "tables").exists()


def test_where_all_data_are_missing_nothing_is_written_and_it_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path / "empty"))
    ended = run("table:prediction", "--datasets", "year,click", "--out", tmp_path / "out")
    assert ended.exit_code == 1
    assert "year is left out" in ended.stdout
    assert "0 of 0" not in ended.stdout
    assert ended.stderr.startswith("epiboost: no table was written: none of the cells")
    assert not (tmp_path / "out" / "tables").exists()


def test_a_damaged_file_leaves_its_dataset_out_and_the_others_run(tmp_path, monkeypatch, generated):
    data = shutil.copytree(generated, tmp_path / "data")
    (data / "uci" / "yacht" / "data.txt").write_text("1 2 3\n")
    monkeypatch.setenv("EPIBOOST_DATA", str(data))
    ended = run("table:prediction", "--datasets", "yacht,energy", "--folds", 1, "--quick", "--out", tmp_path)
    assert ended.exit_code == 0, ended.stderr
    assert "yacht is left out: " in ended.stdout
    assert "data.txt' is not the file that is known" in ended.stdout
    assert "0 of 2 cells are done, 2 are to do" in ended.stdout


def test_a_folder_that_cannot_be_made_is_told_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(runner, "do", None)
    ended = run("regression", "--datasets", "yacht", "--out", tmp_path / "file")
    assert ended.exit_code == 1
    assert ended.stderr == f"epiboost: {str(tmp_path / 'file')!r}: file exists\n"
