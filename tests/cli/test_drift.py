"""The command drift tests a batch of rows against the training rows that a model keeps, or against a table."""

import json

import pytest

from epiboost import load
from epiboost.decisions import DomainDetector
from tests.support.command_line import assert_one_line, epiboost
from tests.support.models import small_regressor
from tests.support.report_tables import FRAME, HELD_OUT, LAST, OTHER, PRICE, TRAIN

MOVED = FRAME[HELD_OUT].assign(age=FRAME["age"][HELD_OUT] + 1.0)
"""Rows in which one column has moved."""


@pytest.fixture
def folder(model_folder):
    """Return a folder with models and batches."""
    small_regressor(out_of_fold=3).fit(FRAME[TRAIN], PRICE[TRAIN]).save(model_folder / "measured.epib")
    small_regressor(reference_rows=0).fit(FRAME[TRAIN], PRICE[TRAIN]).save(model_folder / "forgetful.epib")
    MOVED.to_csv(model_folder / "moved.csv", index=False)
    FRAME[LAST].to_csv(model_folder / "last.csv", index=False)
    return model_folder


@pytest.fixture
def drift(folder):
    """Return a function that runs the command on files of the folder and returns its result and its JSON."""

    def _drift(*arguments):
        endings = (".csv", ".epib", ".json", ".parquet")
        named = [folder / word if str(word).endswith(endings) else word for word in arguments]
        ended = epiboost("drift", *named, "--json", folder / "out.json")
        written = folder / "out.json"
        return ended, json.loads(written.read_text()) if ended.exit_code != 2 else None

    return _drift


def test_a_batch_that_moved_is_found_and_its_column_named(drift):
    ended, written = drift("regressor.epib", "moved.csv")
    assert ended.exit_code == 0, ended.stderr
    assert written["p_value"] < 0.01
    assert written["columns"][0]["name"] == "age"
    assert written["n_rows"] == 150
    assert "training rows that the model keeps" in ended.stdout


def test_a_batch_without_drift_is_not_found(drift):
    ended, written = drift("regressor.epib", "last.csv", "--fail-on-drift", 0.01)
    assert ended.exit_code == 0, ended.stderr
    assert written["p_value"] > 0.05


@pytest.mark.parametrize(("model", "measure"), [("regressor", "novelty"), ("measured", "combined")])
def test_the_test_is_that_of_the_library(folder, drift, model, measure):
    detector = DomainDetector(load(folder / f"{model}.epib"), measure=measure).fit()
    expected = detector.drift(MOVED)
    ended, written = drift(f"{model}.epib", "moved.csv")
    assert (written["p_value"], written["n_rows"]) == (expected.p_value, expected.n_rows)
    assert written["share_outside"] == expected.share_outside
    assert written["n_reference"] == len(detector.compared_.reference)
    columns = [(column.name, column.effect, column.p_value, column.p_value_alone) for column in expected.columns]
    assert [tuple(column.values()) for column in written["columns"]] == columns
    for name, effect, p_value, _ in columns:
        (line,) = (line for line in ended.stdout.splitlines() if f" {name} " in line)
        assert f" {effect:.2f} " in line
        assert f" {p_value:.3g} " in line
    assert f"p-value {expected.p_value:.3g}\n" in ended.stdout
    assert f"Out of domain: {100 * expected.share_outside:.1f} % of the rows" in ended.stdout


def test_a_reference_table_takes_the_place_of_the_training_rows(folder, drift):
    detector = DomainDetector(load(folder / "measured.epib")).fit(FRAME[HELD_OUT])
    ended, written = drift("measured.epib", "last.csv", "--reference", "rows.csv")
    assert ended.exit_code == 0, ended.stderr
    assert written["p_value"] == detector.drift(FRAME[LAST]).p_value
    assert f"compared with 150 rows of {folder / 'rows.csv'}" in ended.stdout
    assert "(total uncertainty)" in {column["name"] for column in written["columns"]}


