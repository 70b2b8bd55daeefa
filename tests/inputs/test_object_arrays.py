"""Arrays of Python objects: numbers, missing values, text and what is refused."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from tests.support.models import small_regressor
from tests.support.tables import X, Y


def test_objects_that_are_numbers_are_read_as_numbers_and_none_as_missing():
    incomplete = X.copy()
    incomplete[::5, 0] = np.nan
    objects = incomplete.astype(object)
    objects[::5, 0] = None
    expected = small_regressor().fit(incomplete, Y).predict(incomplete)
    np.testing.assert_array_equal(small_regressor().fit(objects, Y).predict(objects), expected)


def test_a_pandas_missing_value_among_objects_is_read_as_missing():
    table = np.empty((60, 2), dtype=object)
    table[:, 0], table[:, 1] = X[:, 0], np.where(np.arange(60) % 3, "a", "b")
    incomplete = table.copy()
    table[7, 0], incomplete[7, 0] = np.nan, pd.NA
    np.testing.assert_array_equal(
        small_regressor().fit(incomplete, Y).predict(incomplete), small_regressor().fit(table, Y).predict(table)
    )


def test_objects_that_are_not_numbers_are_refused():
    objects = X.astype(object)
    objects[0, 0] = {}
    with pytest.raises(TypeError, match="'dict'"):
        small_regressor().fit(objects, Y)


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
def test_an_object_array_with_a_value_that_is_not_a_category_is_refused(value, fault):
    table = np.empty((60, 2), dtype=object)
    table[:, 0], table[:, 1] = X[:, 0], "a"
    table[7, 1] = value
    with pytest.raises(ValueError, match=fault):
        small_regressor().fit(table, Y)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (dt.date(2020, 1, 1), "column 0 holds dates or durations"),
        (pd.Timestamp("2020"), "column 0 holds dates or durations"),
        ({}, "column 0 holds values of type dict"),
        (1j, "column 0 holds values of type complex"),
    ],
)
def test_an_object_that_is_not_a_number_beside_text_names_its_column(value, fault):
    table = np.empty((60, 2), dtype=object)
    table[:, 0], table[:, 1] = X[:, 0], "a"
    model = small_regressor().fit(table, Y)
    table[7, 0] = value
    with pytest.raises(ValueError, match=fault):
        small_regressor().fit(table, Y)
    with pytest.raises(ValueError, match=fault):
        model.predict(table)
