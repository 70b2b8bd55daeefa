"""The runner: which cells are run, in which order, and with how many threads."""

import pytest

from epiboost.paper import runner
from epiboost.paper.cells import cell as cells
from epiboost.paper.cells.cell import CellKey
from epiboost.paper.cells.provenance import REVISION
from epiboost.paper.protocol import PAPER, QUICK
from tests.support.paper_results import CONTENT, KEY
from tests.support.paper_runs import cell_folder, change_cell, quick_run, run_command, table_rows

pytest.importorskip("pandas")
pytestmark = pytest.mark.usefixtures("folder")


def test_cells_of_another_protocol_or_without_out_of_domain_rows_are_run_again(tmp_path):
    cells.write(tmp_path, KEY, CONTENT)
    assert runner.find_pending(tmp_path, [KEY], PAPER) == ([], [])
    assert runner.find_pending(tmp_path, [KEY], QUICK) == ([KEY], [])
    cells.write(tmp_path, KEY, {**CONTENT, "outside": False})
    assert runner.find_pending(tmp_path, [KEY], PAPER) == ([KEY], [])


def test_methods_of_a_fold_run_together_and_after_those_they_need():
    keys = [CellKey("native", "yacht", fold, method) for method in ("budget", "sglb", "sgb") for fold in (0, 1)]
    methods = [[key.method for key in fold] for fold in runner._group_by_fold(keys)]
    assert methods == [["sgb", "sglb", "budget"]] * 2


def test_there_are_at_most_as_many_processes_as_folds_so_that_no_core_is_idle(tmp_path, monkeypatch):
    seen = []

    def run_cell(_folder, key, _protocol, n_threads):
        seen.append(n_threads)
        return runner.Event("done", key)

    monkeypatch.setattr(runner, "run_cell", run_cell)
    monkeypatch.setattr(runner, "available_cores", lambda: 6)
    list(runner.run(tmp_path, [CellKey("native", "kick", 0, "sglb")], QUICK, n_processes=4))
    assert seen == [6]


def test_results_do_not_depend_on_the_number_of_processes(tmp_path):
    for n_jobs in (1, 2):
        quick_run("table:uncertainty", tmp_path / str(n_jobs), n_jobs=n_jobs, folds=2)
    assert table_rows(tmp_path / "1", "uncertainty") == table_rows(tmp_path / "2", "uncertainty")


class TestContinuation:
    def test_cells_that_are_done_are_not_run_again(self, tmp_path, monkeypatch):
        quick_run("table:prediction", tmp_path)
        monkeypatch.setattr(runner, "run_cell", None)
        assert "4 of 4 cells are done, 0 to run" in quick_run("table:uncertainty", tmp_path)

    def test_more_folds_and_datasets_are_added_to_existing_cells(self, tmp_path):
        quick_run("table:prediction", tmp_path, datasets=("yacht",))
        assert "2 of 6 cells are done, 4 to run" in quick_run("table:prediction", tmp_path, folds=2)

    def test_outdated_cells_are_used_and_reported_and_run_again_on_request(self, tmp_path):
        quick_run("regression", tmp_path, datasets=("yacht",))
        folder = cell_folder(tmp_path)
        change_cell(folder / "00-sglb.json", revision=None, data=None, outside=True, parameters=None)
        change_cell(folder / "00-sgb.json", seed=7)
        messages = quick_run("regression", tmp_path, datasets=("yacht",))
        assert "3 of 3 cells are done, 0 to run" in messages
        assert (
            "some cells are not of the present revision (3): 1 with another seed, 1 with revision unknown; "
            "--renew runs them again"
        ) in messages
        ended = run_command("regression", "--datasets", "yacht", "--folds", 1, "--quick", "--renew", "--out", tmp_path)
        assert "0 of 3 cells are done, 3 to run" in ended.stdout  # budget needs sglb
        assert "not of the present revision" not in ended.stdout
        key = CellKey("native", "yacht", 0, "sglb")
        assert cells.read(tmp_path / "quick" / "cells", key)["revision"] == REVISION

    def test_cells_computed_from_different_data_are_reported(self, tmp_path):
        quick_run("table:prediction", tmp_path)
        path = cell_folder(tmp_path) / "00-sglb.json"
        change_cell(path, outside={"file": "msd/YearPredictionMSD.txt", "sha256": "0"})
        messages = quick_run("table:prediction", tmp_path)
        assert "cells of yacht use different data or out-of-domain rows; --renew runs them again" in messages
