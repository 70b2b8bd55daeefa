"""The command fit trains the model that its options describe."""

import pyarrow as pa
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from tests.support.command_line import SMALL, assert_one_line, epiboost


@pytest.mark.parametrize(
    ("target", "task"),
    [
        ("price", "Regression"),
        ("rooms", "Regression"),
        ("grade", "Classification"),
        ("sold", "Classification"),
        ("rare", "Classification"),
    ],
)
def test_the_task_follows_from_the_target_and_is_printed(rows, write, tmp_path, target, task):
    train = write("train.csv", {name: rows[name] for name in ("size", target)})
    result = epiboost("fit", train, "--target", target, "-o", tmp_path / "model.epib", *SMALL)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{task} of '{target}' (the target ")


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_the_task_can_be_chosen(rows, write, tmp_path, task):
    train = write("train.csv", {name: rows[name] for name in ("size", "sold")})
    result = epiboost("fit", train, "--target", "sold", "--task", task, "-o", tmp_path / "model.epib", *SMALL)
    assert result.stdout.startswith(f"{task.capitalize()} of 'sold' (as requested)")
    kind = EpiBoostRegressor if task == "regression" else EpiBoostClassifier
    assert isinstance(kind.load(tmp_path / "model.epib"), kind)


def test_the_weight_column_is_used_and_is_not_a_feature(rows, write, tmp_path):
    train = write("train.csv", {name: rows[name] for name in ("size", "price", "importance")})
    options = ("--target", "price", "--weight", "importance", *SMALL)
    assert epiboost("fit", train, "-o", tmp_path / "model.epib", *options).exit_code == 0
    found = EpiBoostRegressor.load(tmp_path / "model.epib")
    assert list(found.feature_names_in_) == ["size"]
    features = pa.table({"size": rows["size"]})
    weighed = EpiBoostRegressor(n_members=3, n_estimators=8, random_state=0)
    weighed.fit(features, rows["price"], sample_weight=rows["importance"])
    assert found.predict(features) == pytest.approx(weighed.predict(features))


def test_an_ignored_column_is_not_a_feature(rows, write, tmp_path):
    train = write("train.csv", {name: rows[name] for name in ("name", "size", "age", "rooms", "price")})
    options = ("--target", "price", "--ignore", "name", "--ignore", "rooms", *SMALL)
    assert epiboost("fit", train, "-o", tmp_path / "model.epib", *options).exit_code == 0
    assert list(EpiBoostRegressor.load(tmp_path / "model.epib").feature_names_in_) == ["size", "age"]


def test_another_engine_trains_and_names_the_ensembles_it_has(train, tmp_path):
    options = ("--target", "price", "--engine", "forest", *SMALL)
    result = epiboost("fit", train, "-o", tmp_path / "forest.epib", "--ensemble", "sgb", *options)
    assert result.exit_code == 0, result.output
    assert EpiBoostRegressor.load(tmp_path / "forest.epib").engine == "forest"
    result = epiboost("fit", train, "-o", tmp_path / "forest.epib", *options)
    assert result.exit_code == 2
    expected = "--engine 'forest' supports the ensembles 'sgb', 'virtual', 'single'; got --ensemble 'sglb'"
    assert expected in result.output


def test_a_model_is_not_written_under_the_name_of_a_table(train, tmp_path):
    output = tmp_path / "model.csv"
    assert_one_line(epiboost("fit", train, "--target", "price", "-o", output, *SMALL), "model.csv", ".epib")
    assert not output.exists()


@pytest.mark.parametrize("option", ["--weight", "--ignore"])
def test_the_target_is_neither_weight_nor_ignored(train, tmp_path, option):
    fitted = epiboost("fit", train, "--target", "price", option, "price", "-o", tmp_path / "model.epib", *SMALL)
    assert_one_line(fitted, "'price' is the target")
