"""Experiments from end to end on generated data, and the options of the command."""

import pytest

from epiboost.paper import runner
from epiboost.paper.cells import cell as cells
from epiboost.paper.cells.provenance import REVISION, checksum
from epiboost.paper.experiments import EXPERIMENTS
from epiboost.paper.problem import load_problem
from epiboost.paper.protocol import QUICK
from epiboost.paper.reproduce import experiment_statuses
from tests.support import paper_files
from tests.support.paper_runs import (
    DATASETS,
    cell_folder,
    quick_options,
    quick_run,
    run_command,
    table_rows,
)

pytest.importorskip("pandas")
pytestmark = pytest.mark.usefixtures("folder")


class TestEndToEnd:
    @pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name.startswith("table:")])
    def test_the_smallest_cells_of_every_table_run(self, tmp_path, name):
        if name == "table:comparison":
            pytest.importorskip("ngboost")
        messages = quick_run(name, tmp_path, datasets=DATASETS[: 1 if name == "table:comparison" else 2])
        table = name.removeprefix("table:")
        text = (tmp_path / "quick" / "tables" / "native" / f"{table}.md").read_text()
        assert "| Yacht |" in text
        assert "**A quick run with tiny models: these results are meaningless.**" in text
        assert f"Wrote {tmp_path / 'quick' / 'tables' / 'native' / table}.tex" in messages
        rows = [row for row in table_rows(tmp_path, table) if row["dataset"] == "yacht" and row["value"]]
        assert rows
        for row in rows:
            assert not row["difference"]  # of one fold of twenty
        statuses = [status for status in experiment_statuses(quick_options(tmp_path)) if status.name == name]
        assert all(status.done == status.total for status in statuses)

    @pytest.mark.parametrize("engine", ["catboost", "lightgbm", "xgboost"])
    def test_other_engines_have_their_own_cells_and_tables(self, tmp_path, engine):
        pytest.importorskip(engine)
        quick_run("regression", tmp_path, engine=engine, datasets=("yacht",))
        assert sorted(path.name for path in cell_folder(tmp_path, engine=engine).iterdir()) == [
            "00-budget.json",
            "00-sgb.json",
            "00-sglb.json",
        ]
        assert [row["engine"] for row in table_rows(tmp_path, "prediction", engine) if row["value"]]
        assert not (tmp_path / "quick" / "tables" / "native").exists()

    @pytest.mark.parametrize("name", ["year", "click", "churn", "upselling", "appetency", "internet", "amazon", "kick"])
    def test_every_other_dataset_runs(self, tmp_path, name, monkeypatch):
        if name == "year":
            (tmp_path / "data").mkdir()
            data = paper_files.write_all(tmp_path / "data")
            paper_files.write_year(data)
            paper_files.write_checksums(data)
            monkeypatch.setenv("EPIBOOST_DATA", str(data))
        quick_run("table:uncertainty", tmp_path, datasets=(name,))
        rows = [row for row in table_rows(tmp_path, "uncertainty") if row["dataset"] == name]
        values = [row["value"] for row in rows if row["method"] == "sglb_ensemble"]
        assert len(values) == 4
        assert all(values)

    def test_a_cell_holds_its_scores_and_their_provenance(self, tmp_path):
        quick_run("table:prediction", tmp_path, datasets=("yacht",))
        content = cells.read(tmp_path / "quick" / "cells", cells.CellKey("native", "yacht", 0, "sglb"))
        assert content["chosen"] == {"max_depth": 3, "learning_rate": 0.1}
        assert content["protocol"] == QUICK.to_json()
        assert set(content["seconds"]) == {"grid", "sglb_ensemble", "vsglb", "judge"}
        assert {"python", "numpy", "scipy", "scikit-learn", "epiboost", "code"} <= set(content["versions"])
        assert content["revision"] == REVISION
        fold = load_problem("yacht").fold(0)
        assert content["data"] == checksum(fold.X, fold.y, fold.X_test, fold.y_test)
        assert content["outside"] == {"file": "msd/timbre_4680x90.csv", "sha256": checksum(fold.X_ood)}
        used = content["parameters"]["sglb_ensemble"]
        assert (used["l2"], used["structure_rows"], used["variance_guard"], used["n_members"]) == (3.0, None, 0.0, 2)
        assert content["parameters"]["vsglb"]["ensemble"] == "virtual"
        assert content["machine"]["cores"] >= 1
        assert set(content["results"]) == {"sglb_ensemble", "vsglb", "sglb_single"}
        assert {"nll", "rmse", "prr_total", "prr_knowledge", "ood_auc_total", "ood_auc_knowledge"} == set(
            content["results"]["sglb_ensemble"]
        )


class TestCommand:
    def test_the_list_shows_the_status_of_each_experiment(self, tmp_path):
        quick_run("table:prediction", tmp_path, datasets=("yacht",))
        ended = run_command("--datasets", "yacht", "--folds", 1, "--quick", "--out", tmp_path)
        lines = {line.split()[0]: line.split()[1:4] for line in ended.stdout.splitlines()}
        assert lines["table:prediction"] == ["2", "of", "2"]
        assert lines["table:budget"] == ["1", "of", "2"]
        assert lines["figure:heart"] == ["0", "of", "1"]
        assert "classification" not in lines
        complete = run_command("--datasets", "yacht", "--folds", 1, "--out", tmp_path)
        assert "table:prediction         0 of     2 cells" in complete.stdout

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["table:uncertanty"], "there is no experiment 'table:uncertanty'; choose from table:uncertainty"),
            (["regression", "--datasets", "bostom"], "there is no dataset 'bostom'; choose from adult"),
            (["regression", "--datasets", "yacht,adult"], "regression has no dataset 'adult'; choose from boston"),
            (["regression", "--datasets", ","], "datasets must name at least one dataset; got none"),
            (["figure:heart", "--datasets", "yacht"], "figure:heart has no datasets, folds or cells; leave out these"),
            (["figure:heart", "--folds", "2"], "figure:heart has no datasets, folds or cells; leave out these"),
            (["table:prediction", "--tables-only"], "no table was written: none of the requested cells is available"),
            (["regression", "--engine", "forest"], "engine must be one of native, catboost, lightgbm, xgboost"),
        ],
    )
    def test_a_wrong_argument_is_an_error_of_one_line(self, tmp_path, arguments, message):
        ended = run_command(*arguments, "--out", tmp_path)
        assert ended.exit_code == 2
        assert ended.stderr.startswith(f"epiboost: {message}")
        assert len(ended.stderr.splitlines()) == 1
        assert not (tmp_path / "tables").exists()

    def test_a_folder_that_cannot_be_created_is_an_error_before_any_work(self, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("")
        monkeypatch.setattr(runner, "run_cell", None)
        ended = run_command("regression", "--datasets", "yacht", "--out", tmp_path / "file")
        assert ended.exit_code == 2
        assert ended.stderr == f"epiboost: {str(tmp_path / 'file')!r}: file exists\n"
