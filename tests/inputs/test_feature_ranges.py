"""Models store the range of each column in training."""

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostRegressor
from epiboost._inputs.schema import ColumnSchema
from tests.support.models import every_estimator, small_estimator, small_regressor

FRAME = pd.DataFrame({"size": [1.0, 3.0, 2.0, 9.0], "age": [np.nan, 5.0, 7.0, 6.0], "town": ["a", "b", "a", "b"]})
Y = np.array([1.0, 2.0, 3.0, 4.0])


def ranges_of(table):
    """Return the ranges of a numeric table."""
    return ColumnSchema("EpiBoostRegressor", table.shape[1]).with_ranges(table).ranges


def test_ranges_are_those_of_the_rows_of_positive_weight():
    ranges = small_regressor().fit(FRAME, Y, sample_weight=[1, 1, 1, 0]).feature_ranges_
    np.testing.assert_array_equal(ranges.low, [1.0, 5.0, np.nan])
    np.testing.assert_array_equal(ranges.high, [3.0, 7.0, np.nan])
    assert ranges.missing.tolist() == [False, True, True]


def test_values_are_out_of_range_when_well_beyond_the_training_values():
    ranges = ranges_of(np.array([[0.0, 4.0], [10.0, 4.0]]))
    rows = np.array([[-1.0, 4.0], [-1.01, 4.0], [11.0, 4.1], [11.01, 3.9]])
    assert ranges.beyond(rows).tolist() == [[False, False], [True, False], [False, True], [True, True]]


def test_the_range_of_the_largest_numbers_is_unlimited():
    ranges = ranges_of(np.array([[-1.7e308], [1.7e308]]))
    assert not ranges.beyond(np.array([[1.79e308], [0.0]])).any()


@every_estimator
def test_ranges_are_the_same_after_saving(estimator, tmp_path):
    model = small_estimator(estimator).fit(FRAME, Y if estimator == "regressor" else Y > 2)
    model.save(tmp_path / "model.epib")
    again = type(model).load(tmp_path / "model.epib").feature_ranges_
    for name in ("low", "high", "missing"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model.feature_ranges_, name))


@pytest.mark.parametrize(
    ("name", "part", "words"),
    [
        ("ground_low", np.zeros(2), "a range for each column"),
        ("ground_low", np.array([99.0, 0.0, np.nan]), "ranges must ascend"),
        ("ground_high", np.full(3, np.nan), "ranges must ascend"),
        ("ground_gaps", np.zeros(3), "ground_gaps must be an array of bool"),
    ],
)
def test_invalid_ranges_in_a_file_are_refused(name, part, words):
    header, arrays = small_regressor().fit(FRAME, Y)._to_file()
    with pytest.raises(ValueError, match=words):
        EpiBoostRegressor._from_file(header, {**arrays, name: part})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 3])
def test_ranges_are_those_of_numpy_with_any_number_of_threads(dtype, threads):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(20_000, 4)).astype(dtype)
    table[:, 1], table[:, 2] = np.nan, np.where(rng.random(20_000) < 0.5, 0.0, -0.0)
    table[17_000, 3] = np.nan
    ranges = ColumnSchema("EpiBoostRegressor", 4).with_ranges(table, threads=threads).ranges
    np.testing.assert_array_equal(ranges.low, np.fmin.reduce(table))
    np.testing.assert_array_equal(ranges.high, np.fmax.reduce(table))
    assert ranges.missing.tolist() == [False, True, False, True]
    assert not np.signbit([ranges.low[2], ranges.high[2]]).any()
