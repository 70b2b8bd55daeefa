"""What cannot be used is an error that says so, and what is merely odd is used."""

import contextlib
import datetime as dt
import signal
import subprocess
import sys
import textwrap
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.exceptions import DataConversionWarning, NotFittedError

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.recipe import Recipe
from epiboost._estimators import base as _base
from epiboost._inputs.table import Dataset
from epiboost.engines.native.engine import NativeEngine

KINDS = ["single", "sgb", "sglb", "virtual"]
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}

every_kind = pytest.mark.parametrize("kind", KINDS)
every_task = pytest.mark.parametrize("task", ["regression", "classification"])
every_frame = pytest.mark.parametrize("library", sorted(FRAMES))

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
NUMBERS = X[:, 0] + RANDOM.normal(scale=0.1, size=60)
LABELS = (NUMBERS > 0.0).astype(int)
ONES = np.ones(60)


def regressor(**parameters):
    return EpiBoostRegressor(**{"n_members": 3, "n_estimators": 10, "n_jobs": 1, "random_state": 0, **parameters})


def classifier(**parameters):
    return EpiBoostClassifier(**{"n_members": 3, "n_estimators": 10, "n_jobs": 1, "random_state": 0, **parameters})


def untrained(task, **parameters):
    return regressor(**parameters) if task == "regression" else classifier(**parameters)


def target(task):
    return NUMBERS if task == "regression" else LABELS


def with_first(values, first):
    return np.concatenate([[first], values[1:]])


def columns(table=X, names="abc"):
    return {name: table[:, place] for place, name in enumerate(names)}


