"""The command predict writes what the library predicts."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from epiboost import EpiBoostRegressor, load
from tests.support.command_line import SMALL, assert_one_line, epiboost


def read(path):
    table = csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)
    return {name: column.to_numpy() for name, column in zip(table.column_names, table.columns, strict=True)}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_predictions_hold_the_mean_the_parts_of_the_uncertainty_and_novelty(rows, write, tmp_path, ending):
    train = write(f"train.{ending}", {name: rows[name] for name in ("age", "size", "price")})
    fitted = epiboost("fit", train, "--target", "price", "-o", tmp_path / "model.epib", *SMALL)
    assert fitted.exit_code == 0
    output = tmp_path / f"out.{ending}"
    assert epiboost("predict", tmp_path / "model.epib", train, "-o", output).exit_code == 0
    found = read(output)
    assert list(found) == ["prediction", "total", "data", "knowledge", "novelty"]
    assert len(found["prediction"]) == 200
    assert found["total"] == pytest.approx(found["data"] + found["knowledge"])
    assert (found["knowledge"] > 0).any()


def test_predictions_equal_those_of_the_library(rows, train, model, tmp_path):
    epiboost("predict", model, train, "-o", tmp_path / "out.parquet")
    features = pa.table({"age": rows["age"], "size": rows["size"]})
    library = EpiBoostRegressor(n_members=3, n_estimators=8, random_state=0).fit(features, rows["price"])
    uncertainty = library.predict_uncertainty(features, novelty=True)
    found = read(tmp_path / "out.parquet")
    assert found["prediction"] == pytest.approx(library.predict(features))
    assert found["data"] == pytest.approx(uncertainty.data)
    assert found["knowledge"] == pytest.approx(uncertainty.knowledge)
    assert found["novelty"] == pytest.approx(uncertainty.novelty)


def test_a_model_that_keeps_no_training_rows_has_no_column_of_novelty(train, tmp_path):
    model, output = tmp_path / "model.epib", tmp_path / "out.csv"
    settings = ("--target", "price", "-o", model, *SMALL, "--reference-rows", 0)
    assert epiboost("fit", train, *settings).exit_code == 0
    assert EpiBoostRegressor.load(model).reference_rows_ is None
    assert epiboost("predict", model, train, "-o", output).exit_code == 0
    assert list(read(output)) == ["prediction", "total", "data", "knowledge"]


def test_coverage_adds_the_bounds_of_an_interval(train, model, tmp_path):
    assert epiboost("predict", model, train, "-o", tmp_path / "out.csv", "--coverage", 0.8).exit_code == 0
    found = read(tmp_path / "out.csv")
    assert list(found) == ["prediction", "total", "data", "knowledge", "novelty", "lower", "upper"]
    assert (found["lower"] < found["upper"]).all()


def features_of(path):
    return csv.read_csv(path).select(["size", "age"])


@pytest.mark.parametrize("guarantee", [False, True])
def test_several_coverages_and_quantiles_are_those_of_the_library(shared_folder, tmp_path, guarantee):
    model, table, output = shared_folder / "regressor.epib", shared_folder / "test.csv", tmp_path / "out.csv"
    options = ["--coverage", 0.9, "--coverage", 0.5, "--quantile", 0.25, "--quantile", 0.5]
    options += ["--guarantee"] if guarantee else []
    assert epiboost("predict", model, table, "-o", output, *options).exit_code == 0
    found, library, X = read(output), load(model), features_of(table)
    assert list(found)[5:] == ["lower_0.9", "upper_0.9", "lower_0.5", "upper_0.5", "quantile_0.25", "quantile_0.5"]
    for coverage in (0.9, 0.5):
        ends = np.column_stack([found[f"lower_{coverage}"], found[f"upper_{coverage}"]])
        assert ends == pytest.approx(library.predict_interval(X, coverage, guarantee=guarantee))
    assert found["quantile_0.25"] == pytest.approx(library.predict_quantile(X, 0.25))


@pytest.mark.parametrize("guarantee", [False, True])
def test_coverage_adds_the_prediction_set_of_a_classifier(shared_folder, tmp_path, guarantee):
    model, table, output = shared_folder / "classifier.epib", shared_folder / "test.csv", tmp_path / "out.csv"
    options = ["--coverage", 0.6, *(["--guarantee"] if guarantee else [])]
    assert epiboost("predict", model, table, "-o", output, *options).exit_code == 0
    found = read(output)
    assert list(found)[-2:] == ["in_set_high", "in_set_low"]
    expected = load(model).predict_set(features_of(table), 0.6, guarantee=guarantee)
    assert (np.column_stack([found["in_set_high"], found["in_set_low"]]) == expected).all()
    assert epiboost("predict", model, table, "-o", output, "--coverage", 0.6, "--coverage", 0.9).exit_code == 0
    assert list(read(output))[-2:] == ["in_set_0.9_high", "in_set_0.9_low"]


def test_what_a_model_cannot_predict_is_one_line_with_a_remedy(shared_folder, model_folder, tmp_path):
    table, output = shared_folder / "test.csv", tmp_path / "out.csv"
    ended = epiboost("predict", shared_folder / "classifier.epib", table, "-o", output, "--quantile", 0.5)
    assert_one_line(ended, "--quantile is for regression", "use --coverage")
    rows = model_folder / "rows.csv"
    ended = epiboost("predict", model_folder / "classifier.epib", rows, "-o", output, "--coverage", 0.9)
    assert_one_line(ended, "need out-of-fold chains", "--out-of-fold 4", "epiboost calibrate")
    ended = epiboost("predict", model_folder / "regressor.epib", rows, "-o", output, "--coverage", 0.9, "--guarantee")
    assert_one_line(ended, "--guarantee needs out-of-fold chains", "--keep-folds")
    ended = epiboost("predict", shared_folder / "regressor.epib", table, "-o", output, "--coverage", 1.5)
    assert_one_line(ended, "--coverage", "1.5")
    ended = epiboost("predict", shared_folder / "regressor.epib", table, "-o", output, "--quantile", -0.5)
    assert_one_line(ended, "--quantile", "-0.5")
    assert_one_line(
        epiboost("predict", model_folder / "regressor.epib", rows, "-o", output, "--guarantee"), "--coverage"
    )
    assert not output.exists()


def test_a_classifier_gives_one_probability_per_class(rows, write, tmp_path):
    train = write("train.csv", {name: rows[name] for name in ("age", "size", "grade")})
    assert epiboost("fit", train, "--target", "grade", "-o", tmp_path / "model.epib", *SMALL).exit_code == 0
    assert epiboost("predict", tmp_path / "model.epib", train, "-o", tmp_path / "out.csv").exit_code == 0
    found = read(tmp_path / "out.csv")
    parts = ["total", "data", "knowledge", "novelty"]
    assert list(found) == ["prediction", *parts, "probability_high", "probability_low"]
    assert found["probability_high"] + found["probability_low"] == pytest.approx(np.ones(200))
    likelier = np.where(found["probability_high"] >= found["probability_low"], "high", "low")
    assert found["prediction"].tolist() == likelier.tolist()
    assert np.mean(found["prediction"] == rows["grade"]) > 0.9


def test_columns_of_a_test_table_are_matched_by_name(rows, write, train, model, tmp_path):
    shuffled = write("test.csv", {name: rows[name] for name in ("name", "price", "size", "age")})
    epiboost("predict", model, train, "-o", tmp_path / "one.csv")
    epiboost("predict", model, shuffled, "-o", tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_text() == (tmp_path / "two.csv").read_text()


def test_an_error_leaves_an_older_output_alone(write, model, tmp_path):
    (tmp_path / "out.csv").write_text("precious")
    epiboost("predict", model, write("test.csv", {"weather": [1.0]}), "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "precious"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_of_text_are_categories(write, tmp_path, ending):
    random = np.random.default_rng(0)
    city = random.integers(5, size=400)
    names = [None, "", "Oslo", "Lima", "Rome"]
    columns = {
        "city": [names[number] for number in city],
        "size": random.normal(size=400),
        "y": 1.0 * city + random.normal(scale=0.1, size=400),
    }
    model = tmp_path / "model.epib"
    train = write(f"train.{ending}", columns)
    settings = ("--members", 3, "--trees", 60, "--rate", 0.3, "--seed", 0)
    assert epiboost("fit", train, "--target", "y", "-o", model, *settings).exit_code == 0
    test = write(f"test.{ending}", {"size": [0.0] * 4, "city": [None, "", "Rome", "Atlantis"]})
    assert epiboost("predict", model, test, "-o", tmp_path / "out.parquet").exit_code == 0
    found = read(tmp_path / "out.parquet")
    np.testing.assert_allclose(found["prediction"][:3], [0.0, 1.0, 4.0], atol=0.4)
    assert found["knowledge"][3] > 100 * found["knowledge"][:3].max()


def codes(n=400):
    random = np.random.default_rng(0)
    number = random.integers(6, size=n)
    effect = np.array([0.0, 3.0, 1.0, 5.0, 2.0, 4.0])
    return np.array(["007", "12", "31", "45", "50", "A7"])[number], effect[number] + random.normal(scale=0.1, size=n)


@pytest.mark.parametrize("command", ["predict", "evaluate", "evaluate --ood"])
def test_text_that_looks_like_numbers_in_another_file_is_text(write, tmp_path, command):
    zips, y = codes()
    train, model = write("train.csv", {"zip": zips, "y": y}), tmp_path / "model.epib"
    settings = ("--members", 3, "--trees", 60, "--rate", 0.3, "--seed", 0)
    assert epiboost("fit", train, "--target", "y", "-o", model, *settings).exit_code == 0
    digits = tmp_path / "digits.csv"
    digits.write_text("zip,y\n007,0.0\n45,5.0\n")
    if command == "predict":
        assert epiboost("predict", model, digits, "-o", tmp_path / "out.parquet").exit_code == 0
        np.testing.assert_allclose(read(tmp_path / "out.parquet")["prediction"], [0.0, 5.0], atol=0.4)
    else:
        arguments = (digits,) if command == "evaluate" else (train, "--ood", digits)
        result = epiboost("evaluate", model, *arguments, "--target", "y")
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_numbers_are_categories_with_the_option_categorical(write, tmp_path, ending):
    zips, y = codes()
    numbers = np.where(zips == "A7", "9", zips).astype(int)
    columns = {"zip": numbers, "city": zips, "y": y}
    train, model = write(f"train.{ending}", columns), tmp_path / "model.epib"
    train_command = ("fit", train, "--target", "y", "-o", model, *SMALL)
    assert epiboost(*train_command, "--categorical", "zip").exit_code == 0
    assert [categories is not None for categories in EpiBoostRegressor.load(model).categories_] == [True, True]
    assert epiboost("predict", model, train, "-o", tmp_path / "out.parquet").exit_code == 0
    assert_one_line(epiboost(*train_command, "--categorical", "zap"), "--categorical names 'zap'", "not a feature")
    assert_one_line(epiboost(*train_command, "--categorical", "y"), "--categorical names 'y'", "not a feature")


def test_a_random_forest_is_predicted_and_evaluated_by_its_knowledge(rows, write, tmp_path):
    table = write("train.csv", {name: rows[name] for name in ("size", "price")})
    model, predicted = tmp_path / "model.epib", tmp_path / "predicted.csv"
    options = ("--engine", "forest", "--ensemble", "sgb", "--trees", 5, "--members", 2)
    assert epiboost("fit", table, "--target", "price", "-o", model, *options).exit_code == 0
    assert epiboost("predict", model, table, "-o", predicted).exit_code == 0
    assert predicted.read_text().splitlines()[0] == '"prediction","knowledge","novelty"'
    figures = epiboost("evaluate", model, table, "--target", "price", "--ood", table)
    assert figures.exit_code == 0
    assert "out-of-domain AUC, knowledge" in figures.stdout
    assert "total" not in figures.stdout
