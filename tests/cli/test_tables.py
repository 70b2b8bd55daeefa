"""Tables at the command line: what is said of their columns, and CSV files as people have them."""

import gzip
import subprocess
import sys

import numpy as np
import pytest
from pyarrow import parquet
from pyarrow import table as arrow_table
from typer.testing import CliRunner

from epiboost import EpiBoostRegressor
from epiboost._cli import commands, files

SMALL = ("--members", "2", "--trees", "5", "--seed", "0", "--jobs", "1")
N = 60


def epiboost(*arguments):
    return CliRunner().invoke(commands.app, [str(argument) for argument in arguments], catch_exceptions=False)


def fit(path, *options, target="y"):
    result = epiboost("fit", path, "--target", target, "-o", path.parent / "model.epib", *SMALL, *options)
    assert result.exit_code == 0, result.output
    return result


def model_of(path):
    return EpiBoostRegressor.load(path.parent / "model.epib")


@pytest.fixture
def write(tmp_path):
    """Write columns of text as they are, separated by commas."""

    def _write(columns, name="train.csv", separator=","):
        lines = [columns, *zip(*columns.values(), strict=True)]
        text = "".join(separator.join(line) + "\n" for line in lines)
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return _write


def numbers(odd=(), n=N):
    """Return texts of distinct numbers, the first of which are something else."""
    return [*odd, *(f"{place / 8}" for place in range(len(odd), n))]


COLOURS = ["red", "green", "blue"] * (N // 3)


# What is said


def test_fit_says_which_columns_it_takes_as_categories(write):
    path = write({"x": numbers(), "colour": COLOURS, "zip": ["1", "2"] * 30, "land": COLOURS, "y": numbers()})
    assert fit(path).stdout.splitlines()[1] == "Categories: 'colour', 'land'"
    assert fit(path, "--categorical", "zip").stdout.splitlines()[1] == "Categories: 'colour', 'zip', 'land'"
    options = ("--ignore", "colour", "--ignore", "land")
    assert fit(path, *options).stdout.splitlines()[1] == "Categories: none"


def test_many_categories_are_said_in_one_line(write):
    path = write({**{f"c{place}": COLOURS for place in range(30)}, "y": numbers()})
    line = fit(path).stdout.splitlines()[1]
    assert line.startswith("Categories: 'c0', 'c1', ")
    assert line.endswith("'c9' and 20 more")


@pytest.mark.parametrize("named", [(), ("--categorical", "zip")])
def test_what_is_said_to_be_categories_is_what_the_model_takes(tmp_path, named):
    columns = {
        "zip": np.arange(N) % 5,
        "colour": COLOURS,
        "flag": np.arange(N) % 2 == 0,
        "shelf": arrow_table({"shelf": COLOURS})["shelf"].dictionary_encode(),
        "empty": arrow_table({"empty": [None, "x"]})["empty"].take([0] * N),
        "nothing": arrow_table({"nothing": [None] * N})["nothing"],
        "day": arrow_table({"day": np.array([None, "2020-01-01"], dtype="datetime64[D]")})["day"].take([0] * N),
        "y": np.arange(N) / 7,
    }
    path = tmp_path / "train.parquet"
    parquet.write_table(arrow_table(columns), path)
    said = fit(path, *named).stdout.splitlines()[1]
    model = model_of(path)
    pairs = zip(model.feature_names_in_, model.vocabularies_, strict=True)
    assert said == "Categories: " + ", ".join(repr(name) for name, vocabulary in pairs if vocabulary is not None)
    assert "'shelf'" in said
    assert "'empty'" in said
    assert "'day'" not in said


def test_one_feature_and_one_row_are_said_in_the_singular(write, tmp_path):
    path = write({"x": numbers(), "y": numbers()})
    assert fit(path).stdout.splitlines()[0].endswith(": 60 rows, 1 feature")
    one = write({"x": ["1.0"]}, "test.csv")
    told = epiboost("predict", tmp_path / "model.epib", one, "-o", tmp_path / "out.csv").stdout
    assert told.startswith("Predicted 1 row and wrote")


@pytest.mark.parametrize(
    ("odd", "shown"),
    [(("?", "", "?"), "'?'"), (("None",), "'None'"), (("a", "b", "c", "d"), "'a', 'b', 'c'. ")],
)
def test_a_column_that_is_mostly_numbers_but_read_as_text_is_a_warning(write, odd, shown):
    result = fit(write({"x": numbers(odd), "colour": COLOURS, "y": numbers()}))
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("epiboost: warning: the column 'x' is read as text, though ")
    assert f"not read as numbers: {shown}" in result.stderr
    assert "leave such fields empty" in result.stderr
    assert "--categorical 'x'" in result.stderr


def test_numbers_with_decimal_commas_are_a_warning(write):
    commas = [f'"{place // 8},{place % 8}"' for place in range(N)]
    result = fit(write({"x": commas, "y": numbers()}))
    assert "60 of its 60 distinct values are numbers; not read as numbers: '0,0', '0,1', '0,2'." in result.stderr
    assert "leave such fields empty and write decimal points" in result.stderr


def test_a_target_that_is_mostly_numbers_but_read_as_text_is_a_warning(write):
    path = write({"x": numbers(), "y": ["1", "2", "?"] * 20})
    result = fit(path)
    assert "warning: the column 'y' is read as text, though 2 of its 3 distinct values" in result.stderr
    assert "leave out such rows and write decimal points; if text is meant, say --task classification" in result.stderr
    assert fit(path, "--task", "classification").stderr == ""


def test_text_that_is_meant_is_no_warning(write):
    path = write({"x": numbers(("?",)), "colour": COLOURS, "code": ["1", "a", "b"] * 20, "y": numbers()})
    assert fit(path, "--categorical", "x").stderr == ""
    assert fit(path, "--ignore", "x").stderr == ""


def test_text_of_a_parquet_file_is_meant_and_no_warning(tmp_path):
    path = tmp_path / "train.parquet"
    parquet.write_table(arrow_table({"x": numbers(("?",)), "y": np.arange(N) / 7}), path)
    assert fit(path).stderr == ""


# CSV files


def test_a_compressed_table_is_the_table(write, tmp_path):
    odd_at_the_end = [*["1"] * 59, "1.5"]  # the types of columns come from all rows
    columns = {"x": odd_at_the_end, "colour": COLOURS, "y": numbers()}
    plain, compressed = write(columns), write(columns, "train.csv.gz")
    read = [files.read_table(path) for path in (plain, compressed)]
    assert read[1].equals(read[0])
    fit(compressed)
    assert epiboost("predict", tmp_path / "model.epib", compressed, "-o", tmp_path / "out.csv").exit_code == 0


def test_a_compressed_table_with_rows_longer_than_its_file_is_read(write):
    long = "a" * 100_000
    path = write({"x": ["b", long], "y": ["1", "2"]}, "train.csv.gz")
    assert path.stat().st_size < 1000
    assert files.read_table(path)["x"].to_pylist() == ["b", long]


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-9], lambda _: b"x,y\n1,2\n", lambda data: data[:12] + b"\xff" * 9]
)
def test_a_damaged_compressed_table_is_one_line(write, tmp_path, spoil):
    path = write({"x": numbers(), "y": numbers()}, "train.csv.gz")
    path.write_bytes(spoil(path.read_bytes()))
    result = epiboost("fit", path, "--target", "y", "-o", tmp_path / "model.epib")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"epiboost: cannot read '{path}': it is no whole file of gzip")
    assert result.stderr.count("\n") == 1


