"""Novelty: what training rows do not have is novel, at a rate that is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epiboost._novelty.novelty import Novelty
from epiboost._novelty.reference_rows import choose_rows
from epiboost._novelty.surprise import Surprise
from epiboost._novelty.values import new_categories


def mixed_rows(n, seed, n_categories=5):
    """Draw rows of two numbers, one with missing values, and a category."""
    rng = np.random.default_rng(seed)
    table = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, n_categories, n)])
    table[rng.uniform(size=n) < 0.1, 1] = np.nan
    return table


MIXED = (0, 0, 6)


class TestSurprise:
    """Minus the logarithm of a probability."""

    @given(
        st.lists(st.floats(0.0, 1e6), min_size=1, max_size=60), st.lists(st.floats(0.0, 1e9), min_size=2, max_size=20)
    )
    def test_it_never_falls_as_the_score_grows(self, sample, scores):
        surprise = Surprise.of(sample)(np.sort(scores))
        assert np.isfinite(surprise).all()
        assert (np.diff(surprise) >= -1e-12).all()
        assert surprise[0] >= 0.0

    @pytest.mark.parametrize("zeros", [0, 96])
    def test_a_score_that_is_left_out_has_no_part_in_its_surprise(self, zeros):
        sample = np.random.default_rng(0).exponential(size=100) + 0.1
        sample[:zeros] = 0.0
        left_out = Surprise.of(sample).left_out(sample)
        for position in (zeros, 97, 99, int(sample.argmax())):
            others = Surprise.of(np.delete(sample, position))(sample[position : position + 1])[0]
            assert left_out[position] == pytest.approx(others, rel=0.1)

    def test_it_is_minus_the_logarithm_of_the_share_of_larger_scores(self):
        rng = np.random.default_rng(0)
        surprise = Surprise.of(rng.pareto(3.0, size=20_000) + 1.0)
        for share in (0.5, 0.1, 0.01, 1e-4, 1e-6):  # the last two are beyond the sample
            assert surprise([share ** (-1.0 / 3.0)])[0] == pytest.approx(-np.log(share), rel=0.1)


class TestNovelty:
    """Novelty of rows."""

    @pytest.mark.parametrize("n_features", [1, 4, 30])
    def test_one_row_of_the_domain_in_twenty_has_a_novelty_above_three(self, n_features):
        rng = np.random.default_rng(n_features)
        novelty = Novelty.fit(rng.normal(size=(1500, n_features)), (0,) * n_features)
        assert np.mean(novelty(rng.normal(size=(4000, n_features))) > 3.0) == pytest.approx(0.05, abs=0.015)

    def test_the_rate_holds_for_few_rows_of_many_columns(self):
        rates = []
        for seed in range(30):
            rng = np.random.default_rng(seed)
            novelty = Novelty.fit(rng.normal(size=(100, 40)), (0,) * 40)
            threshold = np.quantile(novelty.of_kept_rows(), 0.95)
            rates.append(np.mean(novelty.parts(rng.normal(size=(500, 40))).sum > threshold))
        assert np.mean(rates) == pytest.approx(0.05, abs=0.02)

    def test_rows_with_categories_and_missing_values_have_the_same_rate(self):
        novelty = Novelty.fit(mixed_rows(1500, 0), MIXED)
        assert np.mean(novelty(mixed_rows(4000, 1)) > 3.0) == pytest.approx(0.05, abs=0.015)

    def test_new_categories_are_usual_in_a_column_in_which_most_are_new(self):
        rng = np.random.default_rng(0)
        table = np.column_stack([rng.normal(size=1000), np.arange(1000)])
        unseen = np.column_stack([rng.normal(size=500), np.full(500, -1.0)])
        assert np.mean(Novelty.fit(table, (0, 1001))(unseen) > 3.0) < 0.1

    @pytest.mark.parametrize("row", [[9.0, 0.0, 1.0], [0.0, -40.0, 1.0], [0.0, 0.0, -1.0], [np.nan, 0.0, 1.0]])
    def test_values_beyond_new_categories_and_newly_missing_values_are_novel(self, row):
        novelty = Novelty.fit(mixed_rows(800, 0), MIXED)
        assert novelty(np.array([row]))[0] > 4.5
        assert novelty(np.array([[0.1, np.nan, 2.0]]))[0] < 3.0

    def test_it_does_not_depend_on_units(self):
        table, new = mixed_rows(600, 0), mixed_rows(50, 1)
        scale, shift = np.array([1e6, 1e-6, 1.0]), np.array([3.0, -5e-6, 0.0])
        novelty, changed = Novelty.fit(table, MIXED), Novelty.fit(table * scale + shift, MIXED)
        assert changed(new * scale + shift) == pytest.approx(novelty(new), abs=0.1)

    @pytest.mark.parametrize("value", [0.0, 1e300, -1e300, 1e-300])
    def test_constant_and_extreme_columns_stay_finite(self, value):
        table = np.column_stack([np.full(30, value), np.arange(30.0)])
        table[0, 0] = 1e308
        novelty = Novelty.fit(table, (0, 0))
        found = novelty(np.array([[value, 3.0], [1e308, 3.0], [-1e308, 3.0], [np.nan, np.nan]]))
        assert np.isfinite(found).all()
        assert found[0] < found[2]

    def test_values_in_the_range_of_rows_that_are_not_kept_are_not_beyond(self):
        table = np.random.default_rng(0).normal(size=(500, 1))
        ranges = np.array([[-9.0], [9.0]])
        narrow, wide = Novelty.fit(table, (0,)), Novelty.fit(table, (0,), ranges=ranges)
        assert wide.columns(np.array([[9.0]])).item() == 0.0 < narrow.columns(np.array([[9.0]])).item()

    def test_a_file_gives_the_same_novelty(self):
        novelty, new = Novelty.fit(mixed_rows(300, 0), MIXED), mixed_rows(100, 1)
        assert (Novelty.from_file(novelty.to_file(), MIXED)(new) == novelty(new)).all()

    @pytest.mark.parametrize(
        ("name", "change", "words"),
        [
            ("novelty_rows", lambda rows: rows[:, :2], "the columns of the model"),
            ("novelty_rows", lambda rows: np.full_like(rows, np.inf), "finite or missing"),
            ("novelty_rows", lambda rows: rows + np.float32(0.5), "categories of kept rows must be known"),
            ("novelty_rows", lambda rows: rows + np.float32(5.0), "categories of kept rows must be known"),
            ("novelty_single", lambda single: single[:9], "those of the kept rows"),
            ("novelty_scales", lambda scales: scales * 0.0, "spreads positive"),
            ("novelty_weights", lambda weights: weights[::-1].copy(), "categories alone have a weight"),
            ("novelty_distance", lambda distance: -distance - 1.0, "not negative"),
            ("novelty_strangest", lambda strangest: strangest[:5], "each kept row"),
        ],
    )
    def test_damaged_files_are_refused(self, name, change, words):
        arrays = Novelty.fit(mixed_rows(300, 0), MIXED).to_file()
        with pytest.raises(ValueError, match=words):
            Novelty.from_file({**arrays, name: change(arrays[name])}, MIXED)


class TestReferenceRows:
    """The choice of rows to keep."""

    @pytest.mark.parametrize("n_values", [3, 1_000_000])
    def test_the_choice_does_not_depend_on_the_order_of_rows(self, n_values):
        table = np.random.default_rng(0).integers(0, n_values, size=(1000, 2)).astype(float)
        y = np.random.default_rng(1).integers(0, 2, 1000).astype(float)
        order = np.random.default_rng(2).permutation(1000)
        first, second = choose_rows(table, y, 100)[0], order[choose_rows(table[order], y[order], 100)[0]]
        assert np.array_equal(table[first], table[second])
        assert np.array_equal(y[first], y[second])

    @pytest.mark.parametrize("n_values", [5, 5000])
    def test_the_choice_is_a_random_sample(self, n_values):
        table = np.random.default_rng(0).integers(0, n_values, size=(5000, 1)).astype(float)
        chosen, _ = choose_rows(table, np.zeros(5000), 500)
        assert len(np.unique(chosen)) == 500
        expected = n_values * (1.0 - (1.0 - 1.0 / n_values) ** 500)  # distinct values of 500 draws
        assert len(np.unique(table[chosen])) == pytest.approx(expected, rel=0.05)

    def test_copies_have_the_same_number(self):
        table = np.array([[1.0], [2.0], [1.0], [1.0]])
        _, copies = choose_rows(table, np.array([0.0, 0.0, 0.0, 1.0]), 4)
        assert copies[0] == copies[2]
        assert len(set(copies.tolist())) == 3


class TestGroups:
    """Rows of one group do not vouch for each other."""

    def test_the_rate_holds_for_new_groups_of_similar_rows(self):
        rng = np.random.default_rng(0)
        centres = rng.normal(size=(400, 4))
        rows = np.repeat(centres, 10, axis=0) + 0.01 * rng.normal(size=(4000, 4))
        groups = np.repeat(np.arange(400), 10)
        alone, together = (Novelty.fit(rows[:2000], (0,) * 4, groups=given) for given in (None, groups[:2000]))
        for novelty, low, high in ((alone, 0.9, 1.0), (together, 0.02, 0.09)):
            threshold = np.quantile(novelty.of_kept_rows(), 0.95)
            assert low <= np.mean(novelty.parts(rows[2000:]).sum > threshold) <= high

    def test_a_category_of_one_group_is_new_once_the_group_is_left_out(self):
        table = np.array([[0.0], [0.0], [1.0], [1.0]])
        _, single = new_categories(table, (3,), np.arange(4), np.array([0, 0, 1, 2]))
        assert single.ravel().tolist() == [True, True, False, False]
