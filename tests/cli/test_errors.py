"""A known error is one line on standard error, and outputs are whole or not there."""

import datetime as dt
import subprocess

import numpy as np
import pytest
import typer

from epiboost._cli.errors import with_known_errors
from epiboost.engines.cuda.device import DeviceError, NoDeviceError
from tests.support.command_line import FOR_MINUTES, SMALL, assert_one_line, epiboost, start_epiboost
from tests.support.platforms import linux_only


class TestKnownErrorIsOneLine:
    @pytest.mark.parametrize("error", [DeviceError, NoDeviceError])
    def test_of_a_gpu_that_cannot_be_used(self, error, capsys):
        message = "no GPU"

        @with_known_errors
        def command():
            raise error(message)

        with pytest.raises(typer.Exit) as ended:
            command()
        assert ended.value.exit_code == 2
        assert capsys.readouterr().err == "epiboost: no GPU\n"

    def test_of_a_file_that_is_not_there(self, tmp_path):
        result = epiboost("fit", tmp_path / "no.csv", "--target", "y", "-o", tmp_path / "model.epib")
        assert_one_line(result, "no.csv", "no such file")

    def test_of_an_ending_that_is_not_known(self, train, model, tmp_path):
        assert_one_line(epiboost("predict", model, train, "-o", tmp_path / "out.xlsx"), "out.xlsx", ".csv, .tsv, ")

    def test_of_a_broken_table(self, tmp_path):
        (tmp_path / "bad.csv").write_text("x,y\n1,2\n3\n")
        result = epiboost("fit", tmp_path / "bad.csv", "--target", "y", "-o", tmp_path / "model.epib")
        assert_one_line(result, "bad.csv", "Expected 2 columns, got 1")

    def test_of_an_empty_table(self, tmp_path):
        (tmp_path / "bad.csv").write_text("x,y\n")
        result = epiboost("fit", tmp_path / "bad.csv", "--target", "y", "-o", tmp_path / "model.epib")
        assert_one_line(result, "bad.csv", "no rows")

    def test_of_a_target_that_is_not_a_column(self, train, tmp_path):
        result = epiboost("fit", train, "--target", "cost", "-o", tmp_path / "model.epib")
        assert_one_line(result, "train.csv", "'cost'")

    def test_of_an_ignored_column_that_is_not_there(self, train, tmp_path):
        result = epiboost("fit", train, "--target", "price", "--ignore", "cost", "-o", tmp_path / "model.epib")
        assert_one_line(result, "train.csv", "'cost'")

    def test_of_a_target_with_missing_values(self, write, tmp_path):
        train = write("train.csv", {"x": [1, 2, 3], "y": [1.0, None, 2.0]})
        result = epiboost("fit", train, "--target", "y", "-o", tmp_path / "model.epib")
        assert_one_line(result, "'y'", "1 missing value")

    def test_of_a_target_of_dates(self, write, tmp_path):
        train = write("train.parquet", {"x": [1, 2], "y": np.array(["2020-01-01", "2020-01-02"], dtype="M8[s]")})
        result = epiboost("fit", train, "--target", "y", "-o", tmp_path / "model.epib")
        assert_one_line(result, "timestamp")

    def test_of_text_as_a_target_of_regression(self, rows, write, tmp_path):
        train = write("train.csv", {name: rows[name] for name in ("size", "grade")})
        result = epiboost("fit", train, "--target", "grade", "--task", "regression", "-o", tmp_path / "model.epib")
        assert_one_line(result)

    def test_of_a_value_the_library_refuses(self, train, tmp_path):
        result = epiboost("fit", train, "--target", "price", "--rate", -1, "-o", tmp_path / "model.epib")
        assert_one_line(result, "--learning-rate must be", "-1")

    def test_of_a_file_that_is_no_model(self, train, tmp_path):
        assert_one_line(epiboost("predict", train, train, "-o", tmp_path / "out.csv"), "train.csv")

    def test_of_a_model_that_is_not_there(self, train, tmp_path):
        assert_one_line(epiboost("predict", tmp_path / "no.epib", train, "-o", tmp_path / "out.csv"), "no.epib")

    def test_of_columns_the_model_needs(self, write, model, tmp_path):
        test = write("test.csv", {"weather": [1.0]})
        result = epiboost("predict", model, test, "-o", tmp_path / "out.csv")
        assert_one_line(result, "test.csv", "'age', 'size'")

    def test_of_an_interval_of_a_classifier(self, rows, write, tmp_path):
        train = write("train.csv", {name: rows[name] for name in ("size", "sold")})
        epiboost("fit", train, "--target", "sold", "-o", tmp_path / "model.epib", *SMALL)
        options = ("--coverage", 0.9, "-o", tmp_path / "out.csv")
        assert_one_line(epiboost("predict", tmp_path / "model.epib", train, *options), "--coverage")

    def test_of_a_folder_that_is_not_there_and_comes_before_training(self, train, tmp_path):
        result = epiboost("fit", train, "--target", "price", "-o", tmp_path / "no" / "model.epib", *FOR_MINUTES)
        assert_one_line(result, "folder does not exist")

    def test_of_a_picture_that_cannot_be_drawn_and_comes_before_training(self, tmp_path):
        result = epiboost("demo", "-o", tmp_path / "heart.doc", "--trees", FOR_MINUTES[-1])
        assert_one_line(result, "heart.doc", "png")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_of_dates_is_one_line_with_a_remedy(write, tmp_path, ending):
    days = [dt.date(2020, 1, 1 + day % 28) for day in range(60)]
    train = write(f"train.{ending}", {"day": days, "y": list(range(60))})
    result = epiboost("fit", train, "--target", "y", "-o", tmp_path / "model.epib", *SMALL)
    assert_one_line(result, "'day' holds dates", "turn them into numbers")


def test_a_table_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("größe,price\n1,2\n3,4\n".encode("latin-1"))
    assert_one_line(
        epiboost("fit", path, "--target", "price", "-o", tmp_path / "model.epib", *SMALL), "latin.csv", "UTF-8"
    )


def test_a_missing_column_is_named_with_the_columns_of_the_table(train, tmp_path):
    fitted = epiboost("fit", train, "--target", "cost", "-o", tmp_path / "model.epib", *SMALL)
    assert_one_line(fitted, "lacks the column 'cost'", "it has 'age', 'size', 'price'")


def test_an_input_is_never_overwritten(train, model):
    before = train.read_bytes(), model.read_bytes()
    assert_one_line(epiboost("fit", train, "--target", "price", "-o", train, *SMALL), "train.csv", "it is an input")
    assert_one_line(epiboost("predict", model, train, "-o", train), "train.csv", "it is an input")
    assert (train.read_bytes(), model.read_bytes()) == before


@linux_only
def test_a_full_disk_is_one_line_and_leaves_nothing_half_written(train, model, tmp_path):
    resource = pytest.importorskip("resource")
    before = sorted(tmp_path.iterdir())
    limited = start_epiboost(
        "predict",
        model,
        train,
        "-o",
        tmp_path / "out.csv",
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    _, errors = limited.communicate(timeout=60)
    assert limited.returncode == 2
    assert errors.startswith("epiboost: ")
    assert errors.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before