def test_compressed_tables_are_not_written(write, tmp_path):
    path = write({"x": numbers(), "y": numbers()})
    fit(path)
    result = epiboost("predict", tmp_path / "model.epib", path, "-o", tmp_path / "out.csv.gz")
    assert result.exit_code == 1
    assert "compressed tables are only read; let it end in .csv or .parquet" in result.stderr


@pytest.mark.parametrize(("separator", "name"), [(";", "semicolons"), ("\t", "tabs")])
@pytest.mark.parametrize("file", ["train.csv", "train.csv.gz"])
@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("point", [".", ","])
def test_other_separators_than_commas_are_named(write, tmp_path, separator, name, file, quote, point):
    x = [text.replace(".", point) for text in numbers()]
    path = write({f"{quote}x{quote}": x, f"{quote}y{quote}": x}, file, separator)
    result = epiboost("fit", path, "--target", "y", "-o", tmp_path / "model.epib")
    assert result.exit_code == 1
    assert f"its fields are separated by {name}; save it with commas" in result.stderr


def test_semicolons_within_names_are_no_separators(write):
    read = files.read_table(write({'"a;b"': numbers()}))
    assert read.column_names == ["a;b"]
    read = files.read_table(write({"a;b": numbers(), "c": numbers()}))
    assert read.column_names == ["a;b", "c"]


@pytest.mark.parametrize("text", files.MISSING)
def test_texts_that_stand_for_missing_values_do_so_unless_quoted(write, text):
    read = files.read_table(write({"x": ["red", text, f'"{text}"'], "n": ["1.5", text, "2"], "y": ["1", "2", "3"]}))
    assert read["x"].to_pylist() == ["red", None, text]
    assert read["n"].to_pylist() == [1.5, None, 2.0]


@pytest.mark.parametrize("text", ["None", "none", "?", "-", " ", "na", "missing"])
def test_other_texts_are_values(write, text):
    assert files.read_table(write({"x": ["red", text], "y": ["1", "2"]}))["x"].to_pylist() == ["red", text]


def test_codes_with_leading_zeros_are_numbers_unless_they_are_named(write):
    path = write({"zip": ["007", "012", "100"] * 20, "y": numbers()})
    assert files.read_table(path)["zip"].to_pylist()[:2] == [7, 12]
    fit(path, "--categorical", "zip")
    assert model_of(path).vocabularies_[0].values == ("007", "012", "100")


# The command


@pytest.mark.parametrize("module", ["epiboost", "epiboost._cli.main"])
def test_the_package_runs_as_the_command(module):
    command = [sys.executable, "-m", module, "--help"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr
    assert "Usage: epiboost" in result.stdout
