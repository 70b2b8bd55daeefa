"""Tables as people have them: compressed, with other separators, with marks for missing values, of a wrong format."""

import gzip

import numpy as np
import pytest

from epiboost._cli.tables.formats import TableError
from epiboost._cli.tables.parsing import MISSING
from epiboost._cli.tables.reading import read_table
from epiboost._cli.tables.writing import write_table
from tests.support.command_line import epiboost
from tests.support.text_tables import COLOURS, fit, load_fitted, numbers


def test_a_compressed_table_is_read_like_a_plain_one(write_text, tmp_path):
    odd_at_the_end = [*["1"] * 59, "1.5"]  # the types of columns come from all rows
    columns = {"x": odd_at_the_end, "colour": COLOURS, "y": numbers()}
    plain, compressed = write_text(columns), write_text(columns, "train.csv.gz")
    read = [read_table(path) for path in (plain, compressed)]
    assert read[1].equals(read[0])
    fit(compressed)
    assert epiboost("predict", tmp_path / "model.epib", compressed, "-o", tmp_path / "out.csv").exit_code == 0


def test_a_compressed_table_with_rows_longer_than_its_file_is_read(write_text):
    long = "a" * 100_000
    path = write_text({"x": ["b", long], "y": ["1", "2"]}, "train.csv.gz")
    assert path.stat().st_size < 1000
    assert read_table(path)["x"].to_pylist() == ["b", long]


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-9], lambda _: b"x,y\n1,2\n", lambda data: data[:12] + b"\xff" * 9]
)
def test_a_damaged_compressed_table_is_one_line(write_text, tmp_path, spoil):
    path = write_text({"x": numbers(), "y": numbers()}, "train.csv.gz")
    path.write_bytes(spoil(path.read_bytes()))
    result = epiboost("fit", path, "--target", "y", "-o", tmp_path / "model.epib")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"epiboost: cannot read '{path}': it is not a complete gzip file")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(("separator", "name"), [(";", "semicolons"), ("\t", "tabs")])
@pytest.mark.parametrize("file", ["train.csv", "train.csv.gz"])
@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("point", [".", ","])
def test_other_separators_are_refused_by_name(write_text, tmp_path, separator, name, file, quote, point):
    x = [text.replace(".", point) for text in numbers()]
    path = write_text({f"{quote}x{quote}": x, f"{quote}y{quote}": x}, file, separator)
    result = epiboost("fit", path, "--target", "y", "-o", tmp_path / "model.epib")
    assert result.exit_code == 2
    assert f"its fields are separated by {name}; save it with commas" in result.stderr


def test_semicolons_in_column_names_are_accepted(write_text):
    read = read_table(write_text({'"a;b"': numbers()}))
    assert read.column_names == ["a;b"]
    read = read_table(write_text({"a;b": numbers(), "c": numbers()}))
    assert read.column_names == ["a;b", "c"]


@pytest.mark.parametrize("text", MISSING)
def test_marks_of_missing_values_are_missing_unless_quoted(write_text, text):
    read = read_table(write_text({"x": ["red", text, f'"{text}"'], "n": ["1.5", text, "2"], "y": ["1", "2", "3"]}))
    assert read["x"].to_pylist() == ["red", None, text]
    assert read["n"].to_pylist() == [1.5, None, 2.0]


@pytest.mark.parametrize("text", ["None", "none", "?", "-", " ", "na", "missing"])
def test_other_texts_are_values(write_text, text):
    assert read_table(write_text({"x": ["red", text], "y": ["1", "2"]}))["x"].to_pylist() == ["red", text]


def test_codes_with_leading_zeros_are_numbers_unless_categorical(write_text):
    path = write_text({"zip": ["007", "012", "100"] * 20, "y": numbers()})
    assert read_table(path)["zip"].to_pylist()[:2] == [7, 12]
    fit(path, "--categorical", "zip")
    assert load_fitted(path).categories_[0].tolist() == ["007", "012", "100"]


@pytest.mark.parametrize("compression", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-5], lambda _: b"x,y\n1,2\n", lambda data: data[:12] + b"\xff" * 9]
)
def test_every_damaged_compression_is_named(tmp_path, compression, spoil):
    path = tmp_path / f"train.csv.{compression}"
    write_table({"x": np.arange(500.0)}, path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(TableError, match=r"cannot read .*: it is not a complete (gzip|bzip2|xz|Zstandard) file"):
        read_table(path)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"PAR1 and more", "it is a Parquet file, whose name ends in .parquet"),
        ("a.parquet", b"x,y\n1,2\n", "it is not a Parquet file"),
        ("a.parquet", b"PAR1 and more", "cannot read"),
        ("a.csv", gzip.compress(b"x,y\n1,2\n", mtime=0), "it is compressed by gzip; its name must end in .csv.gz"),
        ("a.jsonl", b'[{"x": 1}]', "it is a JSON array; write one object per line"),
        ("a.jsonl", b'{"x": 1}\n{"x": "a"}\n', "changed from number to string in row 1"),
        ("a.jsonl", b'{"x": 1\n', "JSON parse error"),
        ("a.jsonl", b'{"x": "\xff"}\n', "Invalid UTF8"),
        ("a.tsv", b"x,y\n1,2\n", "its fields are separated by commas, not by tabs"),
        ("a.csv", b"x\ty\n1\t2\n", "separated by tabs; save it with commas between fields, or give it the ending .tsv"),
        ("a.csv", b"", "is empty"),
        ("a.csv", "x,y\n1,2\n".encode("utf-16"), "it is not UTF-8 text; save it as UTF-8"),
        ("a.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("a.txt", b"x,y\n1,2\n", "its name must end in .csv, .tsv, .jsonl, .ndjson, .parquet, each also with .gz"),
    ],
)
def test_a_wrong_format_is_named_with_a_remedy(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError) as caught:
        read_table(tmp_path / name)
    assert words in str(caught.value)


def test_json_lines_may_lack_fields_and_hold_categories(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"zip": 7, "day": "2020-01-02", "x": 1}\n\n{"x": 2.5, "day": null}\n')
    table = read_table(path, text=["zip", "day"])
    assert table.to_pydict() == {"zip": ["7", None], "day": ["2020-01-02", None], "x": [1.0, 2.5]}


def test_types_of_json_lines_come_from_all_rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x": 1}\n' * 300_000 + '{"x": 1.5}\n')
    assert str(read_table(path).schema.field("x").type) == "double"


def test_tabs_and_a_byte_order_mark_are_read(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_bytes(b"\xef\xbb\xbfx\ty\n1\ta,b\n")
    assert read_table(path).to_pydict() == {"x": [1], "y": ["a,b"]}
