"""The command line trains families of distributions, and its other commands take such models."""

import json

import numpy as np
import pytest
from pyarrow import csv

from epiboost import load
from epiboost._boosting.objectives import number_families
from epiboost._cli.training_parameters import PARAMETERS
from tests.support.command_line import SMALL, assert_one_line, epiboost


@pytest.fixture
def counts(rows, write):
    mean = np.exp(0.5 + rows["size"])
    drawn = np.random.default_rng(0).poisson(mean).astype(int)
    return write("counts.csv", {"size": rows["size"], "age": rows["age"], "visits": drawn})


@pytest.fixture
def fitted(counts, tmp_path):
    model = tmp_path / "model.epib"
    result = epiboost("fit", counts, "--target", "visits", "--distribution", "poisson", *SMALL, "-o", model)
    assert result.exit_code == 0
    assert "Distribution: poisson" in result.output
    return model


def test_the_help_names_every_family():
    (option,) = [parameter for parameter in PARAMETERS if parameter.name == "distribution"]
    for name in (*number_families(), "auto"):
        assert name in option.help


def test_a_model_of_counts_predicts_whole_intervals(fitted, counts, tmp_path):
    output = tmp_path / "predictions.csv"
    epiboost("predict", fitted, counts, "--coverage", "0.8", "--quantile", "0.5", "-o", output)
    predicted = csv.read_csv(output).to_pydict()
    assert list(predicted) == ["prediction", "total", "data", "knowledge", "novelty", "lower", "upper", "quantile_0.5"]
    assert min(predicted["prediction"]) > 0.0
    for column in ("lower", "upper", "quantile_0.5"):
        assert np.array_equal(predicted[column], np.round(predicted[column]))


def test_the_evaluation_has_likelihood_and_coverage(fitted, counts, tmp_path):
    figures = tmp_path / "figures.json"
    result = epiboost("evaluate", fitted, counts, "--target", "visits", "--json", figures)
    assert result.exit_code == 0
    found = json.loads(figures.read_text())["figures"]
    table = csv.read_csv(counts)
    y = table["visits"].to_numpy()
    posterior = load(fitted).predict_posterior(table.drop_columns("visits"))
    assert found["negative_log_likelihood"] == pytest.approx(-posterior.logpdf(y).mean())
    assert 0.0 <= found["coverage"] <= 1.0
    assert found["crps"] > 0.0


def test_the_report_names_the_family(fitted, counts, tmp_path):
    page = tmp_path / "page.html"
    result = epiboost("report", fitted, counts, "--target", "visits", "--no-explain", "-o", page)
    assert result.exit_code == 0
    assert "poisson" in page.read_text()


def test_auto_prints_what_it_has_compared(counts, tmp_path):
    fit = ("fit", counts, "--target", "visits", "--distribution", "auto", *SMALL, "-o", tmp_path / "model.epib")
    result = epiboost(*fit)
    assert result.exit_code == 0
    assert "out-of-fold likelihood" in result.output
    assert load(tmp_path / "model.epib").family_choice_.losses


def test_a_wrong_family_is_one_line_with_the_option(counts, tmp_path):
    fit = ("fit", counts, "--target", "visits", "-o", tmp_path / "model.epib", "--distribution")
    assert_one_line(epiboost(*fit, "gauss"), "--distribution", "'poisson'")
    assert_one_line(epiboost(*fit, "gamma"), "gamma", "numbers above 0")


def test_a_count_of_two_values_is_a_regression_if_a_family_is_given(rows, write, tmp_path):
    table = write("rare.csv", {"size": rows["size"], "events": rows["sold"]})
    fit = ("fit", table, "--target", "events", "--distribution", "poisson", *SMALL, "-o", tmp_path / "model.epib")
    assert "Regression of 'events' (--distribution is for numbers)" in epiboost(*fit).output
