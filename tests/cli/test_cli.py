"""The command line does what it says, and says what went wrong in one line."""

import datetime as dt
import importlib.metadata
import inspect
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._cli import commands, demo

SMALL = ("--members", "3", "--trees", "8", "--seed", "0")
EPIBOOST = (sys.executable, "-c", "from epiboost._cli.main import main; main()")
FOR_MINUTES = ("--members", "10", "--trees", "20000")


def epiboost(*arguments):
    return CliRunner().invoke(commands.app, [str(argument) for argument in arguments], catch_exceptions=False)


def subprocess_of_epiboost(*arguments, **options):
    return subprocess.Popen([*EPIBOOST, *map(str, arguments)], text=True, **options)


def read(path):
    return {name: column.to_numpy() for name, column in zip(*_named_columns(path), strict=True)}


def _named_columns(path):
    table = csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)
    return table.column_names, table.columns


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    size = rng.normal(size=200)
    age = rng.integers(0, 4, size=200)
    price = size + (age == 0) + 0.1 * rng.normal(size=200)
    return {
        "name": [f"row {number}" for number in range(200)],
        "age": age,
        "size": size,
        "price": price,
        "grade": np.where(price > 0, "high", "low"),
        "sold": (price > 0).astype(int),
        "rare": price > 1,
        "rooms": np.clip(np.round(price + 3), 0, 5).astype(int),
        "importance": rng.uniform(0.5, 1.5, size=200),
    }


@pytest.fixture
def write(tmp_path):
    def _write(name, columns):
        table = pa.table(columns)
        path = tmp_path / name
        if path.suffix == ".csv":
            csv.write_csv(table, path)
        else:
            parquet.write_table(table, path)
        return path

    return _write


@pytest.fixture
def train(rows, write):
    return write("train.csv", {name: rows[name] for name in ("age", "size", "price")})


@pytest.fixture
def model(train, tmp_path):
    path = tmp_path / "model.epib"
    assert epiboost("fit", train, "--target", "price", "-o", path, *SMALL).exit_code == 0
    return path


def assert_one_line(result, *words):
    assert result.exit_code == 1
    assert result.stderr.startswith("epiboost: ")
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("\n")
    for word in words:
        assert word in result.stderr


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_predictions_hold_the_mean_and_the_parts_of_the_uncertainty(rows, write, tmp_path, ending):
    train = write(f"train.{ending}", {name: rows[name] for name in ("age", "size", "price")})
    fitted = epiboost("fit", train, "--target", "price", "-o", tmp_path / "model.epib", *SMALL)
    assert fitted.exit_code == 0
    output = tmp_path / f"out.{ending}"
    assert epiboost("predict", tmp_path / "model.epib", train, "-o", output).exit_code == 0
    found = read(output)
    assert list(found) == ["prediction", "total", "data", "knowledge"]
    assert len(found["prediction"]) == 200
    assert found["total"] == pytest.approx(found["data"] + found["knowledge"])
    assert (found["knowledge"] > 0).any()


def test_predictions_equal_those_of_the_library(rows, train, model, tmp_path):
    epiboost("predict", model, train, "-o", tmp_path / "out.parquet")
    features = pa.table({"age": rows["age"], "size": rows["size"]})
    library = EpiBoostRegressor(n_members=3, n_estimators=8, random_state=0).fit(features, rows["price"])
    uncertainty = library.predict_uncertainty(features)
    found = read(tmp_path / "out.parquet")
    assert found["prediction"] == pytest.approx(library.predict(features))
    assert found["data"] == pytest.approx(uncertainty.data)
    assert found["knowledge"] == pytest.approx(uncertainty.knowledge)


def test_coverage_adds_the_bounds_of_an_interval(train, model, tmp_path):
    assert epiboost("predict", model, train, "-o", tmp_path / "out.csv", "--coverage", 0.8).exit_code == 0
    found = read(tmp_path / "out.csv")
    assert list(found) == ["prediction", "total", "data", "knowledge", "lower", "upper"]
    assert (found["lower"] < found["upper"]).all()


