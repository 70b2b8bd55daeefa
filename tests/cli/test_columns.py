"""The command fit prints what it takes the columns of a table for."""

import numpy as np
import pytest
from pyarrow import parquet
from pyarrow import table as arrow_table

from tests.support.command_line import epiboost
from tests.support.text_tables import COLOURS, N, fit, load_fitted, numbers


def test_fit_prints_the_columns_of_categories(write_text):
    path = write_text({"x": numbers(), "colour": COLOURS, "zip": ["1", "2"] * 30, "land": COLOURS, "y": numbers()})
    assert fit(path).stdout.splitlines()[1] == "Categories: 'colour', 'land'"
    assert fit(path, "--categorical", "zip").stdout.splitlines()[1] == "Categories: 'colour', 'zip', 'land'"
    options = ("--ignore", "colour", "--ignore", "land")
    assert fit(path, *options).stdout.splitlines()[1] == "Categories: none"


def test_many_columns_of_categories_are_one_line(write_text):
    path = write_text({**{f"c{place}": COLOURS for place in range(30)}, "y": numbers()})
    line = fit(path).stdout.splitlines()[1]
    assert line.startswith("Categories: 'c0', 'c1', ")
    assert line.endswith("'c9' and 20 more")


@pytest.mark.parametrize("named", [(), ("--categorical", "zip")])
def test_printed_columns_of_categories_are_those_of_the_model(tmp_path, named):
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
    line = fit(path, *named).stdout.splitlines()[1]
    model = load_fitted(path)
    pairs = zip(model.feature_names_in_, model.categories_, strict=True)
    assert line == "Categories: " + ", ".join(repr(name) for name, categories in pairs if categories is not None)
    assert "'shelf'" in line
    assert "'empty'" in line
    assert "'day'" not in line


def test_one_feature_and_one_row_are_singular(write_text, tmp_path):
    path = write_text({"x": numbers(), "y": numbers()})
    assert fit(path).stdout.splitlines()[0].endswith(": 60 rows, 1 feature")
    one = write_text({"x": ["1.0"]}, "test.csv")
    output = epiboost("predict", tmp_path / "model.epib", one, "-o", tmp_path / "out.csv").stdout
    assert output.startswith("Predicted 1 row and wrote")


@pytest.mark.parametrize(
    ("odd", "shown"),
    [(("?", "", "?"), "'?'"), (("None",), "'None'"), (("a", "b", "c", "d"), "'a', 'b', 'c'. ")],
)
def test_a_text_column_of_mostly_numbers_is_a_warning(write_text, odd, shown):
    result = fit(write_text({"x": numbers(odd), "colour": COLOURS, "y": numbers()}))
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("epiboost: warning: the column 'x' is read as text, though ")
    assert f"not read as numbers: {shown}" in result.stderr
    assert "leave such fields empty" in result.stderr
    assert "--categorical 'x'" in result.stderr


def test_numbers_with_decimal_commas_are_a_warning(write_text):
    commas = [f'"{place // 8},{place % 8}"' for place in range(N)]
    result = fit(write_text({"x": commas, "y": numbers()}))
    assert "60 of its 60 distinct values are numbers; not read as numbers: '0,0', '0,1', '0,2'." in result.stderr
    assert "leave such fields empty and use decimal points" in result.stderr


def test_a_text_target_of_mostly_numbers_is_a_warning(write_text):
    path = write_text({"x": numbers(), "y": ["1", "2", "?"] * 20})
    result = fit(path)
    assert "warning: the column 'y' is read as text, though 2 of its 3 distinct values" in result.stderr
    assert "leave out such rows and use decimal points; if text is meant, give --task classification" in result.stderr
    assert fit(path, "--task", "classification").stderr == ""


def test_text_that_is_requested_is_no_warning(write_text):
    path = write_text({"x": numbers(("?",)), "colour": COLOURS, "code": ["1", "a", "b"] * 20, "y": numbers()})
    assert fit(path, "--categorical", "x").stderr == ""
    assert fit(path, "--ignore", "x").stderr == ""


def test_text_of_a_parquet_file_is_no_warning(tmp_path):
    path = tmp_path / "train.parquet"
    parquet.write_table(arrow_table({"x": numbers(("?",)), "y": np.arange(N) / 7}), path)
    assert fit(path).stderr == ""
