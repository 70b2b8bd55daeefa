"""Kept columns are copied to the output as they are in the input."""

import json

import pandas as pd
import pytest

from tests.support.command_line import assert_one_line, epiboost


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(
        'code,size,day,age,rank,country\n007,0.50,2020-01-02,1,12345678901234567890,NA\n12,1,,2,2,"a,""b"""\n'
    )
    return path


def predict(folder, table, output, *options):
    return epiboost("predict", folder / "regressor.epib", table, "-o", output, *options)


def test_fields_of_a_csv_file_are_copied_unchanged(shared_folder, table, tmp_path):
    options = [word for name in ("code", "size", "day", "rank", "country") for word in ("--keep", name)]
    assert predict(shared_folder, table, tmp_path / "out.csv", *options).exit_code == 0
    found, given = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in (tmp_path / "out.csv", table))
    names = ["code", "size", "day", "rank", "country"]
    assert list(found)[:6] == [*names, "prediction"]
    assert found[names].equals(given[names])


def test_keeping_columns_does_not_change_the_predictions(shared_folder, table, tmp_path):
    for name, options in (("with", ("--id", "size")), ("without", ())):
        assert predict(shared_folder, table, tmp_path / f"{name}.parquet", *options).exit_code == 0
    found, expected = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("with", "without"))
    assert found.drop(columns="size").equals(expected)


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_types_of_other_formats_are_kept(shared_folder, tmp_path, ending):
    frame = pd.DataFrame({"size": [0.5, 1.0], "age": [1.0, 2.0], "number": [3, 4], "day": ["2020-01-02", "007"]})
    table = tmp_path / f"rows.{ending}"
    frame.to_parquet(table) if ending == "parquet" else frame.to_json(table, orient="records", lines=True)
    output = tmp_path / "out.parquet"
    assert predict(shared_folder, table, output, "--keep", "number", "--keep", "day").exit_code == 0
    found = pd.read_parquet(output)
    assert found[["number", "day"]].to_dict("list") == frame[["number", "day"]].to_dict("list")


def test_dates_of_json_lines_are_copied_as_text(shared_folder, tmp_path):
    table, output = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    table.write_text('{"size": 1, "age": 2, "day": "2020-01-02"}\n')
    assert predict(shared_folder, table, output, "--keep", "day").exit_code == 0
    assert json.loads(output.read_text())["day"] == "2020-01-02"


def test_a_kept_column_does_not_replace_a_column_of_the_output(shared_folder, tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text("size,age,prediction\n1,2,3\n")
    ended = predict(shared_folder, table, tmp_path / "out.csv", "--keep", "prediction")
    assert_one_line(ended, "'prediction' of --keep has the name of a column of the output")
    assert not (tmp_path / "out.csv").exists()


def test_an_unknown_kept_column_is_one_line(shared_folder, table, tmp_path):
    ended = predict(shared_folder, table, tmp_path / "out.csv", "--id", "Kode")
    assert_one_line(ended, "lacks the column 'Kode'", "did you mean 'code'?")


def test_an_identifier_is_no_feature(train, tmp_path):
    ended = epiboost("fit", train, "--target", "price", "--id", "age", "-o", tmp_path / "m.epib", "--trees", 5)
    assert ended.stdout.splitlines()[0].endswith("200 rows, 1 feature")


def test_foreign_rows_are_shown_with_their_identifiers(shared_folder, tmp_path):
    output = tmp_path / "drift.json"
    options = ("--rows", 2, "--keep", "code", "--json", output)
    ended = epiboost("drift", shared_folder / "regressor.epib", shared_folder / "test.csv", *options)
    assert ended.exit_code == 0, ended.stderr
    for row in json.loads(output.read_text())["rows"]:
        code = f"{row['row'] + 299:03}"
        assert row["kept"] == {"code": code}
        assert f" {code} " in ended.stdout


def test_explained_rows_keep_their_identifiers(shared_folder, table, tmp_path):
    pytest.importorskip("shap", reason="explanations need shap")
    output = tmp_path / "why.csv"
    options = ("--keep", "code", "--keep", "size", "-o", output)
    assert epiboost("explain", shared_folder / "regressor.epib", table, *options).exit_code == 0
    found = pd.read_csv(output, dtype=str)
    assert list(found) == ["code", "size", "knowledge", "base", "value of size", "age"]
    assert found["code"].tolist() == ["007", "12"]
