"""Coverage and width of intervals."""

import numpy as np
import pytest

from epiboost.metrics import interval_coverage_score, interval_width
from tests.support.posteriors import NORMAL, Y


def test_intervals_of_several_coverages_are_scored_at_once():
    intervals = np.stack([NORMAL.interval(0.2), NORMAL.interval(0.8)], axis=1)
    coverage, width = interval_coverage_score(Y, intervals), interval_width(intervals)
    assert coverage.tolist() == [interval_coverage_score(Y, intervals[:, k]) for k in range(2)]
    assert width.tolist() == pytest.approx([interval_width(intervals[:, k]) for k in range(2)])


def test_ends_belong_to_the_interval_and_may_be_infinite():
    assert interval_coverage_score([1.0, 2.0], [[1.0, 1.5], [-np.inf, 2.0]]) == 1.0
    assert interval_width([[-np.inf, 2.0]]) == np.inf
    assert interval_width([[-1e308, 1e308]]) == np.inf


@pytest.mark.parametrize(
    ("interval", "message"),
    [
        ([[1.0, 0.0]], "must not have a lower end above"),
        ([[np.nan, 0.0]], "must not be NaN, got 1"),
        ([[np.inf, np.inf]], "a lower end of infinity"),
        ([[-np.inf, -np.inf]], "an upper end of minus infinity"),
        ([1.0, 0.0], r"shape \(n, 2\) or \(n, k, 2\), got \(2,\)"),
    ],
)
def test_ends_that_are_not_an_interval_are_refused(interval, message):
    with pytest.raises(ValueError, match=message):
        interval_width(interval)
