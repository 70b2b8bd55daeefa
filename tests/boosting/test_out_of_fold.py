"""The plan of out-of-fold chains: which rows each chain sees, and which it predicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, ShuffleSplit, TimeSeriesSplit

from epiboost._boosting.out_of_fold import TooFewRowsError, out_of_fold_plan

RANDOM = np.random.default_rng(0)
N = 203
X = RANDOM.normal(size=(N, 3))
Y = RANDOM.normal(size=N)
CODES = RANDOM.choice(3, size=N, p=[0.6, 0.3, 0.1]).astype(float)
TARGETS = {"regression": (Y, 0), "classes": (CODES, 3)}
every_target = pytest.mark.parametrize("target", TARGETS)


def plan_of(out_of_fold, target="regression", *, rows=slice(None), **options):
    """Return the plan of some rows of the table."""
    y, n_classes = TARGETS[target]
    return out_of_fold_plan(out_of_fold, X[rows], y[rows], n_classes=n_classes, **options)


def fold_of(plan, n_rows=N):
    """Return the chain that predicts each row; -1 for none."""
    fold = np.full(n_rows, -1)
    for number, test in enumerate(plan.tests):
        fold[test] = number
    return fold


def assert_sound(plan, n_rows=N):
    """Assert that no chain predicts a row that it has seen, and that no row is predicted twice."""
    for train, test in zip(plan.trains, plan.tests, strict=True):
        assert np.intersect1d(train, test).size == 0
        assert np.array_equal(train, np.unique(train))
        assert 0 <= min(train.min(), test.min()) <= max(train.max(), test.max()) < n_rows
    tested = np.concatenate(plan.tests)
    assert len(np.unique(tested)) == len(tested)


# Numbers of folds


@every_target
@given(n_folds=st.integers(3, 20), n_rows=st.integers(60, N))
def test_every_row_but_those_of_rare_classes_is_predicted_once(target, n_folds, n_rows):
    plan = plan_of(n_folds, target, rows=slice(n_rows))
    assert_sound(plan, n_rows)
    assert all(len(train) + len(test) == n_rows for train, test in zip(plan.trains, plan.tests, strict=True))
    frequent = np.bincount(CODES[:n_rows].astype(int)) >= n_folds
    never = np.zeros(n_rows, dtype=bool) if target == "regression" else ~frequent[CODES[:n_rows].astype(int)]
    assert np.array_equal(fold_of(plan, n_rows) == -1, never)


@given(n_folds=st.integers(3, 20), n_rows=st.integers(20, N))
def test_folds_of_a_regression_differ_by_one_row_at_most(n_folds, n_rows):
    sizes = np.bincount(fold_of(plan_of(n_folds, rows=slice(n_rows)), n_rows))
    assert len(sizes) == n_folds
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("n_folds", [3, 4, 10])
def test_folds_hold_the_same_number_of_each_class_up_to_one(n_folds):
    fold = fold_of(plan_of(n_folds, "classes"))
    for code in range(3):
        sizes = np.bincount(fold[code == CODES], minlength=n_folds)
        assert sizes.max() - sizes.min() <= 1


def test_the_surplus_rows_of_classes_do_not_meet_in_one_fold():
    codes = np.repeat(np.arange(4.0), 5)  # of each class, one row is left over
    plan = out_of_fold_plan(4, np.arange(20.0)[:, np.newaxis], codes, n_classes=4)
    assert [len(test) for test in plan.tests] == [5, 5, 5, 5]


def test_classes_with_fewer_rows_than_folds_are_left_out_by_no_chain():
    codes = np.where(np.arange(N) < 3, 1.0, 0.0)
    plan = out_of_fold_plan(4, X, codes, n_classes=2)
    assert fold_of(plan)[:3].tolist() == [-1, -1, -1]
    assert (fold_of(plan)[3:] >= 0).all()
    assert all(set(range(3)) <= set(train.tolist()) for train in plan.trains)


@every_target
def test_equal_rows_share_a_fold(target):
    y, n_classes = TARGETS[target]
    copies = np.arange(N) % 70
    plan = out_of_fold_plan(4, X[copies], y[copies], n_classes=n_classes)
    for number in range(70):
        assert len(np.unique(fold_of(plan)[copies == number])) == 1


def test_rows_that_differ_in_the_bits_of_zero_or_nan_alone_are_equal():
    nans = np.array([0x7FF8000000000000, 0xFFF8000000000001], dtype=np.uint64).view(np.float64)
    table = np.array([[0.0, nans[0]], [-0.0, nans[1]], *([[k, k] for k in range(1, 20)])])
    fold = fold_of(out_of_fold_plan(4, table, np.zeros(len(table)), n_classes=0), len(table))
    assert fold[0] == fold[1]


@every_target
@given(st.randoms(use_true_random=False))
def test_folds_do_not_depend_on_the_order_of_rows(target, random):
    order = np.array(random.sample(range(N), N))
    assert np.array_equal(fold_of(plan_of(4, target, rows=order)), fold_of(plan_of(4, target))[order])


def test_folds_are_not_blocks_of_the_sorted_table():
    y = np.arange(400.0)
    fold = fold_of(out_of_fold_plan(4, y[:, np.newaxis], y, n_classes=0), 400)
    assert all(80 < y[fold == number].mean() < 320 for number in range(4))


def test_bins_are_split_by_their_content_as_numbers_are():
    codes = RANDOM.integers(0, 5, size=(N, 2)).astype(np.uint8)
    fold = fold_of(out_of_fold_plan(4, codes, np.zeros(N), n_classes=0))
    for row in np.unique(codes, axis=0):
        assert len(np.unique(fold[(codes == row).all(axis=1)])) == 1


# Groups


@every_target
def test_rows_of_one_group_leave_together(target):
    groups = np.arange(N) % 17
    plan = plan_of(4, target, groups=groups)
    assert_sound(plan)
    assert all(len(np.unique(fold_of(plan)[groups == group])) == 1 for group in range(17))
    assert np.bincount(fold_of(plan)).min() > N / 8


@pytest.mark.parametrize("having", [[0, 1, 2, 3], [0, 4, 8, 12], [1, 7, 9, 15], [12, 13, 14, 15]], ids=str)
def test_groups_that_have_a_class_leave_with_different_chains(having):
    groups = np.arange(N) % 16
    codes = np.isin(groups, having).astype(float)
    fold = fold_of(out_of_fold_plan(4, X, codes, n_classes=2, groups=groups))
    assert sorted(fold[having]) == [0, 1, 2, 3]


def test_a_class_of_one_group_alone_is_refused():
    codes, groups = CODES.copy(), np.arange(N) % 17
    codes[groups == 3] = 3.0  # no chain could leave the group out and learn the class
    with pytest.raises(TooFewRowsError, match="distinct rows or groups"):
        out_of_fold_plan(4, X, codes, n_classes=4, groups=groups)


@every_target
def test_fewer_groups_than_folds_are_refused(target):
    with pytest.raises(TooFewRowsError, match="out_of_fold=4 needs at least 4 groups; got 3; use fewer folds"):
        plan_of(4, target, groups=np.arange(N) % 3)


def test_fewer_folds_than_three_are_not_recommended():
    with pytest.raises(TooFewRowsError, match="got 2; use out_of_fold=0 without keep_folds"):
        plan_of(3, groups=np.arange(N) % 2)


# Splitters and pairs


def test_a_splitter_sets_the_folds():
    plan = plan_of(KFold(5))
    for train, test, (expected_train, expected_test) in zip(plan.trains, plan.tests, KFold(5).split(X), strict=True):
        assert np.array_equal(train, expected_train)
        assert np.array_equal(test, expected_test)


def test_the_first_rows_of_a_time_series_are_predicted_by_no_chain():
    plan = plan_of(TimeSeriesSplit(4))
    fold = fold_of(plan)
    first = N - 4 * (N // 5)
    assert (fold[:first] == -1).all()
    assert (np.diff(fold[first:]) >= 0).all()
    assert all(train.max() < test.min() for train, test in zip(plan.trains, plan.tests, strict=True))


def test_a_splitter_gets_the_groups():
    groups = np.arange(N) % 17
    fold = fold_of(plan_of(GroupKFold(4), groups=groups))
    assert all(len(np.unique(fold[groups == group])) == 1 for group in range(17))


@pytest.mark.parametrize("kind", [list, iter])
def test_pairs_set_the_folds_in_any_order_of_rows(kind):
    pairs = kind([(np.arange(N)[:99:-1], np.arange(50, 60)[::-1]), ([3, 2, 3, 1], [150, 140])])
    plan = plan_of(pairs)
    assert plan.trains[0].tolist() == list(range(100, N))
    assert plan.tests[0].tolist() == list(range(50, 60))
    assert plan.trains[1].tolist() == [1, 2, 3]
    assert plan.tests[1].tolist() == [140, 150]


@pytest.mark.parametrize("splitter", [TimeSeriesSplit(3), PredefinedSplit(np.arange(N) % 4), KFold(4)], ids=str)
def test_splitters_and_pairs_count_the_rows_of_weight_zero(splitter):
    kept = RANDOM.uniform(size=N) < 0.8
    given = np.flatnonzero(kept)
    for folds in (splitter, list(splitter.split(X))):
        plan = plan_of(folds, rows=kept, kept=kept)
        for train, test, (given_train, given_test) in zip(plan.trains, plan.tests, splitter.split(X), strict=True):
            assert given[train].tolist() == sorted(set(given_train) & set(given))
            assert given[test].tolist() == sorted(set(given_test) & set(given))


def test_groups_count_the_rows_of_weight_zero():
    kept, groups = np.arange(N) % 3 > 0, np.arange(N) % 17
    fold = fold_of(plan_of(4, rows=kept, kept=kept, groups=groups), kept.sum())
    assert all(len(np.unique(fold[groups[kept] == group])) == 1 for group in range(17))


# Extra chains


@every_target
@pytest.mark.parametrize("folds", [4, KFold(3), TimeSeriesSplit(3)], ids=str)
def test_extra_chains_see_the_rows_of_the_first_and_those_common_to_two_chains(target, folds):
    plan = plan_of(folds, target)
    repeated, reduced = plan.extra_trains
    assert np.array_equal(repeated, plan.trains[0])
    assert reduced.tolist() == sorted(set(plan.trains[0]) & set(plan.trains[1]))
    assert np.intersect1d(reduced, np.concatenate(plan.tests[:2])).size == 0


def test_no_chain_is_reduced_to_rows_that_lack_a_class():
    codes = np.where(np.arange(N) < 100, np.arange(N) % 2, 0).astype(float)
    assert out_of_fold_plan(KFold(4), X, codes, n_classes=2).reduced.size == 0
    codes[-1] = 1.0
    assert out_of_fold_plan(KFold(4), X, codes, n_classes=2).reduced.tolist() == list(range(102, N))


# Errors


@pytest.mark.parametrize("folds", [1, 2, 101, -1])
def test_too_few_and_too_many_folds_are_refused(folds):
    with pytest.raises(ValueError, match=f"out_of_fold must be 0, or a number of folds from 3 to 100; got {folds}"):
        plan_of(folds)


@pytest.mark.parametrize("folds", [True, "abc", "", None, 4.0])
def test_what_is_neither_a_number_nor_folds_is_refused(folds):
    with pytest.raises(ValueError, match=r"out_of_fold must be 'auto', a number of folds, a splitter or .*; got"):
        plan_of(folds)


@pytest.mark.parametrize("folds", [0, np.int64(0)])
def test_no_folds_are_no_plan(folds):
    assert plan_of(folds) is None


HALVES = (np.arange(100), np.arange(100, N))
BAD_PAIRS = {
    "no pairs": ([], "at least 2 pairs of .* rows; got 0"),
    "one pair": ([HALVES], "at least 2 pairs of .* rows; got 1"),
    "numbers": ([1, 2, 3], "at least 2 pairs of .* rows; got 3"),
    "triples": ([(*HALVES, HALVES[0])] * 3, "at least 2 pairs of"),
    "a row that is predicted twice": ([HALVES, (np.arange(90), np.arange(95, 120))], "overlapping folds"),
    "a row that its chain has seen": ([HALVES, (np.arange(50), np.arange(49, 60))], "overlapping folds"),
    "a row beyond the table to predict": ([HALVES, ([0, 1], [N])], f"beyond the {N} of the table"),
    "a row beyond the table to learn": ([HALVES, ([0, N], [5])], f"beyond the {N} of the table"),
    "a negative row to predict": ([HALVES, ([0, 1], [-1])], f"beyond the {N} of the table"),
    "a negative row to learn": ([HALVES, ([-1, 1], [5])], f"beyond the {N} of the table"),
    "nothing to learn": ([HALVES, ([], [5])], "one is empty"),
    "nothing to predict": ([HALVES, ([5], [])], "one is empty"),
    "masks": ([(np.arange(N) < 9, np.arange(N) > 9)] * 2, "by their numbers; got bool"),
    "fractions": ([HALVES, ([0.5], [1.5])], "by their numbers; got float64"),
}


@pytest.mark.parametrize("case", BAD_PAIRS)
def test_pairs_that_are_no_plan_are_refused(case):
    pairs, message = BAD_PAIRS[case]
    with pytest.raises(ValueError, match=message):
        plan_of(pairs)


def test_a_splitter_whose_folds_overlap_is_refused():
    with pytest.raises(ValueError, match="overlapping folds"):
        plan_of(ShuffleSplit(5, test_size=0.5, random_state=0))


def test_a_training_part_that_lacks_a_class_is_refused():
    codes = (np.arange(N) >= 150).astype(float)
    with pytest.raises(ValueError, match="chain 0 of out_of_fold is trained on lack a class; stratify the folds"):
        out_of_fold_plan(TimeSeriesSplit(3), X, codes, n_classes=2)


def test_fewer_distinct_rows_than_folds_are_refused():
    with pytest.raises(
        TooFewRowsError, match=r"at least 4 distinct rows or groups, none of which .* half a fold; use fewer folds"
    ):
        out_of_fold_plan(4, X[np.arange(N) % 3], Y[np.arange(N) % 3], n_classes=0)
