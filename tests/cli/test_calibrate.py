"""The command calibrate writes the calibrated model of the library."""

import pandas as pd
import pytest

from epiboost import EpiBoostRegressor, load
from tests.support.command_line import assert_one_line, epiboost


@pytest.fixture
def cut(shared_folder, tmp_path):
    """Return a function that writes some columns of the test table."""

    def _cut(*names, **more):
        path = tmp_path / "rows.csv"
        pd.read_csv(shared_folder / "test.csv").assign(**more)[list(names)].to_csv(path, index=False)
        return path

    return _cut


def test_the_calibrated_model_is_that_of_the_library(shared_folder, cut, tmp_path):
    rows, output = cut("size", "age", "price"), tmp_path / "calibrated.epib"
    ended = epiboost("calibrate", shared_folder / "regressor.epib", rows, "-o", output, "--seed", 3)
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout == f"Calibrated on 100 rows and wrote {output}\n"
    frame = pd.read_csv(rows)
    model = load(shared_folder / "regressor.epib")
    expected = model.calibrate(frame[["size", "age"]], frame["price"], random_state=3)
    found = load(output)
    assert found.scores_ == pytest.approx(expected.scores_)
    assert found.random_state == 3


def test_a_classifier_is_calibrated_and_its_sets_are_predicted(shared_folder, cut, tmp_path):
    rows = cut(
        "size", "age", "price", "grade", grade=lambda frame: (frame["price"] > 0).map({True: "high", False: "low"})
    )
    output, predicted = tmp_path / "calibrated.epib", tmp_path / "out.csv"
    model = shared_folder / "classifier.epib"
    assert epiboost("calibrate", model, rows, "--target", "grade", "-o", output).exit_code == 0
    assert epiboost("predict", output, rows, "-o", predicted, "--coverage", 0.8, "--guarantee").exit_code == 0
    found = pd.read_csv(predicted)[["in_set_high", "in_set_low"]].to_numpy()
    assert (found == load(output).predict_set(pd.read_csv(rows)[["size", "age"]], 0.8)).all()


def test_the_weight_column_is_not_taken_for_the_target(shared_folder, cut, tmp_path, monkeypatch):
    given, calibrate = {}, EpiBoostRegressor.calibrate

    def with_weights(model, X, y, *, random_state, sample_weight):
        given.update(y=y, sample_weight=sample_weight)
        return calibrate(model, X, y, random_state=random_state)

    monkeypatch.setattr(EpiBoostRegressor, "calibrate", with_weights)
    rows = cut("size", "age", "price", "w", w=lambda frame: frame["size"].abs())
    options = ("--weight", "w", "-o", tmp_path / "calibrated.epib")
    assert epiboost("calibrate", shared_folder / "regressor.epib", rows, *options).exit_code == 0
    frame = pd.read_csv(rows)
    assert given["sample_weight"] == pytest.approx(frame["w"])
    assert given["y"] == pytest.approx(frame["price"])


def test_errors_are_one_line_and_nothing_is_written(shared_folder, cut, tmp_path):
    model, output = shared_folder / "regressor.epib", tmp_path / "calibrated.epib"
    rows = cut("size", "age", "price", "code")
    ended = epiboost("calibrate", model, rows, "-o", output)
    assert_one_line(ended, "'price', 'code' beside the features; give the target with --target")
    ended = epiboost("calibrate", model, rows, "-o", output, "--target", "prize")
    assert_one_line(ended, "lacks the column 'prize'", "did you mean 'price'?")
    assert_one_line(epiboost("calibrate", model, rows, "-o", tmp_path / "a.jsonl.gz"), "use .epib")
    assert_one_line(epiboost("calibrate", model, rows, "-o", "-"), "only tables are written there")
    assert sorted(tmp_path.iterdir()) == [rows]


def test_groups_and_both_ends_are_options(shared_folder, cut, tmp_path):
    rows, output = (
        cut("size", "age", "price", size=lambda frame: (frame["size"] > 0).astype(float)),
        tmp_path / "c.epib",
    )
    model = shared_folder / "regressor.epib"
    assert epiboost("calibrate", model, rows, "-o", output, "--asymmetric", "--groups", "size").exit_code == 0
    frame = pd.read_csv(rows)
    expected = load(model).calibrate(frame[["size", "age"]], frame["price"], groups="size", symmetric=False)
    intervals = load(output).predict_interval(frame[["size", "age"]], 0.8)
    assert intervals == pytest.approx(expected.predict_interval(frame[["size", "age"]], 0.8))
    assert_one_line(epiboost("calibrate", model, rows, "-o", output, "--groups", "town"), "town")


def test_options_of_the_other_kind_are_refused(shared_folder, cut, tmp_path):
    rows, output = cut("size", "age", "price"), tmp_path / "calibrated.epib"
    ended = epiboost("calibrate", shared_folder / "regressor.epib", rows, "-o", output, "--per-class")
    assert ended.exit_code == 2
    assert "--per-class is not for a regressor" in ended.stderr
    assert not output.exists()
