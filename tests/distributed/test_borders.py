"""Sums, counts and bins over partitions do not depend on how a table is partitioned."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epiboost._boosting.gradient_grid import on_grid
from epiboost.distributed import borders
from epiboost.distributed.borders import Counts, StandIns, whole_weights
from epiboost.distributed.cluster import dealt
from epiboost.distributed.exact_sums import UNIT, exact_sum
from epiboost.distributed.summary import Moments, Summary

finite = st.floats(allow_nan=False, allow_infinity=False)
singles = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(st.lists(finite, min_size=1, max_size=30))
def test_a_sum_is_exact(values):
    assert exact_sum(np.array(values)) * UNIT == sum(Fraction(value) for value in values)


def test_long_sums_in_pieces_are_exact(monkeypatch):
    monkeypatch.setattr("epiboost.distributed.exact_sums._AT_ONCE", 7)
    values = np.random.default_rng(0).normal(size=100)
    assert exact_sum(values) * UNIT == sum(map(Fraction, values.tolist()))


@given(st.lists(singles, min_size=1, max_size=40), st.integers(0, 40), st.integers(2, 5))
def test_counts_do_not_depend_on_the_partitions(values, cut, few):
    column = np.array(values, dtype=np.float32)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(borders, "MOST_VALUES", few)
        whole = Counts.of(column)
        parts = Counts.merged([Counts.of(column[cut:]), Counts.of(column[:cut])])
    assert len(whole.keys) <= few
    assert whole.weights.sum() == len(values)
    assert whole.lost == parts.lost
    np.testing.assert_array_equal(parts.keys, whole.keys)
    np.testing.assert_array_equal(parts.weights, whole.weights)


@given(st.lists(singles, min_size=1, max_size=40), st.integers(2, 5), st.integers(2, 6), singles)
def test_replacing_a_value_by_its_stand_in_keeps_its_side_of_every_border(values, few, bins, other):
    column = np.array(values, dtype=np.float32)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(borders, "MOST_VALUES", few)
        stand_ins = Counts.of(column).stand_ins(bins)
    assert 1 <= len(stand_ins) <= bins
    assert np.isfinite(stand_ins).all()
    assert (np.diff(stand_ins) > 0).all()
    table = np.array([*values, other], dtype=np.float32)[:, np.newaxis]
    replaced = StandIns((stand_ins,)).of(table)
    np.testing.assert_array_equal(table < stand_ins[1:], replaced < stand_ins[1:])
    assert np.isin(replaced, stand_ins).all()


def test_missing_values_have_no_stand_in():
    column = np.array([np.nan, 1.0, np.nan, 2.0], dtype=np.float32)
    stand_ins = StandIns((Counts.of(column).stand_ins(255),))
    np.testing.assert_array_equal(stand_ins.of(column[:, np.newaxis])[:, 0], column)
    empty = StandIns((Counts.of(column[:1]).stand_ins(255),))
    assert np.isnan(empty.of(column[:1, np.newaxis])).all()


@pytest.mark.parametrize("distribution", ["normal", "uniform", "lognormal"])
def test_bins_of_many_values_have_about_the_same_weight(distribution):
    column = getattr(np.random.default_rng(0), distribution)(size=300_000).astype(np.float32)
    counts = Counts.of(column)
    assert counts.lost > 0
    stand_ins = counts.stand_ins(255)
    sizes = np.diff(np.searchsorted(np.sort(column), [*stand_ins, np.inf]))
    assert len(sizes) == 255
    assert np.abs(sizes / (len(column) / 255) - 1).max() < 0.2


def test_weights_decide_where_stand_ins_lie():
    column = np.arange(100, dtype=np.float32)
    weight = np.where(column < 90, 0.01, 0.9)
    stand_ins = Counts.of(column, whole_weights(weight, 0.01, 0.9)).stand_ins(10)
    assert np.count_nonzero(stand_ins >= 90) >= 8
    assert whole_weights(np.ones(3), 1.0, 1.0) is None


@given(st.lists(st.floats(-1e9, 1e9).map(lambda value: round(value, 3)), min_size=2, max_size=30), st.integers(0, 30))
def test_mean_and_standard_deviation_do_not_depend_on_the_partitions(values, cut):
    y = np.array(values)
    weight = np.random.default_rng(0).uniform(0.1, 2.0, size=len(y))

    def objective(*pieces):
        summary = [Summary.of(y[piece], weight[piece], len(y[piece]), 0) for piece in pieces]
        whole = summary[0] if len(summary) == 1 else summary[0].joined(summary[1])
        moments = [Moments.of(y[piece], weight[piece], whole.ruler) for piece in pieces]
        return whole.objective(moments[0] if len(moments) == 1 else moments[0].joined(moments[1]))

    whole = objective(slice(None))
    assert objective(slice(cut, None), slice(0, cut)) == whole
    if len(set(values)) > 1:
        assert whole.location == pytest.approx(np.average(y, weights=weight), abs=1e-9 * np.abs(y).max())


def test_sums_of_numbers_on_a_grid_do_not_depend_on_their_order():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(50_000, 2)) * np.exp(5.0 * rng.normal(size=(50_000, 2)))
    rounded = on_grid(numbers, np.abs(numbers).max(axis=0))
    np.testing.assert_array_equal(rounded.astype(np.float32), rounded)
    assert np.abs(rounded - numbers).max() <= 2.0**-22 * np.abs(numbers).max()
    orders = [rng.permutation(len(numbers)) for _ in range(5)]
    assert len({tuple(np.cumsum(rounded[order], axis=0)[-1]) for order in orders}) == 1
    assert len({tuple(np.cumsum(numbers[order].astype(np.float32).astype(float), axis=0)[-1]) for order in orders}) > 1


def test_the_standard_deviation_of_numbers_far_from_zero_is_exact():
    y = 1e10 + np.random.default_rng(0).normal(size=1000)
    summary = Summary.of(y, np.ones(1000), 1000, 0)
    assert summary.objective(Moments.of(y, np.ones(1000), summary.ruler)).scale == pytest.approx(y.std(), rel=1e-6)


def test_partitions_are_assigned_to_workers_by_their_numbers_of_rows():
    sizes = np.array([100, 1, 1, 1, 97])
    homes = np.array(dealt(sizes.tolist(), ["one", "two"]))
    assert [int(sizes[homes == home].sum()) for home in ("one", "two")] == [100, 100]
    assert dealt([5] * 6, ["one", "two", "three"]) == ["one", "two", "three"] * 2
