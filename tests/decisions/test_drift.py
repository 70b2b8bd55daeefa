"""The drift test of a batch: finds what differs in either direction, and has uniform p-values without drift."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp, kstest

from epiboost.decisions.drift import batch as drift
from epiboost.decisions.drift.batch import drift_test

NAMES = ("age", "income", "rooms", "city")
IS_CATEGORICAL = (False, False, False, True)


def rows(n, seed):
    """Return rows of three dependent numbers, some missing, and a category of six."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, 4))
    table[:, 1] += table[:, 0]
    table[:, 2] = table[:, 2].round(1)
    table[rng.random(n) < 0.1, 1] = np.nan
    table[:, 3] = rng.choice(6, size=n, p=[0.4, 0.2, 0.2, 0.1, 0.07, 0.03])
    return table


def compare(batch, reference=None, **options):
    reference = rows(600, 0) if reference is None else reference
    return drift_test(reference, batch, names=NAMES, is_categorical=IS_CATEGORICAL, **options)


def p_values_without_drift(n_batches, n_reference, n_rows, n_permutations):
    """Return joint p-values, each of its own reference and batch."""
    return [
        compare(
            rows(n_rows, seed + 1000), rows(n_reference, seed), random_state=seed, n_permutations=n_permutations
        ).p_value
        for seed in range(n_batches)
    ]


def shifted(column, change, n=80):
    """Return a batch with one column changed by a function of its values."""
    batch = rows(n, 1)
    batch[:, column] = change(batch[:, column])
    return batch


class TestShifts:
    @pytest.mark.parametrize(
        ("column", "change"),
        [
            (0, lambda values: values + 1.0),
            (0, lambda values: values - 1.0),
            (0, lambda values: values * 4.0),
            (0, lambda values: values * 0.1),
            (1, lambda values: np.where(np.arange(len(values)) % 2, np.nan, values)),
            (2, lambda values: np.where(np.arange(len(values)) % 2, 0.3, values)),
            (3, lambda values: np.where(np.arange(len(values)) % 2, 5.0, values)),
            (3, lambda values: np.where(np.arange(len(values)) % 5, values, -1.0)),
            (3, lambda values: np.where(np.arange(len(values)) % 5, values, np.nan)),
        ],
        ids=["larger", "smaller", "wider", "narrower", "missing", "repeated", "category", "unseen", "missing category"],
    )
    def test_the_shifted_column_is_found_and_the_others_are_not(self, column, change):
        test = compare(shifted(column, change))
        assert test.p_value <= 0.01
        assert test.columns[0].name == NAMES[column]
        assert min(other.p_value for other in test.columns[1:]) > 0.05

    def test_effects_of_numbers_are_kolmogorov_smirnov_distances(self):
        reference, batch = rows(90, 0), shifted(0, lambda values: values + 0.5)
        effects = {column.name: column.effect for column in compare(batch, reference).columns}
        for column, name in enumerate(NAMES[:3]):
            without_nan = [np.nan_to_num(table[:, column], nan=np.inf) for table in (batch, reference)]
            assert effects[name] == pytest.approx(ks_2samp(*without_nan).statistic)

    def test_effects_at_quantiles_are_close_to_the_exact_ones(self):
        reference, batch = rows(6000, 0), rows(1500, 1) + 0.2
        exact = ks_2samp(batch[:, 0], reference[:, 0]).statistic
        test = compare(batch, reference, n_permutations=9)
        effect = next(column.effect for column in test.columns if column.name == "age")
        assert exact - 1 / 200 <= effect <= exact

    def test_effects_of_categories_are_total_variation_distances(self):
        reference, batch = np.array([[0.0], [0.0], [1.0], [np.nan]]), np.array([[0.0], [-1.0]])
        test = drift_test(reference, batch, names=["city"], is_categorical=[True])
        assert test.columns[0].effect == pytest.approx(0.5)

    def test_missing_values_are_no_part_of_the_last_quantile(self):
        reference = np.arange(5000.0)[:, None]
        test = drift_test(reference, np.array([[np.nan]]), names=["age"], is_categorical=[False])
        assert test.columns[0].effect == 1.0

    @pytest.mark.parametrize("code", [-1.0, np.nan])
    def test_unseen_and_missing_are_not_counted_with_the_rare_categories(self, code):
        reference = np.repeat(np.arange(400.0), 10)[:, None]
        test = drift_test(reference, np.full((5, 1), code), names=["street"], is_categorical=[True])
        assert test.columns[0].effect == 1.0
        assert test.p_value == 0.001

    def test_a_strong_shift_among_many_columns_has_the_smallest_p_value(self):
        rng = np.random.default_rng(0)
        reference, batch = rng.normal(size=(500, 60)), rng.normal(size=(100, 60))
        batch[:, 7] += 1.5
        test = drift_test(reference, batch, names=[str(column) for column in range(60)], is_categorical=[False] * 60)
        assert test.columns[0].name == "7"
        assert test.p_value == 0.001


