"""Numeric categories are matched across single and double precision; integers are never merged."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

from epiboost._inputs.categories import UNSEEN, Categories, factorize
from tests.support.compare import parameters_of
from tests.support.frames import FRAMES, every_library
from tests.support.models import small_regressor

VALUES = np.array([0.1, 0.2, 0.3, 1.5, 2.7, 1e10, 1e-5, 0.0])

fractions = st.floats(-1e6, 1e6).filter(lambda value: value and abs(value) > 1e-30)


def codes(known, values):
    """Return the codes of values among known categories."""
    return Categories.fit(factorize(np.asarray(known), "v")).encode(factorize(np.asarray(values), "v"), "v")


@every_library
@pytest.mark.parametrize(("trained", "predicted"), [(np.float64, np.float32), (np.float32, np.float64)])
def test_predictions_are_the_same_in_single_and_double_precision(trained, predicted, library):
    random = np.random.default_rng(0)
    place = random.integers(len(VALUES), size=400)
    y = random.normal(size=len(VALUES))[place]
    make = FRAMES[library]
    model = small_regressor(categorical_features=["v"]).fit(make({"v": VALUES.astype(trained)[place]}), y)
    one, other = (parameters_of(model, make({"v": VALUES.astype(dtype)})) for dtype in (trained, predicted))
    np.testing.assert_array_equal(other, one)
    assert len(np.unique(one[0, :, 0])) > 2


@given(st.lists(fractions, min_size=1, max_size=20, unique_by=np.float32))
def test_numbers_and_their_single_precision_roundings_match_both_ways(values):
    double = np.array(values)
    single = double.astype(np.float32)
    assume(not np.any((single == single.round()) & (double != single)))  # an integer rounding is another number
    np.testing.assert_array_equal(codes(double, single), codes(double, double))
    np.testing.assert_array_equal(codes(single, double), codes(single, single))
    assert (codes(double, single) >= 0).all()


@given(st.integers(2**24, 2**60), st.integers(1, 50))
def test_integers_with_the_same_rounding_stay_distinct(first, apart):
    known = np.array([first, first + apart])
    np.testing.assert_array_equal(codes(known, known), [0, 1])
    np.testing.assert_array_equal(codes(known[:1], known), [0, UNSEEN])
    if known[1] < 2**53:
        np.testing.assert_array_equal(codes(known[:1].astype(float), known.astype(float)), [0, UNSEEN])


@pytest.mark.parametrize("known", [2.0**24 + 2, 2**24 + 2])
def test_a_fraction_never_matches_an_integer(known):
    near = 2**24 + 2.5
    assert np.float32(near) == known
    np.testing.assert_array_equal(codes([known], [near]), [UNSEEN])
    np.testing.assert_array_equal(codes([near], [known]), [UNSEEN])


def test_numbers_of_the_same_precision_are_compared_exactly():
    near = np.nextafter(0.1, 1.0)
    np.testing.assert_array_equal(codes([0.1, 0.2], [near, 0.2]), [UNSEEN, 1])
    np.testing.assert_array_equal(codes([0.1, near], [0.1, near]), [0, 1])


def test_a_rounding_of_several_known_numbers_matches_none_of_them():
    known = np.array([0.1, np.nextafter(0.1, 1.0), 0.2])
    np.testing.assert_array_equal(codes(known, known.astype(np.float32)), [UNSEEN, UNSEEN, 2])


def test_infinite_and_missing_numbers_match_themselves():
    values = np.array([np.inf, -np.inf, np.nan, 0.5])
    np.testing.assert_array_equal(codes(values, values.astype(np.float32)), [2, 0, np.nan, 1])
    np.testing.assert_array_equal(codes([0.5], [np.inf, 1e300, 1e-300]), [UNSEEN] * 3)
