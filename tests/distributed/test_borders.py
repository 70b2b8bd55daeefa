"""Sums, counts and bins over partitions do not depend on how a table is partitioned."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epiboost._boosting.gradient_grid import on_grid
from epiboost.distributed import borders
from epiboost.distributed.borders import BinMinima, ValueCounts, integer_weights
from epiboost.distributed.cluster import assign_workers
from epiboost.distributed.exact_sums import UNIT, exact_sum
from epiboost.distributed.summary import Moments, TargetSummary

finite = st.floats(allow_nan=False, allow_infinity=False)
singles = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(st.lists(finite, min_size=1, max_size=30))
def test_a_sum_is_exact(values):
    assert exact_sum(np.array(values)) * UNIT == sum(Fraction(value) for value in values)


def test_long_sums_in_pieces_are_exact(monkeypatch):
    monkeypatch.setattr("epiboost.distributed.exact_sums._CHUNK_SIZE", 7)
    values = np.random.default_rng(0).normal(size=100)
    assert exact_sum(values) * UNIT == sum(map(Fraction, values.tolist()))


@given(st.lists(singles, min_size=1, max_size=40), st.integers(0, 40), st.integers(2, 5))
def test_counts_do_not_depend_on_the_partitions(values, cut, few):
    column = np.array(values, dtype=np.float32)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(borders, "MAX_DISTINCT", few)
        whole = ValueCounts.from_column(column)
        parts = ValueCounts.merge([ValueCounts.from_column(column[cut:]), ValueCounts.from_column(column[:cut])])
    assert len(whole.keys) <= few
    assert whole.weights.sum() == len(values)
    assert whole.dropped_bits == parts.dropped_bits
    np.testing.assert_array_equal(parts.keys, whole.keys)
    np.testing.assert_array_equal(parts.weights, whole.weights)


@given(st.lists(singles, min_size=1, max_size=40), st.integers(2, 5), st.integers(2, 6), singles)
def test_replacing_a_value_by_its_bin_minimum_keeps_its_side_of_every_border(values, few, bins, other):
    column = np.array(values, dtype=np.float32)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(borders, "MAX_DISTINCT", few)
        bin_minima = ValueCounts.from_column(column).bin_minima(bins)
    assert 1 <= len(bin_minima) <= bins
    assert np.isfinite(bin_minima).all()
    assert (np.diff(bin_minima) > 0).all()
    table = np.array([*values, other], dtype=np.float32)[:, np.newaxis]
    replaced = BinMinima((bin_minima,)).transform(table)
    np.testing.assert_array_equal(table < bin_minima[1:], replaced < bin_minima[1:])
    assert np.isin(replaced, bin_minima).all()


def test_missing_values_have_no_bin_minimum():
    column = np.array([np.nan, 1.0, np.nan, 2.0], dtype=np.float32)
    bin_minima = BinMinima((ValueCounts.from_column(column).bin_minima(255),))
    np.testing.assert_array_equal(bin_minima.transform(column[:, np.newaxis])[:, 0], column)
    empty = BinMinima((ValueCounts.from_column(column[:1]).bin_minima(255),))
    assert np.isnan(empty.transform(column[:1, np.newaxis])).all()


@pytest.mark.parametrize("distribution", ["normal", "uniform", "lognormal"])
def test_bins_of_many_values_have_about_the_same_weight(distribution):
    column = getattr(np.random.default_rng(0), distribution)(size=300_000).astype(np.float32)
    counts = ValueCounts.from_column(column)
    assert counts.dropped_bits > 0
    bin_minima = counts.bin_minima(255)
    sizes = np.diff(np.searchsorted(np.sort(column), [*bin_minima, np.inf]))
    assert len(sizes) == 255
    assert np.abs(sizes[4:-4] / (len(column) / 249) - 1).max() < 0.2  # the ends are finer
    assert np.abs(sizes[:4] / sizes[4] - [0.125, 0.125, 0.25, 0.5]).max() < 0.05


def test_weights_determine_the_bin_minima():
    column = np.arange(100, dtype=np.float32)
    weight = np.where(column < 90, 0.01, 0.9)
    bin_minima = ValueCounts.from_column(column, integer_weights(weight, 0.01, 0.9)).bin_minima(10)
    assert np.count_nonzero(bin_minima >= 90) >= 8
    assert integer_weights(np.ones(3), 1.0, 1.0) is None


@given(st.lists(st.floats(-1e9, 1e9).map(lambda value: round(value, 3)), min_size=2, max_size=30), st.integers(0, 30))
def test_mean_and_standard_deviation_do_not_depend_on_the_partitions(values, cut):
    y = np.array(values)
    weight = np.random.default_rng(0).uniform(0.1, 2.0, size=len(y))

    def objective(*pieces):
        summary = [TargetSummary.from_rows(y[piece], weight[piece], len(y[piece]), 0) for piece in pieces]
        whole = summary[0] if len(summary) == 1 else summary[0].merge(summary[1])
        moments = [Moments.from_rows(y[piece], weight[piece], whole.midpoint, whole.half_range) for piece in pieces]
        return whole.objective(moments[0] if len(moments) == 1 else moments[0].merge(moments[1]))

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
    summary = TargetSummary.from_rows(y, np.ones(1000), 1000, 0)
    assert summary.objective(
        Moments.from_rows(y, np.ones(1000), summary.midpoint, summary.half_range)
    ).scale == pytest.approx(y.std(), rel=1e-6)


def test_partitions_are_assigned_to_workers_by_their_numbers_of_rows():
    sizes = np.array([100, 1, 1, 1, 97])
    homes = np.array(assign_workers(sizes.tolist(), ["one", "two"]))
    assert [int(sizes[homes == home].sum()) for home in ("one", "two")] == [100, 100]
    assert assign_workers([5] * 6, ["one", "two", "three"]) == ["one", "two", "three"] * 2