class TestPValues:
    def test_joint_p_values_are_uniform_without_drift(self):
        p_values = p_values_without_drift(200, n_reference=60, n_rows=25, n_permutations=99)
        assert kstest(p_values, "uniform").pvalue > 0.01

    @pytest.mark.slow
    @pytest.mark.parametrize("n_rows", [20, 200, 1500])
    def test_joint_p_values_of_500_batches_are_uniform_without_drift(self, n_rows):
        p_values = p_values_without_drift(500, n_reference=500, n_rows=n_rows, n_permutations=299)
        assert kstest(p_values, "uniform").pvalue > 0.01

    def test_other_columns_are_rarely_reported_beside_a_shifted_one(self):
        false_alarms = 0
        for seed in range(100):
            batch = rows(40, seed + 1000)
            batch[:, 2] += 3.0
            test = compare(batch, rows(100, seed), n_permutations=99)
            false_alarms += any(column.p_value <= 0.1 for column in test.columns if column.name != "rooms")
        assert false_alarms <= 18

    def test_the_joint_p_value_is_the_smallest_adjusted_one(self):
        test = compare(rows(50, 1))
        assert test.p_value == min(column.p_value for column in test.columns)

    @given(seed=st.integers(0, 1000), n_rows=st.integers(1, 40))
    def test_adjusted_p_values_ascend_and_are_at_least_those_alone(self, seed, n_rows):
        columns = compare(rows(n_rows, seed), rows(50, seed + 1), n_permutations=39).columns
        adjusted = [column.p_value for column in columns]
        assert adjusted == sorted(adjusted)
        assert all(1 / 40 <= column.p_value_alone <= column.p_value <= 1.0 for column in columns)
        assert all(0.0 <= column.effect <= 1.0 for column in columns)

    def test_one_column_needs_no_adjustment(self):
        test = drift_test(rows(80, 0)[:, :1], rows(30, 1)[:, :1], names=["age"], is_categorical=[False])
        assert test.p_value == test.columns[0].p_value_alone

    def test_constant_columns_are_not_drift(self):
        test = compare(np.ones((5, 4)), np.ones((40, 4)))
        assert test.p_value == 1.0
        assert all(column.effect == 0.0 for column in test.columns)

    def test_the_same_seed_gives_the_same_result(self):
        batch = rows(50, 1)
        assert compare(batch, random_state=3).columns == compare(batch, random_state=3).columns
        assert compare(batch, random_state=3).columns != compare(batch, random_state=4).columns


class TestSizes:
    @pytest.mark.parametrize("n_rows", [1, 2, 1000])
    def test_batches_of_any_size_are_tested(self, n_rows):
        test = compare(rows(n_rows, 1))
        assert test.n_rows == n_rows
        assert test.p_value > 0.05

    def test_one_foreign_row_is_found(self):
        assert compare(np.array([[9.0, 0.0, 0.0, 0.0]])).p_value < 0.02

    def test_large_batches_are_sampled(self, monkeypatch):
        monkeypatch.setattr(drift, "_MOST_ROWS", 300)
        monkeypatch.setattr(drift, "_FEWEST_ROWS", 100)
        monkeypatch.setattr(drift, "_MOST_CELLS", 100)
        counted = []
        statistics = drift.permuted_statistics
        monkeypatch.setattr(
            drift,
            "permuted_statistics",
            lambda bins, n_small, *rest: counted.append((n_small, bins.n_rows)) or statistics(bins, n_small, *rest),
        )
        batch = rows(100_000, 1)
        batch[:, 2] += 1.0
        test = compare(batch)
        assert counted == [(100, 400)]
        assert test.n_rows == 100_000
        assert test.columns[0].name == "rooms"

    @pytest.mark.parametrize(
        ("reference", "batch", "message"),
        [
            (rows(5, 0), rows(5, 0)[:0], r"batch must have the shape \(rows, 4\).* got \(0, 4\)"),
            (rows(5, 0)[:0], rows(5, 0), r"reference must have .* got \(0, 4\)"),
            (rows(5, 0), rows(5, 0)[:, :3], r"batch must have .* got \(5, 3\)"),
            (rows(5, 0), rows(5, 0)[0], r"batch must have .* got \(4,\)"),
        ],
    )
    def test_tables_of_the_wrong_shape_are_refused(self, reference, batch, message):
        with pytest.raises(ValueError, match=message):
            compare(batch, reference)

    def test_names_without_kinds_are_refused(self):
        with pytest.raises(ValueError, match="got 4 names and 1 kinds"):
            drift_test(rows(5, 0), rows(5, 0), names=NAMES, is_categorical=[True])

    def test_no_permutations_are_refused(self):
        with pytest.raises(ValueError, match="n_permutations must be at least 1, got 0"):
            compare(rows(5, 0), n_permutations=0)


class TestResult:
    def test_the_representation_names_the_most_shifted_columns(self):
        shown = repr(compare(shifted(2, lambda values: values + 9.0)))
        assert shown.startswith("DriftTest(p=0.001, 80 rows; effects: rooms: 1.00 (p=0.001), ")
        assert shown.endswith(", ...)")

    def test_the_frame_has_one_row_per_column(self):
        pytest.importorskip("pandas")
        test = compare(rows(50, 1))
        frame = test.to_frame()
        assert list(frame.columns) == ["column", "effect", "p_value", "p_value_alone"]
        assert list(frame["column"]) == [column.name for column in test.columns]
        assert list(frame["effect"]) == [column.effect for column in test.columns]

    def test_the_result_is_frozen_and_carries_the_share_outside(self):
        test = compare(rows(50, 1), share_outside=0.25)
        assert test.share_outside == 0.25
        with pytest.raises(FrozenInstanceError):
            test.p_value = 0.0