def run_python(code):
    """Run a program of its own, so that a crash is a failed test and not the end of the tests."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120, check=False
    )


# Targets of a regression


@pytest.mark.parametrize(("value", "fault"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_a_target_that_is_not_finite_is_refused(value, fault):
    with pytest.raises(ValueError, match=f"Input y contains {fault}"):
        regressor().fit(X, with_first(NUMBERS, value))


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([pd.NA, *NUMBERS[1:]], dtype="Float64"),
        pl.Series([None, *NUMBERS[1:]]),
        pl.Series([None, *range(59)]),
        np.array([None, *NUMBERS[1:]], dtype=object),
    ],
    ids=["pandas", "polars", "polars integers", "objects"],
)
def test_a_missing_target_is_refused(y):
    with pytest.raises(ValueError, match="Input y contains NaN"):
        regressor().fit(X, y)


@every_kind
@pytest.mark.parametrize("constant", [0.0, 5.0, -3e6, 1e-20, 1e30])
def test_a_constant_target_is_predicted_with_next_to_no_uncertainty(kind, constant):
    model = regressor(ensemble=kind).fit(X, np.full(60, constant))
    size = abs(constant) or 1.0
    np.testing.assert_allclose(model.predict(X), constant, rtol=1e-9, atol=1e-9 * size)
    mean, std = model.predict(10.0 * X, return_std=True)
    np.testing.assert_allclose(mean, constant, rtol=1e-9, atol=1e-9 * size)
    assert std.max() < 1e-8 * size
    assert model.predict_uncertainty(X).knowledge.max() < (1e-9 * size) ** 2


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_a_target_whose_variance_is_no_number_is_refused(scale):
    with pytest.raises(ValueError, match=r"y has a standard deviation of 1\.\d+e[+-]200, .*rescale y"):
        regressor().fit(X, NUMBERS * scale)


@every_kind
@pytest.mark.parametrize("scale", [1e-30, 1e-10, 1e10, 1e30])
def test_a_target_of_any_usual_scale_is_learned_alike(kind, scale):
    plain = regressor(ensemble=kind).fit(X, NUMBERS).predict_posterior(X).parameters
    scaled = regressor(ensemble=kind).fit(X, NUMBERS * scale).predict_posterior(X).parameters
    np.testing.assert_allclose(scaled[..., 0] / scale, plain[..., 0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scaled[..., 1] / scale / scale, plain[..., 1], rtol=1e-4)


@pytest.mark.parametrize("dtype", [int, bool, np.int8, np.uint8, np.float16, np.float32])
def test_a_target_of_any_number_type_is_a_number(dtype):
    y = (10.0 * NUMBERS).round().clip(0, 100).astype(dtype)
    plain = regressor().fit(X, y.astype(np.float64)).predict(X)
    np.testing.assert_array_equal(regressor().fit(X, y).predict(X), plain)


def test_exact_fractions_are_numbers():
    y = [Fraction(1, 3 + i) for i in range(60)]
    np.testing.assert_array_equal(regressor().fit(X, y).predict(X), regressor().fit(X, np.array(y, float)).predict(X))


@pytest.mark.parametrize(
    "y",
    [
        np.full(60, np.datetime64("2020-01-01")) + np.arange(60),
        np.array(["2020-01-01", "NaT"] * 30, dtype="datetime64[D]"),
        np.arange(60).astype("timedelta64[s]"),
        pd.Series(pd.date_range("2020", periods=60)),
        pl.Series([dt.date(2020, 1, 1), dt.date(2020, 1, 2)] * 30),
    ],
    ids=["days", "missing days", "seconds", "pandas", "polars"],
)
def test_dates_are_no_target_of_a_regression(y):
    with pytest.raises((TypeError, ValueError), match=r"\by\b|datetime|timedelta|dates"):
        regressor().fit(X, y)


@pytest.mark.parametrize("y", [["a"] * 60, np.array(["1", "x"] * 30, dtype=object), pl.Series(["a"] * 60)])
def test_text_is_no_target_of_a_regression(y):
    with pytest.raises(ValueError, match="could not convert string to float"):
        regressor().fit(X, y)


@every_task
def test_a_target_with_two_columns_is_refused(task):
    with pytest.raises(ValueError, match=r"y should be a 1d array, got an array of shape \(60, 2\)"):
        untrained(task).fit(X, np.stack([target(task)] * 2, axis=1))


@every_task
def test_a_target_that_is_one_column_is_used_with_a_warning(task):
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = untrained(task).fit(X, target(task)[:, np.newaxis])
    np.testing.assert_array_equal(model.predict(X), untrained(task).fit(X, target(task)).predict(X))


@every_task
def test_a_target_that_is_not_there_is_asked_for(task):
    with pytest.raises(ValueError, match="requires y to be passed"):
        untrained(task).fit(X, None)


@every_task
def test_a_target_of_another_length_is_refused(task):
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[60, 50"):
        untrained(task).fit(X, target(task)[:50])


@every_task
def test_a_complex_target_is_refused(task):
    with pytest.raises(ValueError, match="Complex data not supported"):
        untrained(task).fit(X, target(task) + 1j)


# Labels


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"])[LABELS],
        np.array(["no", "yes"], dtype=object)[LABELS],
        LABELS.astype(bool),
        LABELS.astype(float),
        LABELS.astype(np.uint8) + 7,
        LABELS.tolist(),
        pd.Series(LABELS, dtype="Int64"),
        pd.Series(np.array(["no", "yes"])[LABELS]),
        pd.Series(pd.Categorical(np.array(["no", "yes"])[LABELS])),
        pl.Series(np.array(["no", "yes"])[LABELS]),
        pl.Series(LABELS.astype(bool)),
        pa.chunked_array([np.array(["no", "yes"])[LABELS].tolist()]),
    ],
    ids=["text", "objects", "booleans", "floats", "bytes", "list", "Int64", "pandas", "categories", "polars",
         "polars bool", "pyarrow"],
)  # fmt: skip
def test_labels_of_any_kind_come_back(labels):
    plain = classifier(n_estimators=30).fit(X, LABELS)
    model = classifier(n_estimators=30).fit(X, labels)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.predict(X).tolist() == [model.classes_[number] for number in plain.predict(X)]
    assert set(model.predict(X).tolist()) == set(np.asarray(labels).tolist())


def test_labels_that_have_no_order_are_refused():
    with pytest.raises((TypeError, ValueError), match=r"\by\b|[Ll]abel"):
        classifier().fit(X, np.array([1, "one"], dtype=object)[LABELS])


@pytest.mark.parametrize(
    "labels",
    [
        with_first(LABELS.astype(float), np.nan),
        np.array([None, *["a", "b"] * 29, "a"], dtype=object),
        np.array([np.nan, *["a", "b"] * 29, "a"], dtype=object),
        pd.Series([None, *["a", "b"] * 29, "a"]),
        pd.Series([pd.NA, *["a", "b"] * 29, "a"], dtype="string"),
        pd.Series([pd.NA, *LABELS[1:]], dtype="Int64"),
        pd.Series(pd.Categorical([None, *["a", "b"] * 29, "a"])),
        pl.Series([None, *["a", "b"] * 29, "a"]),
        pl.Series([None, *LABELS[1:].tolist()]),
        pl.Series([None, *LABELS[1:].astype(bool).tolist()]),
        np.array(["NaT", "2020-01-02"], dtype="datetime64[D]")[LABELS],
    ],
    ids=[
        "NaN",
        "None",
        "NaN among text",
        "pandas",
        "NA among text",
        "NA",
        "category",
        "null",
        "null number",
        "null bool",
        "NaT",
    ],
)
def test_a_missing_label_is_refused(labels):
    with pytest.raises(ValueError, match=r"y holds missing labels|Input y contains NaN"):
        classifier().fit(X, labels)


@pytest.mark.parametrize("labels", [NUMBERS, LABELS + 0.5])
def test_numbers_that_are_no_classes_are_refused(labels):
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        classifier().fit(X, labels)


def test_one_class_cannot_be_told_from_another():
    with pytest.raises(ValueError, match=r"only one class is present: .*1"):
        classifier().fit(X, np.ones(60, dtype=int))


def test_one_class_that_weights_leave_is_one_class():
    with pytest.raises(ValueError, match=r"only one class is present: .*1"):
        classifier().fit(X, LABELS, sample_weight=LABELS)


def test_a_class_that_weights_take_away_is_not_learned():
    labels = np.digitize(NUMBERS, [-0.5, 0.5])
    model = classifier().fit(X, labels, sample_weight=(labels != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]
    assert model.predict_proba(X).shape == (60, 2)


# Weights


@every_task
@pytest.mark.parametrize(
    ("weight", "fault"),
    [
        (with_first(ONES, -1.0), r"sample_weight must not be negative; got -1\.0"),
        (-1.0, r"sample_weight must not be negative; got -1\.0"),
        (np.zeros(60), "sample_weight is zero for every row"),
        (with_first(ONES, np.nan), "Input sample_weight contains NaN"),
        (with_first(ONES, np.inf), "Input sample_weight contains infinity"),
        (ONES[:59], r"shape \(60,\); got shape \(59,\)"),
        (np.ones((60, 1)), r"shape \(60,\); got shape \(60, 1\)"),
        (np.ones((60, 2)), r"shape \(60,\); got shape \(60, 2\)"),
        (ONES + 1j, "Complex data not supported"),
        (["a"] * 60, "could not convert string to float"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(task, weight, fault):
    with pytest.raises(ValueError, match=fault):
        untrained(task).fit(X, target(task), sample_weight=weight)


@every_task
def test_one_weight_for_all_is_that_weight_for_each(task):
    each = untrained(task).fit(X, target(task), sample_weight=np.full(60, 2)).predict_posterior(X).parameters
    once = untrained(task).fit(X, target(task), sample_weight=2).predict_posterior(X).parameters
    np.testing.assert_array_equal(once, each)


@every_kind
@every_task
@pytest.mark.parametrize("weight", [1e-300, 1e-30, 1e-6, 1e-4, 1.0 / 60, 1e20, 1e38, 1e300])
def test_weights_of_any_size_train_a_sound_model_or_are_refused_by_name(kind, task, weight):
    model = untrained(task, ensemble=kind)
    try:
        model.fit(X, target(task), sample_weight=np.full(60, weight))
    except ValueError as error:
        assert "sample_weight" in str(error)  # noqa: PT017 (either end is right, so there may be no error)
        return
    if task == "regression":
        reach = 2.0 * np.ptp(NUMBERS)
        assert np.abs(model.predict(X) - NUMBERS.mean()).max() < reach
        assert model.predict_uncertainty(X).total.max() < reach**2
    else:
        assert np.isfinite(model.predict_proba(X)).all()
    if weight >= 1.0:  # rows in plenty: what they say is heard
        assert model.score(X, target(task)) > 0.3


def test_one_row_of_positive_weight_is_too_few():
    with pytest.raises(ValueError, match=r"Found 1 sample\(s\) of positive weight while a minimum of 2 is required"):
        regressor().fit(X, NUMBERS, sample_weight=with_first(np.zeros(60), 1.0))


# Few rows, few columns


@every_task
def test_no_rows_are_too_few(task):
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        untrained(task).fit(X[:0], target(task)[:0])


@every_task
def test_one_row_is_too_few(task):
    with pytest.raises(ValueError, match=r"1 sample|only one class"):
        untrained(task).fit(X[:1], target(task)[:1])


@every_kind
@every_task
def test_two_rows_are_enough(kind, task):
    rows = [int(LABELS.argmin()), int(LABELS.argmax())]
    model = untrained(task, ensemble=kind).fit(X[rows], target(task)[rows])
    assert np.isfinite(model.predict_posterior(X).parameters).all()


@every_task
def test_no_columns_are_too_few(task):
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        untrained(task).fit(X[:, :0], target(task))


@every_kind
@every_task
@pytest.mark.parametrize("width", [1, 300])
def test_one_column_and_many_columns_are_learned(kind, task, width):
    wide = np.random.default_rng(1).normal(size=(60, width))
    wide[:, -1] = X[:, 0]
    model = untrained(task, ensemble=kind, n_estimators=30, learning_rate=0.3).fit(wide, target(task))
    assert model.score(wide, target(task)) > 0.3


def test_more_columns_than_a_model_can_name_are_refused_with_the_number_allowed():
    with pytest.raises(ValueError, match=r"65535.*70000|70000.*65535"):
        regressor(n_members=1, n_estimators=1).fit(np.ones((3, 70_000)), [0.0, 1.0, 2.0])


def test_a_column_of_a_million_values_is_learned():
    values = np.random.default_rng(0).integers(0, 1_000_000, size=(200_000, 1))
    y = np.sin(values[:, 0] / 1e5)
    model = regressor(n_members=2, learning_rate=0.3, n_jobs=2).fit(values, y)
    assert model.score(values, y) > 0.8


@every_kind
@every_task
def test_a_column_without_values_is_of_no_use_and_no_harm(kind, task):
    holes = X.copy()
    holes[:, 1] = np.nan
    model = untrained(task, ensemble=kind).fit(holes, target(task))
    assert model.score(holes, target(task)) > 0.1
    assert not (model.forest_.feature == 1).any()


@every_kind
@every_task
def test_constant_columns_are_of_no_use_and_no_harm(kind, task):
    flat = X.copy()
    flat[:, 1:] = 7.0
    model = untrained(task, ensemble=kind).fit(flat, target(task))
    assert model.score(flat, target(task)) > 0.1
    assert not ((model.forest_.feature > 0) & (model.forest_.threshold < 255)).any()


@every_kind
@pytest.mark.parametrize("value", [np.nan, 1.0])
def test_a_table_that_says_nothing_gives_the_same_prediction_for_every_row(kind, value):
    model = regressor(ensemble=kind, n_estimators=40, learning_rate=0.3).fit(np.full((60, 2), value), NUMBERS)
    assert len(np.unique(model.predict(X[:, :2]))) == 1
    np.testing.assert_allclose(model.predict(X[:1, :2]), NUMBERS.mean(), atol=0.5 * NUMBERS.std())


# Values of the table


@every_task
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused(task, value):
    infinite = X.copy()
    infinite[3, 1] = value
    with pytest.raises(ValueError, match="Input X contains infinity"):
        untrained(task).fit(infinite, target(task))
    model = untrained(task).fit(X, target(task))
    with pytest.raises(ValueError, match="Input X contains infinity"):
        model.predict(infinite)


@every_frame
def test_infinite_values_of_a_frame_are_refused(library):
    infinite = X.copy()
    infinite[3, 1] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        regressor().fit(FRAMES[library](columns(infinite)), NUMBERS)


@every_task
@pytest.mark.parametrize("container", [scipy.sparse.csr_matrix, scipy.sparse.csr_array, scipy.sparse.coo_array])
def test_sparse_tables_are_refused(task, container):
    with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
        untrained(task).fit(container(X), target(task))
    model = untrained(task).fit(X, target(task))
    with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
        model.predict(container(X))


@every_task
def test_complex_tables_are_refused(task):
    with pytest.raises(ValueError, match="Complex data not supported"):
        untrained(task).fit(X + 1j, target(task))


def test_objects_that_are_numbers_are_numbers_and_none_is_missing():
    holes = X.copy()
    holes[::5, 0] = np.nan
    objects = holes.astype(object)
    objects[::5, 0] = None
    expected = regressor().fit(holes, NUMBERS).predict(holes)
    np.testing.assert_array_equal(regressor().fit(objects, NUMBERS).predict(objects), expected)


def test_objects_that_are_no_numbers_are_refused():
    objects = X.astype(object)
    objects[0, 0] = {}
    with pytest.raises(TypeError, match="'dict'"):
        regressor().fit(objects, NUMBERS)


@pytest.mark.parametrize(
    "table",
    [
        np.array([["2020-01-01"], ["2020-01-02"]] * 30, dtype="datetime64[D]"),
        np.array([["2020-01-01"], ["NaT"]] * 30, dtype="datetime64[ns]"),
        np.arange(60).astype("timedelta64[s]").reshape(60, 1),
        [[dt.date(2020, 1, 1)], [dt.date(2020, 1, 2)]] * 30,
    ],
    ids=["days", "missing days", "seconds", "date objects"],
)
def test_dates_are_no_numbers(table):
    with pytest.raises(ValueError, match=r"X holds dates or durations.*turn them into numbers, say days since"):
        regressor().fit(table, NUMBERS)


@every_frame
@pytest.mark.parametrize("categorical_features", [None, [], ["town"]])
def test_text_columns_that_are_not_asked_for_are_named(library, categorical_features):
    text = ["Oslo", "Lima"] * 30
    frame = FRAMES[library]({"city": text, **columns(), "town": text, "land": text})
    with pytest.raises(
        ValueError, match=r"not numbers: 'city' \(String\), .*'land' \(String\); name them in categorical"
    ):
        regressor(categorical_features=categorical_features).fit(frame, NUMBERS)


@every_frame
@pytest.mark.parametrize("categorical_features", ["auto", None, ["day"]])
def test_a_column_of_dates_is_named_with_what_to_do(library, categorical_features):
    days = [dt.date(2020, 1, 1)] * 60
    values = {**columns(), "day": pd.to_datetime(days) if library == "pandas" else days}
    with pytest.raises(ValueError, match=r"column 'day' holds dates .*; turn them into numbers, say days since"):
        regressor(categorical_features=categorical_features).fit(FRAMES[library](values), NUMBERS)


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        (
            pd.Series([1, "a"] * 30, dtype=object),
            r"mixes text \('a'\) and numbers \(1\); make them all text or all num",
        ),
        (
            pd.Series([np.str_("a"), np.int64(1)] * 30, dtype=object),
            r"mixes text \('a'\) and numbers \(1\); make them all text or all num",
        ),
        (pd.Timestamp("2020"), "holds dates or durations"),
        (pd.Series([dt.date(2020, 1, 1)] * 60, dtype=object), "holds dates or durations"),
        (pd.Timedelta(1), "holds dates or durations"),
        (pd.Period("2020", "D"), r"holds dates or durations \(period\[D\]\); turn them into numbers, say days"),
        (pd.Interval(0, 1), r"holds values of type interval\[int64, right\]"),
        (1j, "holds values of type complex128"),
        (pd.Series([b"x", b"y"] * 30), r"holds (bytes|values of type Binary).*; decode"),
        (pd.Series([["x"], ["y"]] * 30), "type list; a category must be text or a number"),
        (pd.Series([("x",), ("y",)] * 30), "type tuple; a category must be text or a number"),
        (pd.Series([{"x": 1}, None] * 30), "type dict; a category must be text or a number"),
    ],
    ids=[
        "mixed",
        "mixed objects of NumPy",
        "dates",
        "date objects",
        "durations",
        "periods",
        "intervals",
        "complex",
        "bytes",
        "lists",
        "tuples",
        "dictionaries",
    ],
)
def test_a_column_of_pandas_that_is_neither_numbers_nor_categories_is_named(values, fault):
    frame = pd.DataFrame(columns()).assign(odd=values)
    for categorical_features in ("auto", ["odd"]):
        with pytest.raises(ValueError, match=f"column 'odd' .*{fault}"):
            regressor(categorical_features=categorical_features).fit(frame, NUMBERS)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize(
    "values", [[b"x", b"y"], [["x"], ["y"]], [{"x": 1}, {"x": 2}]], ids=["bytes", "lists", "structs"]
)
def test_a_nested_column_is_named(library, values):
    with pytest.raises(
        ValueError, match=r"column 'odd' holds values of type (Binary|List|Struct).*text and categories"
    ):
        regressor().fit(FRAMES[library]({**columns(), "odd": values * 30}), NUMBERS)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (b"x", r"column 1 holds bytes \(b'x'\); decode them to text"),
        (["x"], "column 1 holds values of type list; a category must be text or a number"),
        (("x",), "column 1 holds values of type tuple"),
        (3, r"column 1 mixes text \('a'\) and numbers \(3\)"),
        (dt.date(2020, 1, 1), "column 1 holds dates or durations"),
    ],
)
def test_an_array_of_objects_with_what_is_no_category_is_refused(value, fault):
    table = np.empty((60, 2), dtype=object)
    table[:, 0], table[:, 1] = X[:, 0], "a"
    table[7, 1] = value
    with pytest.raises(ValueError, match=fault):
        regressor().fit(table, NUMBERS)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (dt.date(2020, 1, 1), "column 0 holds dates or durations"),
        (pd.Timestamp("2020"), "column 0 holds dates or durations"),
        ({}, "column 0 holds values of type dict"),
        (1j, "column 0 holds values of type complex"),
    ],
)
def test_an_object_that_is_no_number_beside_a_column_of_text_is_named(value, fault):
    table = np.empty((60, 2), dtype=object)
    table[:, 0], table[:, 1] = X[:, 0], "a"
    model = regressor().fit(table, NUMBERS)
    table[7, 0] = value
    with pytest.raises(ValueError, match=fault):
        regressor().fit(table, NUMBERS)
    with pytest.raises(ValueError, match=fault):
        model.predict(table)


def test_a_missing_value_of_pandas_among_objects_is_missing():
    table = np.empty((60, 2), dtype=object)
    table[:, 0], table[:, 1] = X[:, 0], np.where(np.arange(60) % 3, "a", "b")
    holes = table.copy()
    table[7, 0], holes[7, 0] = np.nan, pd.NA
    np.testing.assert_array_equal(
        regressor().fit(holes, NUMBERS).predict(holes), regressor().fit(table, NUMBERS).predict(table)
    )


@pytest.mark.parametrize("value", [{"x"}, object(), dt.date(2020, 1, 1)], ids=["set", "object", "date"])
def test_objects_of_polars_that_are_no_categories_are_named(value):
    text = ["x", "y"] * 30
    model = regressor().fit(pl.DataFrame({**columns(), "odd": text}), NUMBERS)
    odd = pl.DataFrame({**columns(), "odd": pl.Series([value] * 60, dtype=pl.Object)})
    with pytest.raises(ValueError, match="column 'odd' holds"):
        regressor().fit(odd, NUMBERS)
    with pytest.raises(ValueError, match="column 'odd' holds"):
        model.predict(odd)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize(
    "values", [[["x"], ["y"]], [{"x": 1}, {"x": 2}], [b"x", b"y"]], ids=["lists", "structs", "bytes"]
)
def test_a_nested_column_is_named_at_prediction(library, values):
    model = regressor().fit(FRAMES[library]({**columns(), "odd": ["x", "y"] * 30}), NUMBERS)
    with pytest.raises(
        ValueError, match=r"column 'odd' holds values of type (Binary|List|Struct).*text and categories"
    ):
        model.predict(FRAMES[library]({**columns(), "odd": values * 30}))


def test_categories_that_no_row_has_are_not_judged():
    used = pd.Series(["x", "y"] * 30)
    odd = pd.Categorical(used, categories=["x", "y", 3])
    frame = pd.DataFrame(columns())
    expected = regressor().fit(frame.assign(odd=used), NUMBERS).predict(frame.assign(odd=used))
    model = regressor().fit(frame.assign(odd=odd), NUMBERS)
    np.testing.assert_array_equal(model.predict(frame.assign(odd=odd)), expected)


def test_an_array_of_bytes_is_refused():
    with pytest.raises(ValueError, match="holds bytes"):
        regressor().fit(np.array([[b"a"], [b"b"]] * 30), NUMBERS)


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        (["z"], r"names the column 'z'; X has 'a', 'b', 'c'"),
        ([3], "must hold names, or positions from 0 to 2; got 3"),
        ([-1], "must hold names, or positions from 0 to 2; got -1"),
        ([True], "must hold names, or positions from 0 to 2; got True"),
        ([1.0], r"must hold names, or positions from 0 to 2; got 1\.0"),
        (np.array(["z"]), r"names the column 'z'; X has 'a', 'b', 'c'"),
        (np.array([3]), "must hold names, or positions from 0 to 2; got 3"),
    ],
)
def test_categorical_features_that_are_no_columns_are_named(asked, fault):
    with pytest.raises(ValueError, match=f"categorical_features {fault}"):
        regressor(categorical_features=asked).fit(pd.DataFrame(columns()), NUMBERS)


def test_categorical_features_are_no_names_where_columns_have_none():
    with pytest.raises(ValueError, match="categorical_features names the column 'a'; X has no names"):
        regressor(categorical_features=["a"]).fit(X, NUMBERS)


def test_a_text_column_is_named_at_prediction_too():
    model = regressor().fit(pl.DataFrame(columns()), NUMBERS)
    with pytest.raises(ValueError, match=r"not numbers: 'b' \(String, such as 'x'\)"):
        model.predict(pl.DataFrame(columns()).with_columns(b=pl.lit("x")))


@pytest.mark.parametrize("day", [pd.Timestamp("2020"), pd.Timedelta(1), pd.Period("2020", "D")])
def test_dates_at_prediction_in_a_column_of_numbers_are_named_with_what_to_do(day):
    frame = pd.DataFrame(columns())
    model = regressor().fit(frame, NUMBERS)
    with pytest.raises(ValueError, match=r"column 'b' holds dates or durations .*; turn them into numbers, say days"):
        model.predict(frame.assign(b=day))


def test_text_in_a_column_that_was_empty_in_training_is_not_said_to_have_held_numbers_only():
    frame = pd.DataFrame(columns())
    model = regressor().fit(frame.assign(b=np.nan), NUMBERS)
    with pytest.raises(ValueError, match=r"'b' \(String, such as 'x'\); they held numbers in training, or nothing"):
        model.predict(frame.assign(b="x"))


def test_a_lazy_frame_is_refused_in_words():
    with pytest.raises((TypeError, ValueError), match=r"[Ll]azy"):
        regressor().fit(pl.DataFrame(columns()).lazy(), NUMBERS)


@every_task
@pytest.mark.parametrize("table", [X[0], X[np.newaxis], np.float64(1.0)])
def test_a_table_has_two_dimensions(task, table):
    model = untrained(task).fit(X, target(task))
    with pytest.raises(ValueError, match=r"Expected 2D array|dim 3"):
        model.predict(table)
    with pytest.raises(ValueError, match=r"Expected 2D array|dim 3"):
        untrained(task).fit(table, target(task))


@pytest.mark.parametrize("values", [["x", "y"] * 30, NUMBERS], ids=["text", "numbers"])
@pytest.mark.parametrize(
    "make",
    [
        pd.Series,
        pl.Series,
        pa.array,
        lambda values: pa.chunked_array([values]),
        lambda values: np.array(values, object),
    ],
    ids=["pandas", "polars", "Arrow", "Arrow chunks", "NumPy"],
)
def test_one_column_is_no_table(make, values):
    with pytest.raises(ValueError, match="Expected 2D array"):
        regressor().fit(make(values), NUMBERS)


@pytest.mark.parametrize("table", [np.array(["x", "y"] * 30), ["x", "y"] * 30, np.full((60, 1, 1), "x")])
def test_text_in_another_number_of_dimensions_is_no_table(table):
    with pytest.raises(ValueError, match=r"Expected 2D array, got (1|3)D array instead; X must have rows and columns"):
        regressor().fit(table, NUMBERS)


def test_a_dictionary_of_columns_is_refused_with_what_to_do():
    with pytest.raises(TypeError, match=r"X is a dict; make it a frame, say by pandas\.DataFrame\(X\)"):
        regressor().fit(columns(), NUMBERS)


# Columns that are not those of the training


@every_task
@pytest.mark.parametrize("width", [1, 2, 4])
def test_another_number_of_columns_is_refused(task, width):
    model = untrained(task).fit(X, target(task))
    with pytest.raises(ValueError, match=f"X has {width} features, but .* is expecting 3 features"):
        model.predict(np.ones((5, width)))


@every_frame
@pytest.mark.parametrize(
    ("names", "fault"),
    [("abz", "unseen at fit time:\n- z"), ("ab", "now missing:\n- c"), ("abcd", "unseen at fit time:\n- d")],
)
def test_columns_of_other_names_are_refused(library, names, fault):
    model = regressor().fit(FRAMES[library](columns()), NUMBERS)
    other = FRAMES[library](dict.fromkeys(names, NUMBERS))
    with pytest.raises(ValueError, match=fault):
        model.predict(other)


@every_frame
def test_columns_in_another_order_are_matched_by_name(library):
    model = regressor().fit(pd.DataFrame(columns()), NUMBERS)
    shuffled = FRAMES[library]({name: columns()[name] for name in "cab"})
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(pd.DataFrame(columns())))


@every_frame
def test_names_are_compared_across_libraries(library):
    model = regressor().fit(pd.DataFrame(columns()), NUMBERS)
    frame = FRAMES[library](columns())
    np.testing.assert_array_equal(model.predict(frame), model.predict(pd.DataFrame(columns())))


def test_names_on_one_side_only_are_a_warning():
    named, nameless = regressor().fit(pd.DataFrame(columns()), NUMBERS), regressor().fit(X, NUMBERS)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        named.predict(X)
    with pytest.warns(UserWarning, match="X has feature names"):
        nameless.predict(pd.DataFrame(columns()))


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame(X, columns=list("aab")), pa.table([pa.array(NUMBERS)] * 3, names=list("aba"))],
    ids=["pandas", "Arrow"],
)
def test_two_columns_of_one_name_are_refused_by_name(table):
    with pytest.raises(ValueError, match=r"^X has more than one column named 'a'; columns need unique names$"):
        regressor().fit(table, NUMBERS)


# Parameters


@pytest.mark.parametrize(
    ("name", "values", "allowed"),
    [
        ("max_depth", [0, 9, -1, 2.0, "6", None, True], "a whole number from 1 to 8"),
        ("max_bins", [1, 256, 0, 2.5, None, True], "a whole number from 2 to 255"),
        ("n_members", [0, -1, 1.5, "3", None, True], "a whole number of at least 1"),
        ("n_estimators", [0, -5, 10.0, "9", None, True], "a whole number of at least 1"),
        ("learning_rate", [0, -0.1, 1.1, np.nan, np.inf, "fast", None, True, 1j], "a number above 0 and at most 1"),
        ("l2", [-1, np.nan, np.inf, "a", None, True], "a number of at least 0"),
        ("temperature", [-1, np.nan, np.inf, "hot", None, True], "a number of at least 0"),
        ("subsample", [0, -0.5, 1.5, np.nan, "half", True], "a number above 0 and at most 1"),
        ("variance_guard", [-1, np.nan, np.inf, "on", None, True], "a number of at least 0"),
        ("structure_rows", [0, -1, 1.5, "a", True], "a whole number of at least 1"),
        ("early_stopping_rounds", [0, -1, 1.5, "a", True], "a whole number of at least 1"),
        ("n_jobs", [0, 1.5, "all", True], "None or a whole number other than 0"),
        ("ensemble", ["forest", None, 1, []], "one of 'single', 'sgb', 'sglb', 'virtual'"),
        ("engine", ["steam", None, 3, dict], "one of 'native'.* or an Engine"),
        ("categorical_features", ["a", 3, 1.5], "'auto', None or a list of names or positions"),
    ],
)  # fmt: skip
def test_a_parameter_out_of_range_is_named_with_what_was_got_and_what_is_allowed(name, values, allowed):
    for estimator in (regressor, classifier):
        for value in values:
            if name not in estimator().get_params():
                continue
            model = estimator(**{name: value})
            with pytest.raises(ValueError, match=f"{name} must be {allowed}.*; got ") as caught:
                model.fit(X, LABELS, eval_set=(X, LABELS))
            assert str(caught.value).endswith(f"got {value!r}")


def test_more_trees_than_can_be_counted_are_refused_by_name():
    with pytest.raises(ValueError, match="n_estimators"):
        regressor(n_estimators=10**30).fit(X, NUMBERS)


@pytest.mark.parametrize("random_state", ["a", -1, 1.5])
def test_a_seed_that_is_no_seed_is_refused(random_state):
    with pytest.raises(ValueError, match="random_state must be None, a number"):
        regressor(random_state=random_state).fit(X, NUMBERS)


def test_numbers_of_numpy_are_parameters_like_others():
    plain = regressor(max_depth=3, n_members=2, learning_rate=0.25, n_jobs=2).fit(X, NUMBERS).predict(X)
    parameters = {
        "max_depth": np.int64(3),
        "n_members": np.int32(2),
        "learning_rate": np.float32(0.25),
        "n_jobs": np.int8(2),
    }
    np.testing.assert_array_equal(regressor(**parameters).fit(X, NUMBERS).predict(X), plain)


@every_kind
@every_task
@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 1},
        {"max_depth": 8},
        {"max_bins": 2},
        {"n_members": 1},
        {"n_estimators": 1, "n_members": 1},
        {"l2": 0.0},
        {"learning_rate": 1.0},
        {"temperature": 0.0},
        {"subsample": 1.0},
        {"subsample": 0.1},
        {"n_jobs": -1},
        {"n_jobs": -100},
        {"n_jobs": 20},
    ],
    ids=str,
)
def test_the_ends_of_the_allowed_ranges_work(kind, task, parameters):
    model = untrained(task, ensemble=kind, **parameters).fit(X, target(task))
    assert np.isfinite(model.predict_posterior(X).parameters).all()
    for name, dimension in {"max_depth": 2, "n_estimators": 1}.items():
        if name in parameters:
            assert model.forest_.feature.shape[dimension] == parameters[name]
    if "max_bins" in parameters:
        assert model.forest_.bins.counts.max() <= parameters["max_bins"] + 1


@every_kind
def test_the_variance_guard_may_be_switched_off(kind):
    model = regressor(ensemble=kind, variance_guard=0.0, l2=0.0, learning_rate=1.0, n_estimators=50).fit(X, NUMBERS)
    assert np.isfinite(model.predict_posterior(X).parameters).all()


# Evaluation rows


@every_task
def test_a_malformed_evaluation_set_is_refused(task):
    y = target(task)
    for eval_set in (X, (X,), (X, y, None, None), [(X, y), (X, y)], [X, y], {"X": X, "y": y}, (), [], "ab", 3):
        with pytest.raises(ValueError, match=r"eval_set must be \(X, y\) or \(X, y, sample_weight\)"):
            untrained(task).fit(X, y, eval_set=eval_set)


@every_task
def test_an_evaluation_set_may_stand_in_a_list(task):
    y = target(task)
    plain = untrained(task).fit(X, y, eval_set=(X, y))
    np.testing.assert_array_equal(
        untrained(task).fit(X, y, eval_set=[(X, y, ONES)]).evaluation_loss_, plain.evaluation_loss_
    )


@every_task
def test_evaluation_rows_are_checked_as_training_rows_are(task):
    y = target(task)
    for rows, fault in [
        ((X[:, :2], y), "X has 2 features"),
        ((X, y[:3]), "inconsistent numbers of samples"),
        ((X, with_first(y.astype(float), np.nan)), "Input y contains NaN"),
        ((X[:0], y[:0]), r"0 sample\(s\)"),
        ((X, y, -ONES), "sample_weight must not be negative"),
        ((X, y, np.zeros(60)), "sample_weight is zero for every row"),
    ]:
        with pytest.raises(ValueError, match=fault):
            untrained(task).fit(X, y, eval_set=rows)


@pytest.mark.parametrize(
    ("labels", "others", "named"),
    [(LABELS, LABELS + 1, "2"), (np.array(["a", "b"])[LABELS], np.array(["a", "zebra"])[LABELS], "zebra")],
)
def test_labels_that_only_the_evaluation_set_has_are_named(labels, others, named):
    with pytest.raises(ValueError, match=f"eval_set holds labels that y does not: {named}"):
        classifier().fit(X, labels, eval_set=(X, others))


def test_an_evaluation_set_may_lack_a_class():
    model = classifier().fit(X, LABELS, eval_set=(X[:3], [0, 0, 0]))
    assert np.isfinite(model.evaluation_loss_).all()


@every_task
def test_an_evaluation_set_without_early_stopping_is_watched_and_changes_nothing(task):
    model = untrained(task).fit(X, target(task), eval_set=(X, target(task)))
    plain = untrained(task).fit(X, target(task))
    assert model.evaluation_loss_.shape == (3, 10)
    assert plain.evaluation_loss_ is None
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


@every_task
def test_early_stopping_without_an_evaluation_set_is_refused(task):
    with pytest.raises(ValueError, match="early_stopping_rounds needs an eval_set"):
        untrained(task, early_stopping_rounds=3).fit(X, target(task))


# Predicting


@every_task
@pytest.mark.parametrize("method", ["predict", "predict_posterior", "predict_uncertainty"])
def test_a_model_that_was_not_trained_says_so(task, method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(untrained(task), method)(X)


@pytest.mark.parametrize("method", ["predict_interval", "predict_quantile"])
def test_a_regressor_that_was_not_trained_says_so(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(regressor(), method)(X, 0.5)


def test_a_classifier_that_was_not_trained_says_so():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        classifier().predict_proba(X)


@every_task
def test_no_rows_cannot_be_predicted(task):
    model = untrained(task).fit(X, target(task))
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        model.predict(X[:0])


@every_frame
def test_no_rows_of_a_frame_cannot_be_predicted(library):
    model = regressor().fit(FRAMES[library](columns()), NUMBERS)
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        model.predict(FRAMES[library](columns(X[:0])))


@every_task
def test_values_that_training_has_not_seen_are_predicted(task):
    model = untrained(task).fit(X, target(task))
    odd = np.array([[np.nan] * 3, [1e300] * 3, [-1e300] * 3, [5e-324] * 3])
    assert np.isfinite(model.predict_posterior(odd).parameters).all()


# Training that does not come to its end


def test_after_a_failed_fit_no_table_of_other_columns_is_predicted():
    ended = run_python(
        """
        import numpy as np
        from epiboost import EpiBoostRegressor
        from sklearn.exceptions import NotFittedError

        random = np.random.default_rng(0)
        narrow, wide = random.normal(size=(60, 3)), random.normal(size=(60, 400))
        model = EpiBoostRegressor(n_members=2, n_estimators=5, random_state=0).fit(narrow, narrow[:, 0])
        try:
            model.fit(wide, 1e200 * wide[:, 0])
        except ValueError as error:
            assert "rescale y" in str(error)
        try:
            model.predict(wide)
        except (NotFittedError, ValueError):
            print("refused")
        """
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "refused\n", "")


def test_the_forest_itself_refuses_a_table_of_other_columns():
    ended = run_python(
        """
        import numpy as np
        from epiboost import EpiBoostRegressor

        table = np.random.default_rng(0).normal(size=(60, 3))
        forest = EpiBoostRegressor(n_members=2, n_estimators=5, random_state=0).fit(table, table[:, 0]).forest_
        for columns in (1, 2, 4, 400):
            try:
                forest.predict(np.ones((5, columns)))
            except ValueError:
                print("refused", columns)
        """
    )
    assert (ended.returncode, ended.stdout.split(), ended.stderr) == (
        0, ["refused", "1", "refused", "2", "refused", "4", "refused", "400"], "",
    )  # fmt: skip


@every_task
@pytest.mark.parametrize(("kind", "n_jobs"), [("sglb", 1), ("sglb", 2), ("virtual", 1), ("virtual", 2)])
def test_an_error_in_the_progress_callback_stops_the_training(task, kind, n_jobs, monkeypatch):
    class EnoughError(Exception):
        pass

    @contextlib.contextmanager
    def impatient(*_arguments, **_options):
        def report(_done, _total):
            raise EnoughError

        yield report

    monkeypatch.setattr(_base, "progress_bar", impatient)
    random = np.random.default_rng(0)
    table = random.normal(size=(5000, 5))
    model = untrained(task, ensemble=kind, n_estimators=20_000, n_members=4, max_depth=2, n_jobs=n_jobs)
    began = time.monotonic()
    with pytest.raises(EnoughError):
        model.fit(table, table[:, 0] if task == "regression" else table[:, 0] > 0)
    assert time.monotonic() - began < 5.0
    with pytest.raises(NotFittedError):
        model.predict(table)


def test_the_engine_reports_how_far_it_has_come():
    reports = []
    random = np.random.default_rng(0)
    table = random.normal(size=(5000, 5))
    data = Dataset(table, table[:, 0], np.ones(5000), n_classes=0)
    specs = Recipe(n_members=3, n_estimators=60).specs(0)
    NativeEngine(n_jobs=2).fit(data, specs, lambda done, total: reports.append((done, total)))
    assert [total for _, total in reports] == [180] * len(reports)
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)
    assert reports[-1] == (180, 180)


LONG_TRAINING = """
import contextlib, sys
import numpy as np
from sklearn.exceptions import NotFittedError
from epiboost import EpiBoostRegressor
from epiboost._estimators import base as _base