def test_a_model_that_keeps_no_training_rows_needs_a_reference(drift):
    ended, _ = drift("forgetful.epib", "moved.csv")
    assert_one_line(ended, "keeps no training rows", "--reference-rows 0", "give --reference")
    ended, written = drift("forgetful.epib", "moved.csv", "--reference", "last.csv")
    assert ended.exit_code == 0, ended.stderr
    assert written["p_value"] < 0.05


def test_few_columns_are_printed_if_asked_for_and_all_are_written(drift):
    ended, written = drift("regressor.epib", "moved.csv", "--top", 1)
    assert "age" in ended.stdout
    assert "size" not in ended.stdout
    assert "(1 of 3)" in ended.stdout
    assert len(written["columns"]) == 3


@pytest.mark.parametrize(
    ("batch", "alpha", "code"), [("moved.csv", 0.05, 3), ("moved.csv", 0.001, 3), ("last.csv", 0.05, 0)]
)
def test_drift_is_an_exit_code_on_request(drift, batch, alpha, code):
    ended, written = drift("regressor.epib", batch, "--fail-on-drift", alpha)
    assert ended.exit_code == code
    assert (written["p_value"] <= alpha) == (code == 3)
    assert not ended.stderr


@pytest.mark.parametrize("model", ["regressor", "measured"])
def test_the_most_foreign_rows_are_explained_by_their_columns(folder, drift, model):
    batch = FRAME[HELD_OUT].reset_index(drop=True)
    batch.loc[16, ["size", "town"]] = OTHER.iloc[0][["size", "town"]]
    batch.to_csv(folder / "batch.csv", index=False)
    ended, written = drift(f"{model}.epib", "batch.csv", "--rows", 3)
    assert ended.exit_code == 0, ended.stderr
    first, *others = written["rows"]
    assert len(others) == 2
    assert (first["row"], first["is_outside"]) == (17, True)
    assert set(list(first["columns"])[:2]) == {"size", "town"}
    for row in written["rows"]:
        assert row["score"] == pytest.approx(sum(row["columns"].values()) + row["uncertainty"])
        assert list(row["columns"].values()) == sorted(row["columns"].values(), reverse=True)
    assert "size = 9" in ended.stdout
    assert "town = elsewhere" in ended.stdout
    assert ("uncertainty" in ended.stdout) == (model == "measured")


def test_brackets_in_names_and_values_are_printed(folder, drift):
    names = {"town": "[red]town"}
    small_regressor().fit(FRAME[TRAIN].rename(columns=names), PRICE[TRAIN]).save(folder / "brackets.epib")
    FRAME[LAST].assign(town="[b]x").rename(columns=names).to_csv(folder / "batch.csv", index=False)
    ended, _ = drift("brackets.epib", "batch.csv", "--rows", 1)
    assert "[red]town = [b]x" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("regressor.epib", "nowhere.csv"), "no such file"),
        (("regressor.epib", "wrong.csv"), "lacks 3 columns"),
        (("regressor.epib", "moved.csv", "--reference", "wrong.csv"), "lacks 3 columns"),
        (("regressor.epib", "moved.csv", "--reference", "few.csv"), "needs at least 19 rows"),
        (("regressor.epib", "moved.csv", "--fail-on-drift", "0.0001"), "at least 0.001, the smallest p-value"),
        (("regressor.epib", "moved.csv", "--fail-on-drift", "1"), "below 1; got 1"),
    ],
)
def test_errors_are_one_line(folder, drift, arguments, words):
    (folder / "wrong.csv").write_text("weather\n1\n")
    FRAME[:10].to_csv(folder / "few.csv", index=False)
    ended, _ = drift(*arguments)
    assert_one_line(ended, words)


def test_an_input_is_not_overwritten(folder):
    ended = epiboost("drift", folder / "regressor.epib", folder / "rows.csv", "--json", folder / "rows.csv")
    assert_one_line(ended, "it is an input of this command")