def test_a_classifier_gives_one_probability_a_class(rows, write, tmp_path):
    train = write("train.csv", {name: rows[name] for name in ("age", "size", "grade")})
    assert epiboost("fit", train, "--target", "grade", "-o", tmp_path / "model.epib", *SMALL).exit_code == 0
    assert epiboost("predict", tmp_path / "model.epib", train, "-o", tmp_path / "out.csv").exit_code == 0
    found = read(tmp_path / "out.csv")
    assert list(found) == ["prediction", "total", "data", "knowledge", "probability_high", "probability_low"]
    assert found["probability_high"] + found["probability_low"] == pytest.approx(np.ones(200))
    likelier = np.where(found["probability_high"] >= found["probability_low"], "high", "low")
    assert found["prediction"].tolist() == likelier.tolist()
    assert np.mean(found["prediction"] == rows["grade"]) > 0.9


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
def test_the_task_follows_from_the_target_and_is_said(rows, write, tmp_path, target, task):
    train = write("train.csv", {name: rows[name] for name in ("size", target)})
    result = epiboost("fit", train, "--target", target, "-o", tmp_path / "model.epib", *SMALL)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{task} of '{target}' (the target ")


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_the_task_can_be_chosen(rows, write, tmp_path, task):
    train = write("train.csv", {name: rows[name] for name in ("size", "sold")})
    result = epiboost("fit", train, "--target", "sold", "--task", task, "-o", tmp_path / "model.epib", *SMALL)
    assert result.stdout.startswith(f"{task.capitalize()} of 'sold' (as asked)")
    kind = EpiBoostRegressor if task == "regression" else EpiBoostClassifier
    assert isinstance(kind.load(tmp_path / "model.epib"), kind)


def test_the_weight_column_weighs_and_is_no_feature(rows, write, tmp_path):
    train = write("train.csv", {name: rows[name] for name in ("size", "price", "importance")})
    options = ("--target", "price", "--weight", "importance", *SMALL)
    assert epiboost("fit", train, "-o", tmp_path / "model.epib", *options).exit_code == 0
    found = EpiBoostRegressor.load(tmp_path / "model.epib")
    assert list(found.feature_names_in_) == ["size"]
    features = pa.table({"size": rows["size"]})
    weighed = EpiBoostRegressor(n_members=3, n_estimators=8, random_state=0)
    weighed.fit(features, rows["price"], sample_weight=rows["importance"])
    assert found.predict(features) == pytest.approx(weighed.predict(features))


def test_an_ignored_column_is_no_feature(rows, write, tmp_path):
    train = write("train.csv", {name: rows[name] for name in ("name", "size", "age", "rooms", "price")})
    options = ("--target", "price", "--ignore", "name", "--ignore", "rooms", *SMALL)
    assert epiboost("fit", train, "-o", tmp_path / "model.epib", *options).exit_code == 0
    assert list(EpiBoostRegressor.load(tmp_path / "model.epib").feature_names_in_) == ["size", "age"]


def test_columns_of_a_test_table_are_matched_by_name(rows, write, train, model, tmp_path):
    shuffled = write("test.csv", {name: rows[name] for name in ("name", "price", "size", "age")})
    epiboost("predict", model, train, "-o", tmp_path / "one.csv")
    epiboost("predict", model, shuffled, "-o", tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_text() == (tmp_path / "two.csv").read_text()


def test_defaults_are_those_of_the_estimator():
    estimator = inspect.signature(EpiBoostRegressor).parameters
    options = inspect.signature(commands.fit).parameters
    same = {"ensemble": "ensemble", "members": "n_members", "trees": "n_estimators", "rate": "learning_rate"}
    same |= {"engine": "engine", "depth": "max_depth", "seed": "random_state", "jobs": "n_jobs"}
    for option, parameter in same.items():
        assert options[option].default == estimator[parameter].default


def test_another_engine_trains_and_an_ensemble_it_has_not_is_named(train, tmp_path):
    options = ("--target", "price", "--engine", "forest", *SMALL)
    result = epiboost("fit", train, "-o", tmp_path / "forest.epib", "--ensemble", "sgb", *options)
    assert result.exit_code == 0, result.output
    assert EpiBoostRegressor.load(tmp_path / "forest.epib").engine == "forest"
    result = epiboost("fit", train, "-o", tmp_path / "forest.epib", *options)
    assert result.exit_code == 1
    assert "engine='forest' supports the ensembles 'sgb', 'virtual', 'single'; got ensemble='sglb'" in result.output


def test_version_is_that_of_the_package():
    result = epiboost("--version")
    assert result.exit_code == 0
    assert result.stdout == f"epiboost {importlib.metadata.version('epiboost')}\n"


def test_the_entry_point_is_the_command_line():
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="epiboost")
    assert entry.value == "epiboost._cli.main:main"


def test_demo_measures_both_ensembles_and_says_where_the_picture_is(tmp_path):
    result = epiboost("demo", "-o", tmp_path / "heart.png", "--members", 2, "--trees", 10)
    assert result.exit_code == 0
    assert "sglb" in result.stdout
    assert "virtual" in result.stdout
    assert str(tmp_path / "heart.png") in result.stdout
    assert (tmp_path / "heart.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_ten_members_of_a_thousand_trees_find_the_heart_and_the_noise_around_it(tmp_path):
    found, virtual = demo.run(tmp_path / "heart.png")
    assert found.knowledge_auc == 1.0
    assert found.knowledge_inside > 1000 * found.knowledge_outside
    assert found.data_error < 0.003
    assert virtual.knowledge_auc > 0.97


class TestKnownErrorIsOneLine:
    def test_of_a_file_that_is_not_there(self, tmp_path):
        result = epiboost("fit", tmp_path / "no.csv", "--target", "y", "-o", tmp_path / "model.epib")
        assert_one_line(result, "no.csv", "no such file")

    def test_of_an_ending_that_is_not_known(self, train, model, tmp_path):
        assert_one_line(epiboost("predict", model, train, "-o", tmp_path / "out.xlsx"), "out.xlsx", ".csv or .parquet")

    def test_of_a_broken_table(self, tmp_path):
        (tmp_path / "bad.csv").write_text("x,y\n1,2\n3\n")
        result = epiboost("fit", tmp_path / "bad.csv", "--target", "y", "-o", tmp_path / "model.epib")
        assert_one_line(result, "bad.csv", "Expected 2 columns, got 1")

    def test_of_an_empty_table(self, tmp_path):
        (tmp_path / "bad.csv").write_text("x,y\n")
        result = epiboost("fit", tmp_path / "bad.csv", "--target", "y", "-o", tmp_path / "model.epib")
        assert_one_line(result, "bad.csv", "no rows")

    def test_of_a_target_that_is_not_a_column(self, train, tmp_path):
        result = epiboost("fit", train, "--target", "cost", "-o", tmp_path / "model.epib")
        assert_one_line(result, "train.csv", "'cost'")

    def test_of_an_ignored_column_that_is_not_there(self, train, tmp_path):
        result = epiboost("fit", train, "--target", "price", "--ignore", "cost", "-o", tmp_path / "model.epib")
        assert_one_line(result, "train.csv", "'cost'")

    def test_of_a_target_with_missing_values(self, write, tmp_path):
        train = write("train.csv", {"x": [1, 2, 3], "y": [1.0, None, 2.0]})
        result = epiboost("fit", train, "--target", "y", "-o", tmp_path / "model.epib")
        assert_one_line(result, "'y'", "1 missing value")

    def test_of_a_target_of_dates(self, write, tmp_path):
        train = write("train.parquet", {"x": [1, 2], "y": np.array(["2020-01-01", "2020-01-02"], dtype="M8[s]")})
        result = epiboost("fit", train, "--target", "y", "-o", tmp_path / "model.epib")
        assert_one_line(result, "timestamp")

    def test_of_text_as_a_target_of_regression(self, rows, write, tmp_path):
        train = write("train.csv", {name: rows[name] for name in ("size", "grade")})
        result = epiboost("fit", train, "--target", "grade", "--task", "regression", "-o", tmp_path / "model.epib")
        assert_one_line(result)

    def test_of_a_value_the_library_refuses(self, train, tmp_path):
        result = epiboost("fit", train, "--target", "price", "--rate", -1, "-o", tmp_path / "model.epib")
        assert_one_line(result, "learning_rate", "-1")

    def test_of_a_file_that_is_no_model(self, train, tmp_path):
        assert_one_line(epiboost("predict", train, train, "-o", tmp_path / "out.csv"), "train.csv")

    def test_of_a_model_that_is_not_there(self, train, tmp_path):
        assert_one_line(epiboost("predict", tmp_path / "no.epib", train, "-o", tmp_path / "out.csv"), "no.epib")

    def test_of_columns_the_model_needs(self, write, model, tmp_path):
        test = write("test.csv", {"weather": [1.0]})
        result = epiboost("predict", model, test, "-o", tmp_path / "out.csv")
        assert_one_line(result, "test.csv", "'age', 'size'")

    def test_of_an_interval_of_a_classifier(self, rows, write, tmp_path):
        train = write("train.csv", {name: rows[name] for name in ("size", "sold")})
        epiboost("fit", train, "--target", "sold", "-o", tmp_path / "model.epib", *SMALL)
        options = ("--coverage", 0.9, "-o", tmp_path / "out.csv")
        assert_one_line(epiboost("predict", tmp_path / "model.epib", train, *options), "--coverage")

    def test_of_a_folder_that_is_not_there_and_comes_before_training(self, train, tmp_path):
        result = epiboost("fit", train, "--target", "price", "-o", tmp_path / "no" / "model.epib", *FOR_MINUTES)
        assert_one_line(result, "folder does not exist")

    def test_of_a_picture_that_cannot_be_drawn_and_comes_before_training(self, tmp_path):
        result = epiboost("demo", "-o", tmp_path / "heart.doc", "--trees", FOR_MINUTES[-1])
        assert_one_line(result, "heart.doc", "png")


def test_an_error_leaves_an_older_output_alone(write, model, tmp_path):
    (tmp_path / "out.csv").write_text("precious")
    epiboost("predict", model, write("test.csv", {"weather": [1.0]}), "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "precious"


def test_a_full_disk_is_one_line_and_leaves_nothing_half_written(train, model, tmp_path):
    resource = pytest.importorskip("resource", reason="limits the size of files")
    before = sorted(tmp_path.iterdir())
    limited = subprocess_of_epiboost(
        "predict",
        model,
        train,
        "-o",
        tmp_path / "out.csv",
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    _, complaint = limited.communicate(timeout=60)
    assert limited.returncode == 1
    assert complaint.startswith("epiboost: ")
    assert complaint.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_missing_typer_is_one_line_that_names_the_extra():
    code = "import sys; sys.modules['typer'] = None; from epiboost._cli.main import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "pip install 'epiboost[cli]'" in result.stderr


def test_commands_import_what_is_slow_only_when_they_need_it():
    code = "import sys, epiboost._cli.commands; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    # scikit-learn imports pandas, and that Arrow, where they are installed.
    assert not {"matplotlib", "polars", "epiboost._cli.demo", "epiboost.plots"} & set(result.stdout.split())


def test_an_interrupt_is_one_line_and_leaves_nothing_half_written(write, tmp_path):
    rng = np.random.default_rng(0)
    train = write("train.parquet", {"size": rng.normal(size=50_000), "price": rng.normal(size=50_000)})
    before = sorted(tmp_path.iterdir())
    arguments = ("fit", train, "--target", "price", "-o", tmp_path / "model.epib", *FOR_MINUTES)
    training = subprocess_of_epiboost(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert training.stdout.readline().startswith("Regression")
        time.sleep(0.5)
        training.send_signal(signal.SIGINT)
        _, complaint = training.communicate(timeout=10)
    finally:
        training.kill()
    assert training.returncode == 130
    assert complaint == "epiboost: interrupted\n"
    assert sorted(tmp_path.iterdir()) == before


def test_a_pipe_stays_clean_of_progress(train, tmp_path):
    arguments = ("fit", train, "--target", "price", "-o", tmp_path / "model.epib", *SMALL)
    training = subprocess_of_epiboost(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    words, complaint = training.communicate(timeout=60)
    assert training.returncode == 0
    assert complaint == ""
    assert "\r" not in words
    assert "\x1b" not in words


def test_a_terminal_shows_how_many_trees_are_grown(train, tmp_path):
    pty = pytest.importorskip("pty", reason="makes a terminal")
    arguments = ("fit", train, "--target", "price", "-o", tmp_path / "model.epib", *SMALL)
    controller, terminal = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    training = subprocess_of_epiboost(*arguments, stdout=subprocess.DEVNULL, stderr=terminal, env=environment)
    os.close(terminal)
    shown = _all_of(controller)
    assert training.wait(timeout=60) == 0
    assert "24/24" in shown
    assert "trees" in shown


def _all_of(controller):
    """Read what a terminal shows until the last program on it has left."""
    shown = b""
    try:
        while piece := os.read(controller, 1 << 16):
            shown += piece
    except OSError:  # how Linux says that nobody is left at the other end
        pass
    finally:
        os.close(controller)
    return shown.decode()


def test_an_input_is_never_overwritten(train, model):
    before = train.read_bytes(), model.read_bytes()
    assert_one_line(epiboost("fit", train, "--target", "price", "-o", train, *SMALL), "train.csv", "it is an input")
    assert_one_line(epiboost("predict", model, train, "-o", train), "train.csv", "it is an input")
    assert (train.read_bytes(), model.read_bytes()) == before


def test_a_model_is_not_written_under_the_name_of_a_table(train, tmp_path):
    output = tmp_path / "model.csv"
    assert_one_line(epiboost("fit", train, "--target", "price", "-o", output, *SMALL), "model.csv", ".epib")
    assert not output.exists()


@pytest.mark.parametrize("option", ["--weight", "--ignore"])
def test_the_target_is_nothing_else(train, tmp_path, option):
    fitted = epiboost("fit", train, "--target", "price", option, "price", "-o", tmp_path / "model.epib", *SMALL)
    assert_one_line(fitted, "'price' is the target")


def test_a_table_in_another_encoding_is_refused_by_name(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("größe,price\n1,2\n3,4\n".encode("latin-1"))
    assert_one_line(
        epiboost("fit", path, "--target", "price", "-o", tmp_path / "model.epib", *SMALL), "latin.csv", "UTF-8"
    )


def test_a_missing_column_is_named_beside_those_there_are(train, tmp_path):
    fitted = epiboost("fit", train, "--target", "cost", "-o", tmp_path / "model.epib", *SMALL)
    assert_one_line(fitted, "lacks the column 'cost'", "it has 'age', 'size', 'price'")


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


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_of_dates_is_one_line_that_says_what_to_do(write, tmp_path, ending):
    days = [dt.date(2020, 1, 1 + day % 28) for day in range(60)]
    train = write(f"train.{ending}", {"day": days, "y": list(range(60))})
    result = epiboost("fit", train, "--target", "y", "-o", tmp_path / "model.epib", *SMALL)
    assert_one_line(result, "'day' holds dates", "turn them into numbers")


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
def test_columns_of_numbers_are_categories_where_that_is_asked_for(write, tmp_path, ending):
    zips, y = codes()
    numbers = np.where(zips == "A7", "9", zips).astype(int)
    columns = {"zip": numbers, "city": zips, "y": y}
    train, model = write(f"train.{ending}", columns), tmp_path / "model.epib"
    asked = ("fit", train, "--target", "y", "-o", model, *SMALL)
    assert epiboost(*asked, "--categorical", "zip").exit_code == 0
    assert [vocabulary is not None for vocabulary in EpiBoostRegressor.load(model).vocabularies_] == [True, True]
    assert epiboost("predict", model, train, "-o", tmp_path / "out.parquet").exit_code == 0
    assert_one_line(epiboost(*asked, "--categorical", "zap"), "--categorical names 'zap'", "no feature")
    assert_one_line(epiboost(*asked, "--categorical", "y"), "--categorical names 'y'", "no feature")
