"""Columns of categories in dictionaries, masked arrays, decimals and columns that are empty in training."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import cross_val_score

from epiboost import EpiBoostRegressor
from tests.support.models import small_classifier, small_regressor

N = 300
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=N)
CITY = RANDOM.choice(["Lima", "Oslo", "Rome"], N)
Y = X + (CITY == "Oslo") + RANDOM.normal(size=N)


def assert_same_model(one, other, **options):
    """Assert that models of two tables predict the same for either table."""
    models = [small_regressor(**options).fit(table, Y) for table in (one, other)]
    expected = models[0].predict(one)
    for model in models:
        for table in (one, other):
            np.testing.assert_array_equal(model.predict(table), expected)


def dictionary(index, values=("Lima", "Oslo", "Rome"), missing=()):
    """Return an Arrow table whose cities are a dictionary."""
    places = pa.array(np.searchsorted(["Lima", "Oslo", "Rome"], CITY), mask=np.isin(np.arange(N), missing)).cast(index)
    return pa.table({"x": X, "city": pa.DictionaryArray.from_arrays(places, pa.array(values))})


@pytest.mark.parametrize("missing", [(), (3, 5)], ids=["complete", "missing"])
@pytest.mark.parametrize("index", [pa.int8(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64()], ids=str)
def test_arrow_dictionaries_may_have_any_index_type(index, missing):
    text = np.where(np.isin(np.arange(N), missing), None, CITY.astype(object))
    assert_same_model(dictionary(index, missing=missing), pd.DataFrame({"x": X, "city": text}))


def test_polars_categories_exported_to_arrow_give_the_same_model():
    frame = pl.DataFrame({"x": X, "city": CITY}).with_columns(pl.col("city").cast(pl.Categorical))
    assert_same_model(frame.to_arrow(), frame)


def test_an_arrow_dictionary_may_have_duplicate_values(tmp_path):
    twice = dictionary(pa.int8(), ("lima", "oslo", "lima"))
    text = np.where(CITY == "Oslo", "oslo", "lima")
    assert_same_model(twice, pd.DataFrame({"x": X, "city": text}))
    model = small_regressor().fit(twice, Y)
    model.save(tmp_path / "model.epib")
    again = EpiBoostRegressor.load(tmp_path / "model.epib")
    np.testing.assert_array_equal(again.predict(twice), model.predict(twice))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_masked_numbers_are_read_as_missing(dtype):
    table = np.stack([10 * X, 10 * Y], axis=1).astype(dtype)
    mask = table > 5
    incomplete = np.where(mask, np.nan, table).astype(np.float32 if dtype == np.float32 else np.float64)
    assert_same_model(np.ma.masked_array(table, mask=mask), incomplete)


def test_masked_objects_are_read_as_missing():
    table = np.stack([CITY.astype(object), X.astype(object)], axis=1)
    mask = np.stack([X > 1, X < -1], axis=1)
    incomplete = table.copy()
    incomplete[mask] = None
    assert_same_model(np.ma.masked_array(table, mask=mask), incomplete)


TYPES_OF_TEXT = {
    "category": lambda values: pd.Series(pd.Categorical(values, categories=["rare"])),
    "string": lambda values: pd.Series(values, dtype="string"),
    "polars": lambda values: pl.Series(values, dtype=pl.String),
    "enum": lambda values: pl.Series(values, dtype=pl.Enum(["rare"])),
}


@pytest.mark.parametrize("make", TYPES_OF_TEXT.values(), ids=TYPES_OF_TEXT)
def test_a_text_column_empty_in_training_accepts_values_at_prediction(make):
    empty, rare = make([None] * N), make(["rare", *[None] * (N - 1)])
    frame = (pd if isinstance(empty, pd.Series) else pl).DataFrame
    model = small_regressor().fit(frame({"x": X, "note": empty}), Y)
    assert np.isfinite(model.predict(frame({"x": X, "note": rare}))).all()


def test_an_object_column_empty_in_training_accepts_text_and_numbers_at_prediction():
    model = small_regressor().fit(pd.DataFrame({"x": X, "note": pd.Series([None] * N, dtype=object)}), Y)
    expected = model.predict(pd.DataFrame({"x": X, "note": None}))
    for note in (CITY, X):
        np.testing.assert_array_equal(model.predict(pd.DataFrame({"x": X, "note": note})), expected)


def test_cross_validation_folds_may_lack_a_rare_category():
    note = pd.Categorical(["rare", *[None] * (N - 1)])
    assert np.isfinite(cross_val_score(small_regressor(), pd.DataFrame({"x": X, "note": note}), Y, cv=3)).all()


def test_decimals_may_be_numbers_or_categories():
    price = [Decimal(place % 50) / 8 for place in range(N)]
    frame = pd.DataFrame({"x": X, "price": price})
    assert_same_model(frame, pl.DataFrame({"x": X, "price": price}))
    assert_same_model(frame, pl.DataFrame({"x": X, "price": price}), categorical_features=["price"])
    assert_same_model(frame, frame.astype({"price": float}), categorical_features=["price"])


def test_integers_of_128_bits_may_be_categories():
    code = pl.Series([2**100, 2**100 + 1, 5] * (N // 3), dtype=pl.Int128)
    model = small_regressor(categorical_features=["code"]).fit(pl.DataFrame({"x": X, "code": code}), Y)
    assert model.categories_[1].tolist() == [5, 2**100, 2**100 + 1]


@pytest.mark.parametrize(
    ("column", "remedy"),
    [
        (pd.cut(X, 4), "type Interval; a category must be text or a number; make text of it"),
        (pd.arrays.IntervalArray.from_breaks(range(N + 1)), r"type interval\[int64, right\]; .* make text of it"),
        (pd.arrays.SparseArray(CITY == "Oslo"), r"type Sparse\[bool, False\]; .* make it dense"),
    ],
    ids=["cut", "intervals", "sparse"],
)
def test_refused_columns_are_named_with_a_remedy(column, remedy):
    with pytest.raises(ValueError, match=f"column 'odd' holds values of {remedy}"):
        small_regressor().fit(pd.DataFrame({"x": X, "odd": column}), Y)


def test_the_error_shows_a_text_that_is_not_a_number():
    model = small_regressor().fit(pd.DataFrame({"x": X}), Y)
    with pytest.raises(ValueError, match=r"not numbers: 'x' \(String, such as 'oops'\); in training they held numbers"):
        model.predict(pd.DataFrame({"x": ["1.5", "oops", "-inf"]}))


@pytest.mark.parametrize("unit", ["ns", "D"])
def test_dates_as_labels_are_refused(unit):
    days = np.array(["2020-01-01", "2021-01-01"] * (N // 2), dtype=f"datetime64[{unit}]")
    for labels in (days, days - days[0], days.astype("datetime64[D]").astype(object)):
        with pytest.raises(ValueError, match=r"y holds dates or durations .*; make the labels text"):
            small_classifier().fit(X[:, np.newaxis], labels)


def test_a_dictionary_of_lists_is_refused_by_name():
    lists = pa.DictionaryArray.from_arrays(pa.array([0, 1] * (N // 2)), pa.array([["a"], ["b"]]))
    with pytest.raises(ValueError, match="column 'odd' holds values of type list; a category must be text or a number"):
        small_regressor().fit(pa.table({"x": X, "odd": lists}), Y)
