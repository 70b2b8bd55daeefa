"""Values and columns that cannot be learned: the error names the column and the remedy."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.support.frames import FRAMES, every_library, named_columns
from tests.support.models import every_estimator, small_estimator, small_regressor
from tests.support.tables import TARGETS, X, Y

# Values


@every_estimator
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused(estimator, value):
    infinite = X.copy()
    infinite[3, 1] = value
    with pytest.raises(ValueError, match="Input X contains infinity"):
        small_estimator(estimator).fit(infinite, TARGETS[estimator])
    model = small_estimator(estimator).fit(X, TARGETS[estimator])
    with pytest.raises(ValueError, match="Input X contains infinity"):
        model.predict(infinite)


@every_library
def test_infinite_values_in_a_frame_are_refused(library):
    infinite = X.copy()
    infinite[3, 1] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        small_regressor().fit(FRAMES[library](named_columns(infinite)), Y)


@every_estimator
def test_complex_tables_are_refused(estimator):
    with pytest.raises(ValueError, match="Complex data not supported"):
        small_estimator(estimator).fit(X + 1j, TARGETS[estimator])


def test_an_array_of_bytes_is_refused():
    with pytest.raises(ValueError, match="holds bytes"):
        small_regressor().fit(np.array([[b"a"], [b"b"]] * 30), Y)


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
def test_an_array_of_dates_is_refused_with_a_remedy(table):
    with pytest.raises(ValueError, match=r"X holds dates or durations.*turn them into numbers, say days since"):
        small_regressor().fit(table, Y)


# Columns of frames


@every_library
@pytest.mark.parametrize("categorical_features", [None, [], ["town"]])
def test_text_columns_that_are_not_categorical_features_are_named(library, categorical_features):
    text = ["Oslo", "Lima"] * 30
    frame = FRAMES[library]({"city": text, **named_columns(X), "town": text, "land": text})
    with pytest.raises(
        ValueError, match=r"not numbers: 'city' \(String\), .*'land' \(String\); name them in categorical"
    ):
        small_regressor(categorical_features=categorical_features).fit(frame, Y)


@every_library
@pytest.mark.parametrize("categorical_features", ["auto", None, ["day"]])
def test_a_column_of_dates_is_named_with_a_remedy(library, categorical_features):
    days = [dt.date(2020, 1, 1)] * 60
    values = {**named_columns(X), "day": pd.to_datetime(days) if library == "pandas" else days}
    with pytest.raises(ValueError, match=r"column 'day' holds dates .*; turn them into numbers, say days since"):
        small_regressor(categorical_features=categorical_features).fit(FRAMES[library](values), Y)


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
def test_a_pandas_column_of_neither_numbers_nor_categories_is_named(values, fault):
    frame = pd.DataFrame(named_columns(X)).assign(odd=values)
    for categorical_features in ("auto", ["odd"]):
        with pytest.raises(ValueError, match=f"column 'odd' .*{fault}"):
            small_regressor(categorical_features=categorical_features).fit(frame, Y)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize(
    "values", [[b"x", b"y"], [["x"], ["y"]], [{"x": 1}, {"x": 2}]], ids=["bytes", "lists", "structs"]
)
def test_a_nested_column_is_named(library, values):
    with pytest.raises(
        ValueError, match=r"column 'odd' holds values of type (Binary|List|Struct).*text and categories"
    ):
        small_regressor().fit(FRAMES[library]({**named_columns(X), "odd": values * 30}), Y)


@pytest.mark.parametrize("value", [{"x"}, object(), dt.date(2020, 1, 1)], ids=["set", "object", "date"])
def test_polars_objects_that_are_not_categories_are_named(value):
    text = ["x", "y"] * 30
    model = small_regressor().fit(pl.DataFrame({**named_columns(X), "odd": text}), Y)
    odd = pl.DataFrame({**named_columns(X), "odd": pl.Series([value] * 60, dtype=pl.Object)})
    with pytest.raises(ValueError, match="column 'odd' holds"):
        small_regressor().fit(odd, Y)
    with pytest.raises(ValueError, match="column 'odd' holds"):
        model.predict(odd)


def test_declared_categories_that_no_row_has_are_not_checked():
    used = pd.Series(["x", "y"] * 30)
    odd = pd.Categorical(used, categories=["x", "y", 3])
    frame = pd.DataFrame(named_columns(X))
    expected = small_regressor().fit(frame.assign(odd=used), Y).predict(frame.assign(odd=used))
    model = small_regressor().fit(frame.assign(odd=odd), Y)
    np.testing.assert_array_equal(model.predict(frame.assign(odd=odd)), expected)


# Columns at prediction


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize(
    "values", [[["x"], ["y"]], [{"x": 1}, {"x": 2}], [b"x", b"y"]], ids=["lists", "structs", "bytes"]
)
def test_a_nested_column_is_named_at_prediction(library, values):
    model = small_regressor().fit(FRAMES[library]({**named_columns(X), "odd": ["x", "y"] * 30}), Y)
    with pytest.raises(
        ValueError, match=r"column 'odd' holds values of type (Binary|List|Struct).*text and categories"
    ):
        model.predict(FRAMES[library]({**named_columns(X), "odd": values * 30}))


def test_text_at_prediction_in_a_numeric_column_is_named():
    model = small_regressor().fit(pl.DataFrame(named_columns(X)), Y)
    with pytest.raises(ValueError, match=r"not numbers: 'b' \(String, such as 'x'\)"):
        model.predict(pl.DataFrame(named_columns(X)).with_columns(b=pl.lit("x")))


@pytest.mark.parametrize("day", [pd.Timestamp("2020"), pd.Timedelta(1), pd.Period("2020", "D")])
def test_dates_at_prediction_in_a_numeric_column_are_named_with_a_remedy(day):
    frame = pd.DataFrame(named_columns(X))
    model = small_regressor().fit(frame, Y)
    with pytest.raises(ValueError, match=r"column 'b' holds dates or durations .*; turn them into numbers, say days"):
        model.predict(frame.assign(b=day))


def test_the_error_for_text_in_a_numeric_column_allows_for_an_empty_training_column():
    frame = pd.DataFrame(named_columns(X))
    model = small_regressor().fit(frame.assign(b=np.nan), Y)
    with pytest.raises(ValueError, match=r"'b' \(String, such as 'x'\); in training they held numbers or were empty"):
        model.predict(frame.assign(b="x"))


# The parameter categorical_features


@pytest.mark.parametrize(
    ("categorical_features", "fault"),
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
def test_categorical_features_that_are_not_columns_are_named(categorical_features, fault):
    with pytest.raises(ValueError, match=f"categorical_features {fault}"):
        small_regressor(categorical_features=categorical_features).fit(pd.DataFrame(named_columns(X)), Y)


def test_names_in_categorical_features_are_refused_when_columns_have_no_names():
    with pytest.raises(ValueError, match="categorical_features names the column 'a'; X has no names"):
        small_regressor(categorical_features=["a"]).fit(X, Y)
