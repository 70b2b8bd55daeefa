"""What is written in a format is read back from it."""

import errno
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from epiboost._cli.tables.formats import TableError
from epiboost._cli.tables.reading import read_table
from epiboost._cli.tables.writing import write_table

COLUMNS = {
    "number": np.array([1.5, -2e300, 3.0]),
    "count": np.array([1, 2, 3]),
    "is_set": np.array([True, False, True]),
    "text": np.array(['a "quoted", text', "tab\there", "ü\nline"]),
}
KINDS = ("csv", "tsv", "jsonl", "ndjson", "parquet")


@pytest.mark.parametrize("compression", ["", ".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_written_table_is_read_back(tmp_path, kind, compression):
    path = tmp_path / f"out.{kind}{compression}"
    columns = COLUMNS if kind not in {"csv", "tsv"} else {**COLUMNS, "text": np.array(['a "b", c', "tab\there", "ü"])}
    write_table(columns, path)
    assert read_table(path).to_pydict() == pa.table(columns).to_pydict()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", ["csv.gz", "csv.bz2", "csv.xz", "csv.zst"])
def test_equal_tables_are_equal_files(tmp_path, ending, monkeypatch):
    for name, moment in (("one", 1e9), ("two", 1.5e9)):
        monkeypatch.setattr("time.time", lambda moment=moment: moment)
        write_table(COLUMNS, tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


def test_numbers_that_json_lacks_are_null(tmp_path):
    write_table({"x": np.array([np.nan, np.inf, 1.0])}, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line)["x"] for line in lines] == [None, None, 1.0]


def test_columns_of_objects_are_not_for_csv(tmp_path):
    nested = {"x": pa.chunked_array([[{"a": 1}]])}
    with pytest.raises(TableError, match=r"'x' holds lists or objects, which TSV has no field for"):
        write_table(nested, tmp_path / "out.tsv")
    write_table(nested, tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {"x": {"a": 1}}


def test_a_failed_write_leaves_the_older_file(tmp_path, monkeypatch):
    def fail(_table, file, _options):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "full")

    path = tmp_path / "out.csv.gz"
    path.write_bytes(b"precious")
    monkeypatch.setattr(pyarrow.csv, "write_csv", fail)
    with pytest.raises(OSError, match="full"):
        write_table(COLUMNS, path)
    assert path.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [path]
