"""Columns of numbers that arrive as text are warned of: they are taken as categories."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from epiboost import NumbersAsTextWarning
from tests.support.models import every_estimator, small_estimator, small_regressor
from tests.support.tables import TARGETS, X, Y

NUMERALS = [f"{value:.2f}" for value in X[:, 0]]
WITH_MARK = ["?", *NUMERALS[1:]]
FRAME = pd.DataFrame({"age": WITH_MARK, "b": X[:, 1], "town": ["Oslo", "Lima"] * 30})


@every_estimator
def test_a_text_column_of_numbers_is_warned_of_once_with_the_remedy(estimator):
    text = (
        r"taken as categories.*: 'age' \(such as '.*'; no numbers: '\?'\)\. .*pandas\.to_numeric.*categorical_features"
    )
    with pytest.warns(NumbersAsTextWarning, match=text) as warned:
        small_estimator(estimator).fit(FRAME, TARGETS[estimator])
    assert len(warned) == 1
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    "make", [pl.DataFrame, pa.table, lambda columns: np.array([*columns.values()], dtype=object).T]
)
def test_tables_of_every_library_are_warned_of(make):
    with pytest.warns(NumbersAsTextWarning, match=r"(0|'age') \(such as"):
        small_regressor().fit(make({"age": WITH_MARK, "town": ["Oslo", "Lima"] * 30}), Y)


def test_an_array_that_numpy_has_made_text_is_warned_of_in_one_sentence():
    table = np.array([*zip(X[:, 0], ["Oslo", "Lima"] * 30, X[:, 1], strict=True)])
    with pytest.warns(NumbersAsTextWarning, match=r"numbers: 0 \(such as '.*'\), 2 \(such as '.*'\)\.") as warned:
        small_regressor().fit(table, Y)
    assert len(warned) == 1


SILENT = {
    "numbers": X[:, 0],
    "objects that are numbers": np.array(X[:, 0], dtype=object),
    "a declared category": pd.Categorical(WITH_MARK),
    "words": ["Oslo", "Lima"] * 30,
    "mostly words": ["1", "2", "red", "blue", "green", "black"] * 10,
    "codes with leading zeros": [f"0{row}" for row in range(60)],
    "dates": [f"2024-01-{1 + row % 28:02d}" for row in range(60)],
    "missing values": [None] * 60,
}


@pytest.mark.parametrize("column", SILENT)
def test_other_columns_are_not_warned_of(column):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small_regressor().fit(pd.DataFrame({"a": SILENT[column], "b": X[:, 1]}), Y)


def test_a_column_that_is_listed_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small_regressor(categorical_features=["age", "town"]).fit(FRAME, Y)


def test_prediction_does_not_warn():
    with pytest.warns(NumbersAsTextWarning):
        model = small_regressor().fit(FRAME, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_uncertainty(FRAME, novelty=True)
