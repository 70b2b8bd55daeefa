"""Durations on the command line: --event trains a survival model, and commands without metrics of it refuse it."""

import numpy as np
import pytest
from pyarrow import csv

from epiboost import EpiBoostSurvivalRegressor
from tests.support.command_line import SMALL, assert_one_line, epiboost
from tests.support.durations import events


@pytest.fixture
def durations(rows, write):
    """Return columns and the path of their table."""
    columns = {"size": rows["size"], "days": np.exp(rows["price"]), "died": rows["age"] > 0}
    return columns, write("train.csv", columns)


def fit(path, tmp_path, *options):
    model = tmp_path / "model.epib"
    return epiboost("fit", path, "--target", "days", "--event", "died", "-o", model, *SMALL, *options), model


def test_an_event_column_trains_a_model_of_durations(durations, tmp_path):
    columns, path = durations
    result, model = fit(path, tmp_path, "--valid", path)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Survival analysis of 'days' (--event tells")
    found = EpiBoostSurvivalRegressor.load(model)
    assert list(found.feature_names_in_) == ["size"]
    expected = EpiBoostSurvivalRegressor(n_members=3, n_estimators=8, random_state=0)
    expected.fit(columns["size"][:, np.newaxis], events(columns["days"], columns["died"]))
    assert epiboost("predict", model, path, "--coverage", "0.9", "-o", tmp_path / "out.csv").exit_code == 0
    predicted = csv.read_csv(tmp_path / "out.csv").to_pydict()
    np.testing.assert_allclose(predicted["prediction"], expected.predict(columns["size"][:, np.newaxis]), rtol=1e-6)
    assert (np.array(predicted["lower"]) < predicted["prediction"]).all()


def test_ones_and_zeros_are_events_too(durations, write, tmp_path):
    columns, _ = durations
    path = write("numbers.csv", {**columns, "died": columns["died"].astype(int)})
    result, _ = fit(path, tmp_path)
    assert result.exit_code == 0, result.output


def test_columns_that_are_no_events_or_durations_are_refused(durations, write, tmp_path):
    columns, path = durations
    other = write("other.csv", {**columns, "died": np.arange(200)})
    assert_one_line(fit(other, tmp_path)[0], "--event must name a column of true and false", "'died' is none")
    assert_one_line(fit(path, tmp_path, "--task", "classification")[0], "--event is for durations")
    text = write("text.csv", {**columns, "days": ["long"] * 200})
    assert_one_line(fit(text, tmp_path)[0], "the target must be a column of numbers: the durations")


@pytest.mark.parametrize("command", ["evaluate", "calibrate", "report"])
def test_commands_without_metrics_of_durations_refuse_the_model(durations, tmp_path, command):
    _, path = durations
    _, model = fit(path, tmp_path)
    output = () if command == "evaluate" else ("-o", tmp_path / ("out.html" if command == "report" else "out.epib"))
    result = epiboost(command, model, path, *output)
    assert_one_line(result, f"epiboost {command} does not take models of durations", "concordance_score")
