"""Every parameter of the estimators is an option of fit, and errors name options."""

import inspect
from typing import get_args

import pandas as pd
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor, load
from epiboost._boosting.recipe import EnsembleKind
from epiboost._cli.parameter_options import name_options
from epiboost._cli.training_parameters import PARAMETERS, WITHOUT_OPTION
from tests.support.command_line import SMALL, assert_one_line, epiboost

OPTIONS = {parameter.name: parameter for parameter in PARAMETERS}
ESTIMATORS = (EpiBoostRegressor, EpiBoostClassifier)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_has_an_option_or_a_reason_for_none(estimator):
    for name, parameter in inspect.signature(estimator).parameters.items():
        assert (name in OPTIONS) != (name in WITHOUT_OPTION), f"add {name!r} to _cli/training_parameters.py"
        if name in OPTIONS:
            assert OPTIONS[name].default == parameter.default


def test_every_option_is_a_parameter_of_an_estimator():
    known = {name for estimator in ESTIMATORS for name in inspect.signature(estimator).parameters}
    assert {*OPTIONS, *WITHOUT_OPTION} <= known


def test_ensembles_are_those_of_the_library():
    assert set(OPTIONS["ensemble"].words) == set(get_args(EnsembleKind))


def test_options_reach_the_model(train, tmp_path):
    given = {
        "ensemble": ("sgb", "sgb"),
        "n_members": ("2", 2),
        "n_estimators": ("6", 6),
        "learning_rate": ("0.5", 0.5),
        "max_depth": ("none", None),
        "max_leaves": ("7", 7),
        "subsample": ("0.7", 0.7),
        "l2": ("1", 1.0),
        "max_bins": ("31", 31),
        "temperature": ("2", 2.0),
        "random_strength": ("0", 0.0),
        "variance_guard": ("0.5", 0.5),
        "structure_rows": ("none", None),
        "min_samples_leaf": ("2", 2),
        "max_features": ("0.9", 0.9),
        "monotonic_constraints": ("{}", {}),
        "interaction_constraints": ("pairwise", "pairwise"),
        "early_stopping_rounds": ("5", 5),
        "out_of_fold": ("3", 3),
        "reference_rows": ("50", 50),
        "engine": ("native", "native"),
        "engine_params": ("{}", {}),
        "n_jobs": ("1", 1),
        "random_state": ("7", 7),
    }
    assert {*given, "keep_folds"} <= set(OPTIONS)
    options = [word for name, (text, _) in given.items() for word in (OPTIONS[name].option, text)]
    output = tmp_path / "model.epib"
    result = epiboost("fit", train, "--target", "price", "-o", output, *options, "--keep-folds", "--valid", train)
    assert result.exit_code == 0, result.output
    found = load(output).get_params()
    expected = {name: value for name, (_, value) in given.items()} | {"keep_folds": True}
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("parameter", [p for p in PARAMETERS if p.short], ids=lambda p: p.name)
def test_short_names_stand_for_the_same_parameter(train, tmp_path, parameter):
    result = epiboost("fit", train, "--target", "price", "-o", tmp_path / "m.epib", parameter.short, "x")
    assert result.exit_code == 2
    assert parameter.option in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--max-depth", 99), "--max-depth must be"),
        (("--n-members", 0), "--n-members must be"),
        (("--l2", -1), "--l2 must be"),
        (("--subsample", "nan"), "--subsample must be"),
        (("--out-of-fold", 1), "--out-of-fold must be"),
        (("--reference-rows", -1), "--reference-rows must be"),
        (("--random-state", -1), "--random-state must be"),
        (("--engine-params", "[1]"), "--engine-params must be"),
        (("--early-stopping", "no", "--early-stopping-rounds", 5), "contradicts --early-stopping-rounds"),
        (("--ensemble", "virtual", "--n-members", 9, "--n-estimators", 8), "--n-members 9 is more than that"),
    ],
)
def test_a_value_out_of_range_is_one_line_that_names_the_option(train, tmp_path, options, words):
    output = tmp_path / "model.epib"
    assert_one_line(epiboost("fit", train, "--target", "price", "-o", output, *options), words)
    assert not output.exists()


