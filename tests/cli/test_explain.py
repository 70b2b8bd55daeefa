"""The command explain writes one Shapley value per row and feature."""

import numpy as np
import pytest
from pyarrow import csv

from epiboost._cli.explain import write_values
from epiboost.explain import Attribution
from tests.support.command_line import epiboost

pytest.importorskip("shap", reason="explanations need shap")


@pytest.mark.parametrize("measure", ["knowledge", "mean"])
def test_the_command_explains_rows(model_folder, measure):
    values, picture = model_folder / "why.csv", model_folder / "why.png"
    options = ("--measure", measure, "--background", model_folder / "test.csv", "-o", values, "--plot", picture)
    ended = epiboost("explain", model_folder / "regressor.epib", model_folder / "rows.csv", *options)
    assert ended.exit_code == 0, ended.stderr
    table = csv.read_csv(values).to_pandas()
    assert list(table) == [measure, "base", "size", "age", "town"]
    np.testing.assert_allclose(table[["base", "size", "age", "town"]].sum(axis=1), table[measure], rtol=1e-6)
    assert "Most important features: size" in ended.stdout
    assert "compared with each other" not in ended.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_explains_the_score_of_a_class_in_groups(model_folder):
    values = model_folder / "why.csv"
    options = ("--measure", "score", "--label", "low", "--groups", "correlated", "-o", values)
    background = ("--background", model_folder / "test.csv")
    ended = epiboost("explain", model_folder / "classifier.epib", model_folder / "rows.csv", *options, *background)
    assert ended.exit_code == 0, ended.stderr
    table = csv.read_csv(values).to_pandas()
    np.testing.assert_allclose(table.iloc[:, 1:].sum(axis=1), table["score"], rtol=1e-6)


def test_without_background_rows_are_compared_with_each_other(model_folder):
    ended = epiboost(
        "explain", model_folder / "regressor.epib", model_folder / "rows.csv", "-o", model_folder / "why.csv"
    )
    assert ended.exit_code == 0, ended.stderr
    assert "compared with each other" in ended.stdout
    assert "--background" in ended.stdout


def test_features_named_like_other_columns_keep_their_values(tmp_path):
    names = ("knowledge", "value of knowledge", "base", "c")
    values = np.random.default_rng(0).normal(size=(3, 4))
    found = Attribution(values, np.ones(3), np.zeros((3, 4)), names, measure="knowledge", unit="nats")
    write_values(found, tmp_path / "why.csv")
    table = csv.read_csv(tmp_path / "why.csv").to_pandas()
    assert table.shape == (3, 6)
    np.testing.assert_allclose(table.iloc[:, 1:].sum(axis=1), table["knowledge"], rtol=1e-6)
    np.testing.assert_allclose(table["value of knowledge"], found.values[:, 1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("explain", "regressor.epib", "test.csv", "-o", "a.txt"), "must end in .csv, .tsv, .jsonl, .ndjson, .parquet"),
        (("explain", "regressor.epib", "test.csv", "-o", "a.csv", "--plot", "a.txt"), "must end in .png, .svg or .pdf"),
        (("explain", "regressor.epib", "test.csv", "-o", "a.csv", "--label", "x"), "this model is a regressor"),
        (
            ("explain", "classifier.epib", "test.csv", "-o", "a.csv", "--measure", "mean", "--label", "x"),
            "--label must be one of 'high', 'low'; got 'x'",
        ),
    ],
)
def test_errors_are_one_line(model_folder, arguments, words):
    endings = (".csv", ".epib", ".html", ".txt")
    named = [model_folder / argument if argument.endswith(endings) else argument for argument in arguments]
    ended = epiboost(*named)
    assert ended.exit_code == 2
    assert ended.stderr.count("\n") == 1
    assert words in ended.stderr
