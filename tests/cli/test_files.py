"""CSV files as people have them: compressed, with other separators, with marks for missing values."""

import pytest

from epiboost._cli import files
from tests.support.command_line import epiboost
from tests.support.text_tables import COLOURS, fit, load_fitted, numbers


def test_a_compressed_table_is_read_like_a_plain_one(write_text, tmp_path):
    odd_at_the_end = [*["1"] * 59, "1.5"]  # the types of columns come from all rows
    columns = {"x": odd_at_the_end, "colour": COLOURS, "y": numbers()}
    plain, compressed = write_text(columns), write_text(columns, "train.csv.gz")
    read = [files.read_table(path) for path in (plain, compressed)]
    assert read[1].equals(read[0])
    fit(compressed)
    assert epiboost("predict", tmp_path / "model.epib", compressed, "-o", tmp_path / "out.csv").exit_code == 0


def test_a_compressed_table_with_rows_longer_than_its_file_is_read(write_text):
    long = "a" * 100_000
    path = write_text({"x": ["b", long], "y": ["1", "2"]}, "train.csv.gz")
    assert path.stat().st_size < 1000
    assert files.read_table(path)["x"].to_pylist() == ["b", long]


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-9], lambda _: b"x,y\n1,2\n", lambda data: data[:12] + b"\xff" * 9]
)
def test_a_damaged_compressed_table_is_one_line(write_text, tmp_path, spoil):
    path = write_text({"x": numbers(), "y": numbers()}, "train.csv.gz")
    path.write_bytes(spoil(path.read_bytes()))
    result = epiboost("fit", path, "--target", "y", "-o", tmp_path / "model.epib")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"epiboost: cannot read '{path}': it is not a complete gzip file")
    assert result.stderr.count("\n") == 1


def test_compressed_tables_are_not_written(write_text, tmp_path):
    path = write_text({"x": numbers(), "y": numbers()})
    fit(path)
    result = epiboost("predict", tmp_path / "model.epib", path, "-o", tmp_path / "out.csv.gz")
    assert result.exit_code == 1
    assert "compressed tables can be read, not written; use .csv or .parquet" in result.stderr


@pytest.mark.parametrize(("separator", "name"), [(";", "semicolons"), ("\t", "tabs")])
@pytest.mark.parametrize("file", ["train.csv", "train.csv.gz"])
@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("point", [".", ","])
def test_other_separators_are_refused_by_name(write_text, tmp_path, separator, name, file, quote, point):
    x = [text.replace(".", point) for text in numbers()]
    path = write_text({f"{quote}x{quote}": x, f"{quote}y{quote}": x}, file, separator)
    result = epiboost("fit", path, "--target", "y", "-o", tmp_path / "model.epib")
    assert result.exit_code == 1
    assert f"its fields are separated by {name}; save it with commas" in result.stderr


def test_semicolons_in_column_names_are_accepted(write_text):
    read = files.read_table(write_text({'"a;b"': numbers()}))
    assert read.column_names == ["a;b"]
    read = files.read_table(write_text({"a;b": numbers(), "c": numbers()}))
    assert read.column_names == ["a;b", "c"]


@pytest.mark.parametrize("text", files.MISSING)
def test_marks_of_missing_values_are_missing_unless_quoted(write_text, text):
    read = files.read_table(
        write_text({"x": ["red", text, f'"{text}"'], "n": ["1.5", text, "2"], "y": ["1", "2", "3"]})
    )
    assert read["x"].to_pylist() == ["red", None, text]
    assert read["n"].to_pylist() == [1.5, None, 2.0]


@pytest.mark.parametrize("text", ["None", "none", "?", "-", " ", "na", "missing"])
def test_other_texts_are_values(write_text, text):
    assert files.read_table(write_text({"x": ["red", text], "y": ["1", "2"]}))["x"].to_pylist() == ["red", text]


def test_codes_with_leading_zeros_are_numbers_unless_categorical(write_text):
    path = write_text({"zip": ["007", "012", "100"] * 20, "y": numbers()})
    assert files.read_table(path)["zip"].to_pylist()[:2] == [7, 12]
    fit(path, "--categorical", "zip")
    assert load_fitted(path).categories_[0].tolist() == ["007", "012", "100"]