@contextlib.contextmanager
def announce(*_arguments, **_options):
    yield lambda done, total: print("training", done, flush=True)

_base.progress_bar = announce
X = np.random.default_rng(0).normal(size=(30_000, 10))
model = EpiBoostRegressor(ensemble=sys.argv[1], n_members=int(sys.argv[2]), n_estimators=20_000, n_jobs=2)
try:
    model.fit(X, X[:, 0])
except KeyboardInterrupt:
    print("interrupted", flush=True)
try:
    model.predict(X)
except NotFittedError:
    print("not fitted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize(("kind", "members"), [("sglb", 4), ("virtual", 10)])
def test_an_interrupt_ends_a_long_training_at_once(kind, members):
    command = [sys.executable, "-c", LONG_TRAINING, kind, str(members)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline().startswith("training")
            child.send_signal(signal.SIGINT)
            began = time.monotonic()
            output, errors = child.communicate(timeout=60)
            took = time.monotonic() - began
        finally:
            child.kill()
    assert [line for line in output.splitlines() if not line.startswith("training")] == ["interrupted", "not fitted"]
    assert errors == ""
    assert took < 3.0


@pytest.mark.parametrize("parameters", [{"temperature": 1e300}, {"learning_rate": 1e-300}])
def test_noise_beyond_all_numbers_is_refused_by_name(parameters):
    with pytest.raises(ValueError, match=r"temperature=.* and learning_rate=.* give noise of .*; at most"):
        regressor(**parameters).fit(X, NUMBERS)


def test_an_eval_set_beyond_all_numbers_is_refused_by_name():
    with pytest.raises(ValueError, match="eval_set holds targets that are more than"):
        regressor(early_stopping_rounds=2).fit(X, NUMBERS, eval_set=(X, NUMBERS + 1e200))
