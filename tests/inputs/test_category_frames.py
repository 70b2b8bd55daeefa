"""Columns of categories in frames and arrays of any library give the same model."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.support.cities import CITIES, FRAME, N, Y, city_model
from tests.support.compare import parameters_of
from tests.support.frames import FRAMES, every_library

pytestmark = pytest.mark.filterwarnings("ignore::epiboost.NumbersAsTextWarning")  # some categories are numerals


def arrow_with_dictionary_chunks(frame):
    """Return an Arrow table whose chunks have different dictionaries."""
    parts = [frame.iloc[:500], frame.iloc[500:]]
    tables = [pa.Table.from_pandas(part, preserve_index=False) for part in parts]
    return pa.concat_tables(
        [
            table.set_column(0, "city", table["city"].dictionary_encode()).set_column(
                2, "colour", table["colour"].dictionary_encode()
            )
            for table in tables
        ]
    )


CATEGORY_FRAMES = {
    "pandas category": lambda frame: frame.astype({"city": "category", "colour": "category"}),
    "pandas category in another order": lambda frame: frame.assign(
        city=pd.Categorical(frame["city"], categories=CITIES[::-1]), colour=frame["colour"].astype("category")
    ),
    "pandas string": lambda frame: frame.astype({"city": "string", "colour": "string"}),
    "pandas over Arrow": lambda frame: frame.astype({"city": "string[pyarrow]", "colour": "string[pyarrow]"}),
    "pandas with NaN": lambda frame: frame.fillna({"colour": np.nan}),
    "polars String": pl.DataFrame,
    "polars Categorical": lambda frame: pl.DataFrame(frame).cast({"city": pl.Categorical, "colour": pl.Categorical}),
    "polars Enum": lambda frame: pl.DataFrame(frame).cast(
        {"city": pl.Enum(CITIES), "colour": pl.Enum(["r", "g", "b"])}
    ),
    "Arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "Arrow dictionaries in chunks": arrow_with_dictionary_chunks,
    "Arrow batch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
}


@pytest.mark.parametrize("form", sorted(CATEGORY_FRAMES))
def test_categories_in_any_type_of_column_give_the_same_model(form):
    model = city_model().fit(FRAME, Y)
    np.testing.assert_array_equal(parameters_of(model, CATEGORY_FRAMES[form](FRAME)), parameters_of(model, FRAME))
    np.testing.assert_array_equal(
        parameters_of(city_model().fit(CATEGORY_FRAMES[form](FRAME), Y), FRAME), parameters_of(model, FRAME)
    )


@pytest.mark.parametrize("make", [lambda frame: frame.to_numpy(dtype=object), lambda frame: frame.to_numpy().tolist()])
def test_object_arrays_and_lists_may_mix_text_and_numeric_columns(make):
    table = make(FRAME)
    model = city_model().fit(table, Y)
    np.testing.assert_array_equal(parameters_of(model, table), parameters_of(city_model().fit(FRAME, Y), FRAME))
    assert not hasattr(model, "feature_names_in_")


def test_an_array_of_text_is_read_as_categories():
    text = FRAME[["city", "colour"]].fillna("none").to_numpy()
    np.testing.assert_array_equal(
        parameters_of(city_model().fit(text.astype(str), Y), text), parameters_of(city_model().fit(text, Y), text)
    )


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="needs NumPy 2")
def test_an_array_of_variable_width_text_is_read_as_categories():
    text = FRAME[["city", "colour"]].fillna("none").to_numpy()
    varied = text.astype(np.dtypes.StringDType())
    np.testing.assert_array_equal(
        parameters_of(city_model().fit(varied, Y), varied), parameters_of(city_model().fit(text, Y), text)
    )


@pytest.mark.parametrize("categorical_features", [["city"], [0], ["city", 0], np.array([0]), ("city",)])
def test_numbers_named_in_categorical_features_are_categories(categorical_features):
    numbers = FRAME["city"].str.removeprefix("city ").astype(int)
    scrambled = FRAME.assign(city=(numbers * 17) % 40)[["city", "size"]]  # carries no information as a number
    expected = parameters_of(city_model().fit(scrambled.astype({"city": "category"}), Y), scrambled)
    model = city_model(categorical_features=categorical_features).fit(scrambled, Y)
    np.testing.assert_array_equal(parameters_of(model, scrambled), expected)
    np.testing.assert_array_equal(parameters_of(model, scrambled.astype({"city": float})), expected)
    assert not np.array_equal(parameters_of(city_model().fit(scrambled, Y), scrambled), expected)


def test_columns_of_an_array_may_be_categories_by_position():
    table = np.stack([np.arange(N) % 7, FRAME["size"]], axis=1)
    y = np.random.default_rng(1).permutation(7)[np.arange(N) % 7] + 0.1 * Y
    named = pd.DataFrame({"a": (np.arange(N) % 7).astype(str), "b": FRAME["size"]})
    model = city_model(categorical_features=[0]).fit(table, y)
    np.testing.assert_array_equal(parameters_of(model, table), parameters_of(city_model().fit(named, y), named))


@every_library
def test_booleans_may_be_numbers_or_categories(library):
    flag = FRAME["city"].to_numpy() > "city 2"
    table = np.stack([flag, FRAME["size"]], axis=1)
    frame = FRAMES[library]({"flag": flag, "size": FRAME["size"].to_numpy()})
    np.testing.assert_array_equal(
        parameters_of(city_model().fit(frame, Y), frame), parameters_of(city_model().fit(table, Y), table)
    )
    text = FRAME.assign(flag=np.where(flag, "yes", "no"))[["flag", "size"]]
    model = city_model(categorical_features=["flag"]).fit(frame, Y)
    np.testing.assert_array_equal(parameters_of(model, frame), parameters_of(city_model().fit(text, Y), text))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pandas])
def test_categories_in_another_column_order_are_matched_by_name(make):
    model = city_model().fit(FRAME, Y)
    np.testing.assert_array_equal(
        parameters_of(model, make(FRAME[["colour", "city", "size"]])), parameters_of(model, FRAME)
    )


def test_integer_categories_beyond_double_precision_stay_distinct():
    large = 2**60 + np.arange(2 * 30) // 30  # two neighbouring integers
    frame = pd.DataFrame({"id": np.tile(large, 20)})
    y = (frame["id"] - 2**60).to_numpy().astype(float)
    model = city_model(categorical_features=["id"]).fit(frame, y)
    assert model.score(frame, y) > 0.9


def test_object_columns_of_numbers_beside_categories_are_numbers():
    table = FRAME.assign(size=FRAME["size"].astype(object).where(np.arange(N) % 5 > 0, None))
    plain = FRAME.assign(size=FRAME["size"].where(np.arange(N) % 5 > 0))
    np.testing.assert_array_equal(
        parameters_of(city_model().fit(table, Y), table), parameters_of(city_model().fit(plain, Y), plain)
    )


@pytest.mark.parametrize(
    ("trained", "predicted", "fault"),
    [
        (["1", "2", "3", "4"], [1, 2, 3, 4], r"column 'v' held text in training and holds numbers now \("),
        (
            ["1", "2", "3", "4"],
            [1.5, None, 3.0, 4.0],
            r"column 'v' held text in training and holds numbers now \(",
        ),
        ([1, 2, 3, 4], ["1", "2", "3", "4"], r"column 'v' held numbers in training and holds text now \('"),
    ],
)
@every_library
def test_categories_of_another_type_at_prediction_are_refused(trained, predicted, fault, library):
    frame = FRAMES[library]({"v": trained * 10})
    model = city_model(categorical_features=["v"], n_estimators=5).fit(frame, np.arange(40) % 4)
    with pytest.raises(ValueError, match=fault):
        model.predict(FRAMES[library]({"v": predicted}))


def test_text_at_prediction_in_a_numeric_column_beside_categories_is_refused():
    model = city_model(n_estimators=5).fit(FRAME, Y)
    with pytest.raises(
        ValueError,
        match=r"not numbers: 'size' \(String, such as 'large'\); in training they held numbers or were empty",
    ):
        model.predict(FRAME.assign(size="large"))
