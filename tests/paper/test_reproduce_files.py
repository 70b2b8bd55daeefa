"""Which cells a table is built from; damaged, unknown and missing files."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from epiboost.paper import runner
from epiboost.paper.protocol import Protocol
from tests.support import paper_files
from tests.support.paper_runs import DATASETS, cell_folder, quick_run, run_command, table_rows

pytest.importorskip("pandas")
pytestmark = pytest.mark.usefixtures("folder")

SMALL = Protocol(n_estimators=10, n_members=2, depths=(2,), rates=(0.3,), forest_depth=2)


class TestTables:
    def test_they_include_all_cells_whichever_datasets_were_requested(self, tmp_path):
        quick_run("table:prediction", tmp_path)
        before = table_rows(tmp_path, "prediction")
        quick_run("table:prediction", tmp_path, datasets=("yacht",))
        assert table_rows(tmp_path, "prediction") == before

    def test_with_tables_only_they_are_built_from_existing_cells(self, tmp_path, monkeypatch):
        quick_run("table:prediction", tmp_path)
        monkeypatch.setattr(runner, "run_cell", None)
        monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path / "nowhere"))
        ended = run_command("table:budget", "--quick", "--tables-only", "--out", tmp_path)
        assert ended.exit_code == 0, ended.stderr
        assert "| Yacht |" in (tmp_path / "quick" / "tables" / "native" / "budget.md").read_text()

    def test_a_quick_run_changes_no_other_cells_and_is_in_no_other_table(self, tmp_path, monkeypatch):
        monkeypatch.setattr("epiboost.paper.reproduce.PAPER", SMALL)  # small enough for a test
        quick_run("table:prediction", tmp_path, quick=False)
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert len(before) == 4 + 6
        quick_run("table:prediction", tmp_path)
        assert {path: path.read_bytes() for path in before} == before
        table = tmp_path / "tables" / "native" / "prediction.md"
        assert "quick run" not in table.read_text()
        # A quick cell that an earlier version wrote among the others is not in a table either.
        misplaced = Path("native", "yacht", "01-sglb.json")
        quick_run("table:prediction", tmp_path, folds=2, datasets=("yacht",))
        (tmp_path / "cells" / misplaced).write_bytes((tmp_path / "quick" / "cells" / misplaced).read_bytes())
        messages = quick_run("table:prediction", tmp_path, quick=False)
        assert "1 cells of another protocol are left out of the tables" in messages
        assert table.read_bytes() == before[table]


class TestDamagedCells:
    def test_a_requested_cell_is_named_and_run_again_with_the_same_results(self, tmp_path):
        quick_run("table:prediction", tmp_path)
        before = table_rows(tmp_path, "prediction")
        path = cell_folder(tmp_path) / "00-sglb.json"
        path.write_text(path.read_text()[:500])
        arguments = ["--datasets", ",".join(DATASETS), "--folds", 1, "--quick", "--out", tmp_path]
        ended = run_command("table:prediction", *arguments)
        assert ended.exit_code == 0, ended.stderr
        assert f"the cell {str(path)!r} is damaged: it is not JSON" in ended.stdout
        assert "3 of 4 cells are done, 1 to run" in ended.stdout
        assert table_rows(tmp_path, "prediction") == before

    def test_other_cells_are_named_and_left_out_of_the_tables(self, tmp_path):
        quick_run("table:prediction", tmp_path, folds=2)
        cut, later = (cell_folder(tmp_path) / name for name in ("01-sglb.json", "01-sgb.json"))
        place = cell_folder(tmp_path, "boston") / "00-sgb.json"
        cut.write_text("{")
        later.write_text(json.dumps({"format": 2}))
        place.mkdir(parents=True)
        ended = run_command("table:prediction", "--datasets", "yacht,adult", "--folds", 1, "--quick", "--out", tmp_path)
        assert ended.exit_code == 0, ended.stderr
        printed = " ".join(ended.stdout.split())
        assert f"the cell {str(cut)!r} is damaged: it is not JSON" in printed
        assert f"the cell {str(later)!r} has format 2; this version reads formats up to 1; it is left out" in printed
        assert f"{str(place)!r} is a folder where a cell should be; remove it; it is left out of the tables" in printed
        rows = [row for row in table_rows(tmp_path, "prediction") if row["dataset"] == "yacht"]
        folds = {row["method"]: row["folds"] for row in rows}
        assert folds["sglb_ensemble"] == folds["sgb_ensemble"] == "1"

    def test_an_unknown_file_in_the_place_of_a_requested_cell_is_kept_and_the_rest_runs(self, tmp_path):
        folder = cell_folder(tmp_path)
        folder.mkdir(parents=True)
        (folder / "00-sgb.json").write_text(json.dumps({"format": 2}))
        (folder / "01-sgb.json").mkdir()
        messages = quick_run("table:prediction", tmp_path, folds=2, datasets=("yacht",))
        assert "0 of 2 cells are done, 2 to run" in messages
        assert (folder / "00-sgb.json").read_text() == json.dumps({"format": 2})
        assert (folder / "01-sglb.json").is_file()


class TestMissingData:
    def test_a_missing_dataset_is_reported_and_the_others_run(self, tmp_path, folder):
        ended = run_command("table:prediction", "--datasets", "yacht,year", "--folds", 1, "--quick", "--out", tmp_path)
        assert ended.exit_code == 0, ended.stderr
        assert "year is left out: the file 'msd/YearPredictionMSD.txt' is missing" in ended.stdout
        assert str(folder / "msd" / "YearPredictionMSD.txt") in ended.stdout
        assert "Year MSD." in (tmp_path / "quick" / "tables" / "native" / "prediction.md").read_text()

    def test_if_all_data_are_missing_nothing_is_written_and_the_run_fails(self, tmp_path, monkeypatch):
        monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path / "empty"))
        ended = run_command("table:prediction", "--datasets", "year,click", "--out", tmp_path / "out")
        assert ended.exit_code == 2
        assert "year is left out" in ended.stdout
        assert "0 of 0" not in ended.stdout
        assert ended.stderr.startswith("epiboost: no table was written: none of the requested cells")
        assert not (tmp_path / "out" / "tables").exists()

    def test_a_damaged_data_file_leaves_its_dataset_out_and_the_others_run(self, tmp_path, monkeypatch, generated):
        data = shutil.copytree(generated, tmp_path / "data")
        (data / "uci" / "yacht" / "data.txt").write_text("1 2 3\n")
        monkeypatch.setenv("EPIBOOST_DATA", str(data))
        ended = run_command(
            "table:prediction", "--datasets", "yacht,energy", "--folds", 1, "--quick", "--out", tmp_path
        )
        assert ended.exit_code == 0, ended.stderr
        assert "yacht is left out: " in ended.stdout
        assert "data.txt' has the wrong checksum" in ended.stdout
        assert "0 of 2 cells are done, 2 to run" in ended.stdout

    def test_without_a_source_out_of_domain_results_are_left_out_and_added_later(self, tmp_path, monkeypatch):
        data = tmp_path / "data"
        (data / "uci").mkdir(parents=True)
        paper_files.write_uci(data, "yacht", np.random.default_rng(0))
        paper_files.write_checksums(data)
        monkeypatch.setenv("EPIBOOST_DATA", str(data))
        messages = quick_run("table:uncertainty", tmp_path, datasets=("yacht",))
        reason = "the file 'msd/YearPredictionMSD.txt' is missing"
        assert messages[0].startswith(f"out-of-domain results are left out: {reason}")
        rows = table_rows(tmp_path, "uncertainty")
        assert not any(row["value"] for row in rows if row["metric"].startswith("ood"))
        messages = quick_run("table:uncertainty", tmp_path, datasets=("yacht",))
        assert "2 of 2 cells are done, 0 to run" in messages
        paper_files.write_songs(data, np.random.default_rng(0))
        paper_files.write_checksums(data)
        messages = quick_run("table:uncertainty", tmp_path, datasets=("yacht",))
        assert "0 of 2 cells are done, 2 to run" in messages
        rows = [row for row in table_rows(tmp_path, "uncertainty") if row["dataset"] == "yacht"]
        assert all(row["value"] for row in rows if row["metric"] == "ood_auc_total")
