"""Columns of categories are read alike, whatever holds them."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import cross_val_score

from epiboost import EpiBoostClassifier, EpiBoostRegressor

N = 300
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=N)
CITY = RANDOM.choice(["Lima", "Oslo", "Rome"], N)
Y = X + (CITY == "Oslo") + RANDOM.normal(size=N)


def regressor(**options):
    return EpiBoostRegressor(n_estimators=20, n_members=2, random_state=0, **options)


def assert_alike(one, other, **options):
    """Models of two tables that hold the same say the same, each of either table."""
    models = [regressor(**options).fit(table, Y) for table in (one, other)]
    expected = models[0].predict(one)
    for model in models:
        for table in (one, other):
            np.testing.assert_array_equal(model.predict(table), expected)


def dictionary(index, values=("Lima", "Oslo", "Rome"), holes=()):
    """A table of Arrow whose cities are a dictionary."""
    places = pa.array(np.searchsorted(["Lima", "Oslo", "Rome"], CITY), mask=np.isin(np.arange(N), holes)).cast(index)
    return pa.table({"x": X, "city": pa.DictionaryArray.from_arrays(places, pa.array(values))})


@pytest.mark.parametrize("holes", [(), (3, 5)], ids=["complete", "missing"])
@pytest.mark.parametrize("index", [pa.int8(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64()], ids=str)
def test_dictionaries_of_arrow_may_have_any_kind_of_index(index, holes):
    text = np.where(np.isin(np.arange(N), holes), None, CITY.astype(object))
    assert_alike(dictionary(index, holes=holes), pd.DataFrame({"x": X, "city": text}))


def test_categories_of_polars_come_through_arrow():
    frame = pl.DataFrame({"x": X, "city": CITY}).with_columns(pl.col("city").cast(pl.Categorical))
    assert_alike(frame.to_arrow(), frame)


def test_a_dictionary_of_arrow_may_hold_a_value_twice(tmp_path):
    twice = dictionary(pa.int8(), ("lima", "oslo", "lima"))
    text = np.where(CITY == "Oslo", "oslo", "lima")
    assert_alike(twice, pd.DataFrame({"x": X, "city": text}))
    model = regressor().fit(twice, Y)
    model.save(tmp_path / "model.epib")
    again = EpiBoostRegressor.load(tmp_path / "model.epib")
    np.testing.assert_array_equal(again.predict(twice), model.predict(twice))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_what_is_masked_in_an_array_of_numbers_is_missing(dtype):
    table = np.stack([10 * X, 10 * Y], axis=1).astype(dtype)
    mask = table > 5
    holes = np.where(mask, np.nan, table).astype(np.float32 if dtype == np.float32 else np.float64)
    assert_alike(np.ma.masked_array(table, mask=mask), holes)


def test_what_is_masked_in_an_array_of_objects_is_missing():
    table = np.stack([CITY.astype(object), X.astype(object)], axis=1)
    mask = np.stack([X > 1, X < -1], axis=1)
    holes = table.copy()
    holes[mask] = None
    assert_alike(np.ma.masked_array(table, mask=mask), holes)


TYPES_OF_TEXT = {
    "category": lambda values: pd.Series(pd.Categorical(values, categories=["rare"])),
    "string": lambda values: pd.Series(values, dtype="string"),
    "polars": lambda values: pl.Series(values, dtype=pl.String),
    "enum": lambda values: pl.Series(values, dtype=pl.Enum(["rare"])),
}


@pytest.mark.parametrize("make", TYPES_OF_TEXT.values(), ids=TYPES_OF_TEXT)
def test_a_column_of_text_that_holds_nothing_in_training_takes_values_later(make):
    empty, rare = make([None] * N), make(["rare", *[None] * (N - 1)])
    frame = (pd if isinstance(empty, pd.Series) else pl).DataFrame
    model = regressor().fit(frame({"x": X, "note": empty}), Y)
    assert np.isfinite(model.predict(frame({"x": X, "note": rare}))).all()


def test_a_column_of_objects_that_holds_nothing_in_training_takes_text_and_numbers_later():
    model = regressor().fit(pd.DataFrame({"x": X, "note": pd.Series([None] * N, dtype=object)}), Y)
    expected = model.predict(pd.DataFrame({"x": X, "note": None}))
    for note in (CITY, X):
        np.testing.assert_array_equal(model.predict(pd.DataFrame({"x": X, "note": note})), expected)


def test_folds_without_a_rare_value_are_scored():
    note = pd.Categorical(["rare", *[None] * (N - 1)])
    assert np.isfinite(cross_val_score(regressor(), pd.DataFrame({"x": X, "note": note}), Y, cv=3)).all()


def test_decimals_are_numbers_and_may_be_categories():
    price = [Decimal(place % 50) / 8 for place in range(N)]
    frame = pd.DataFrame({"x": X, "price": price})
    assert_alike(frame, pl.DataFrame({"x": X, "price": price}))
    assert_alike(frame, pl.DataFrame({"x": X, "price": price}), categorical_features=["price"])
    assert_alike(frame, frame.astype({"price": float}), categorical_features=["price"])


def test_very_large_whole_numbers_of_polars_are_categories():
    code = pl.Series([2**100, 2**100 + 1, 5] * (N // 3), dtype=pl.Int128)
    model = regressor(categorical_features=["code"]).fit(pl.DataFrame({"x": X, "code": code}), Y)
    assert model.vocabularies_[1].values == (5, 2**100, 2**100 + 1)


@pytest.mark.parametrize(
    ("column", "remedy"),
    [
        (pd.cut(X, 4), "type Interval; a category must be text or a number; make text of it"),
        (pd.arrays.IntervalArray.from_breaks(range(N + 1)), r"type interval\[int64, right\]; .* make text of it"),
        (pd.arrays.SparseArray(CITY == "Oslo"), r"type Sparse\[bool, False\]; .* make it dense"),
    ],
    ids=["cut", "intervals", "sparse"],
)
def test_columns_that_are_refused_are_told_what_to_become(column, remedy):
    with pytest.raises(ValueError, match=f"column 'odd' holds values of {remedy}"):
        regressor().fit(pd.DataFrame({"x": X, "odd": column}), Y)


def test_the_text_that_is_no_number_is_shown():
    model = regressor().fit(pd.DataFrame({"x": X}), Y)
    with pytest.raises(ValueError, match=r"not numbers: 'x' \(String, such as 'oops'\); they held numbers"):
        model.predict(pd.DataFrame({"x": ["1.5", "oops", "-inf"]}))


@pytest.mark.parametrize("unit", ["ns", "D"])
def test_dates_are_no_labels(unit):
    days = np.array(["2020-01-01", "2021-01-01"] * (N // 2), dtype=f"datetime64[{unit}]")
    for labels in (days, days - days[0], days.astype("datetime64[D]").astype(object)):
        with pytest.raises(ValueError, match=r"y holds dates or durations .*; make the labels text"):
            EpiBoostClassifier(n_estimators=5).fit(X[:, np.newaxis], labels)


def test_a_dictionary_of_lists_is_named():
    lists = pa.DictionaryArray.from_arrays(pa.array([0, 1] * (N // 2)), pa.array([["a"], ["b"]]))
    with pytest.raises(ValueError, match="column 'odd' holds values of type list; a category must be text or a number"):
        regressor().fit(pa.table({"x": X, "odd": lists}), Y)
