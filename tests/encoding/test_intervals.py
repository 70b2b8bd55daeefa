"""Intervals of numeric columns, and their crosses with categories."""

import numpy as np
import pytest

from epiboost._binning.bins import Bins
from epiboost._encoding.encoding import Encoding
from epiboost._encoding.intervals import Intervals
from tests.support.encodings import assert_bins_match_numbers, fit_and_encode


@pytest.mark.parametrize(("n", "intervals"), [(1000, 8), (8000, 16), (100_000, 63)])
def test_more_rows_give_more_intervals(n, intervals):
    X = np.random.default_rng(0).normal(size=(n, 1))
    bins = Bins.fit(X, np.ones(n), 255)
    cuts = Intervals.fit(bins, bins.transform(X), np.ones(n), np.array([0]))
    assert len(cuts.bins.borders_of(0)) + 1 == pytest.approx(intervals, abs=1)


def test_a_numeric_column_forms_a_cross_with_a_category():
    random = np.random.default_rng(0)
    n, sizes = 20_000, (0, 41, 0)
    X = np.stack([random.uniform(size=n), random.integers(40, size=n), random.normal(size=n)], axis=1)
    week = (X[:, 0] * 20).astype(int)
    X[::50, 0], week[::50] = np.nan, 20
    y = random.normal(size=(40, 21))[X[:, 1].astype(int), week]
    encoding, (table, _) = fit_and_encode(X, y, np.ones(n), sizes)
    assert [lookup.columns for lookup in encoding.lookups] == [(1,), (0, 1)]
    assert encoding.intervals.columns.tolist() == [0]
    assert np.corrcoef(table[:, -2], y)[0, 1] > 0.6
    assert np.corrcoef(encoding.transform(X)[0][:, -2], y)[0, 1] > 0.7
    assert_bins_match_numbers(encoding, table, X[:700])
    again = Encoding.from_file(*encoding.to_file())
    np.testing.assert_array_equal(again.transform(X)[0], encoding.transform(X)[0])