@pytest.mark.parametrize(
    ("option", "text", "allowed"),
    [
        ("--max-depth", "deep", "must be auto, none or a whole number; got 'deep'"),
        ("--l2", "much", "must be a number; got 'much'"),
        ("--engine-params", "a=1", "must be none or JSON; got 'a=1'"),
        ("--ensemble", "choir", "'choir' is not one of"),
    ],
)
def test_a_value_of_another_type_names_the_option_and_what_is_allowed(train, tmp_path, option, text, allowed):
    result = epiboost("fit", train, "--target", "price", "-o", tmp_path / "model.epib", option, text)
    assert result.exit_code == 2
    message = " ".join(result.stderr.replace("│", " ").split())
    assert f"Invalid value for '{option}'" in message
    assert allowed in message


def test_an_option_of_the_other_task_is_refused(rows, write, tmp_path):
    train = write("train.csv", {name: rows[name] for name in ("size", "grade")})
    options = ("--target", "grade", "-o", tmp_path / "model.epib", *SMALL)
    assert_one_line(epiboost("fit", train, *options, "--variance-guard", 2), "--variance-guard is not for this task")
    assert epiboost("fit", train, *options, "--variance-guard", 1).exit_code == 0


def test_weights_of_text_are_one_line_that_names_the_option(rows, write, tmp_path):
    train = write("train.csv", {name: rows[name] for name in ("size", "grade", "price")})
    ended = epiboost("fit", train, "--target", "price", "--weight", "grade", "-o", tmp_path / "model.epib")
    assert_one_line(ended, "--weight must hold numbers")


def test_ordinary_words_stay_in_messages():
    message = "the engine has no temperature; this ensemble of 3 members has keep_folds=False"
    assert name_options(message) == "the engine has no temperature; this ensemble of 3 members has --keep-folds False"


def test_rows_of_a_validation_table_stop_the_chains(rows, write, tmp_path):
    names = ("size", "age", "price", "importance")
    train = write("train.csv", {name: rows[name][:100] for name in names})
    valid = write("valid.parquet", {name: rows[name][100:] for name in names[::-1]})
    options = ("--target", "price", "--weight", "importance", "--trees", 60, "--early-stopping-rounds", 3)
    output = tmp_path / "model.epib"
    found = epiboost("fit", train, "-o", output, *options, "--members", 2, "--valid", valid, "--seed", 0)
    assert found.exit_code == 0, found.output
    model = load(output)
    assert model.evaluation_loss_ is not None
    assert model.n_iter_.max() < 60
    X, y, weights = ({name: rows[name] for name in ("size", "age")}, rows["price"], rows["importance"])
    frame = pd.DataFrame(X)
    library = EpiBoostRegressor(n_members=2, n_estimators=60, early_stopping_rounds=3, random_state=0)
    library.fit(frame[:100], y[:100], weights[:100], (frame[100:], y[100:], weights[100:]))
    assert model.predict(frame) == pytest.approx(library.predict(frame))


def test_categories_that_look_like_numbers_in_the_validation_table_are_text(write_text, tmp_path):
    train = write_text({"zip": ["007", "a"] * 30, "y": [str(row % 7 / 2) for row in range(60)]})
    valid = write_text({"zip": ["007", "008"], "y": ["1.5", "2.5"]}, "valid.csv")
    output = tmp_path / "model.epib"
    assert epiboost("fit", train, "--target", "y", "-o", output, *SMALL, "--valid", valid).exit_code == 0
    assert load(output).evaluation_loss_ is not None


def test_rows_of_one_group_are_in_one_fold(rows, write, tmp_path):
    patient = [f"{row // 50}" for row in range(200)]
    train = write("train.csv", {"size": rows["size"], "price": rows["price"], "patient": patient})
    output = tmp_path / "model.epib"
    options = ("--target", "price", "--groups", "patient", "--out-of-fold", 4, *SMALL)
    assert epiboost("fit", train, "-o", output, *options).exit_code == 0
    model = load(output)
    assert list(model.feature_names_in_) == ["size"]
    frame = pd.DataFrame({"size": rows["size"]})
    library = EpiBoostRegressor(n_members=3, n_estimators=8, random_state=0, out_of_fold=4)
    library.fit(frame, rows["price"], groups=patient)
    assert model.oof_loss_ == pytest.approx(library.oof_loss_)
    library.fit(frame, rows["price"])
    assert model.oof_loss_ != pytest.approx(library.oof_loss_)
