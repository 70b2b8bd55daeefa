"""Categories that are numbers are matched across precisions; whole ones are never merged."""

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given

from epiboost import EpiBoostRegressor
from epiboost._inputs.categories import UNSEEN, Vocabulary, factor_of

VALUES = np.array([0.1, 0.2, 0.3, 1.5, 2.7, 1e10, 1e-5, 0.0])

fractions = st.floats(-1e6, 1e6).filter(lambda value: value and abs(value) > 1e-30)


def codes(known, asked):
    return Vocabulary.of(factor_of(np.asarray(known), "v")).codes(factor_of(np.asarray(asked), "v"), "v")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, lambda columns: pa.table(dict(columns))])
@pytest.mark.parametrize(("trained", "asked"), [(np.float64, np.float32), (np.float32, np.float64)])
def test_a_model_trained_in_one_precision_predicts_the_same_in_the_other(trained, asked, library):
    random = np.random.default_rng(0)
    place = random.integers(len(VALUES), size=400)
    y = random.normal(size=len(VALUES))[place]
    model = EpiBoostRegressor(categorical_features=["v"], n_members=2, n_estimators=10, n_jobs=1, random_state=0)
    model.fit(library({"v": VALUES.astype(trained)[place]}), y)
    told = [model.predict_posterior(library({"v": VALUES.astype(kind)})).parameters for kind in (trained, asked)]
    np.testing.assert_array_equal(told[1], told[0])
    assert len(np.unique(told[0][0, :, 0])) > 2


@given(st.lists(fractions, min_size=1, max_size=20, unique_by=np.float32))
def test_numbers_are_matched_with_their_rounding_in_both_directions(values):
    double = np.array(values)
    single = double.astype(np.float32)
    assume(not np.any((single == single.round()) & (double != single)))  # a rounding that is whole is another number
    np.testing.assert_array_equal(codes(double, single), codes(double, double))
    np.testing.assert_array_equal(codes(single, double), codes(single, single))
    assert (codes(double, single) >= 0).all()


@given(st.integers(2**24, 2**60), st.integers(1, 50))
def test_whole_numbers_that_round_alike_stay_distinct(first, apart):
    known = np.array([first, first + apart])
    np.testing.assert_array_equal(codes(known, known), [0, 1])
    np.testing.assert_array_equal(codes(known[:1], known), [0, UNSEEN])
    if known[1] < 2**53:
        np.testing.assert_array_equal(codes(known[:1].astype(float), known.astype(float)), [0, UNSEEN])


@pytest.mark.parametrize("known", [2.0**24 + 2, 2**24 + 2])
def test_a_fraction_is_never_matched_with_a_whole_number(known):
    near = 2**24 + 2.5
    assert np.float32(near) == known
    np.testing.assert_array_equal(codes([known], [near]), [UNSEEN])
    np.testing.assert_array_equal(codes([near], [known]), [UNSEEN])


def test_numbers_of_one_precision_are_compared_exactly():
    near = np.nextafter(0.1, 1.0)
    np.testing.assert_array_equal(codes([0.1, 0.2], [near, 0.2]), [UNSEEN, 1])
    np.testing.assert_array_equal(codes([0.1, near], [0.1, near]), [0, 1])


def test_a_rounding_of_several_known_numbers_is_none_of_them():
    known = np.array([0.1, np.nextafter(0.1, 1.0), 0.2])
    np.testing.assert_array_equal(codes(known, known.astype(np.float32)), [UNSEEN, UNSEEN, 2])


def test_numbers_without_end_and_missing_ones_are_matched_as_they_are():
    values = np.array([np.inf, -np.inf, np.nan, 0.5])
    np.testing.assert_array_equal(codes(values, values.astype(np.float32)), [2, 0, np.nan, 1])
    np.testing.assert_array_equal(codes([0.5], [np.inf, 1e300, 1e-300]), [UNSEEN] * 3)
